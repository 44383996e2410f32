//! Following the objects of one kind.

use std::{collections::BTreeMap, fmt::Debug, sync::Arc};

use futures::{StreamExt as _, TryStreamExt as _};
use kube::{
    Api, Resource,
    runtime::{WatchStreamExt as _, watcher},
};
use serde::de::DeserializeOwned;

use crate::cache::Cache;

/// One object changed: it is new, other than before, or gone.
pub(crate) struct Change<K> {
    pub(crate) before: Option<Arc<K>>,
    pub(crate) after: Option<Arc<K>>,
}

impl<K> Change<K> {
    /// What is known of the object: as it is, or as it was before it went.
    pub(crate) fn either(&self) -> &K {
        self.after.as_deref().or(self.before.as_deref()).expect("something changed into something")
    }
}

/// Keeps a cache like the API server has it, for as long as the future is polled, and tells of every change.
///
/// A watch that breaks off is begun again; what changed meanwhile is found by comparison.
pub(crate) async fn follow<K>(api: Api<K>, cache: &Cache<K>, mut tell: impl FnMut(&Change<K>))
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + Sync + 'static,
{
    let mut events = watcher(api, watcher::Config::default()).default_backoff().boxed();
    let mut listed = BTreeMap::new();
    loop {
        let event = match events.try_next().await {
            Ok(Some(event)) => event,
            Ok(None) => return,
            Err(error) => {
                tracing::debug!(kind = %K::kind(&()), %error, "watch broke off");
                continue;
            }
        };
        match event {
            watcher::Event::Apply(object) => {
                let (name, object) = slim(object);
                let before = cache.set(&name, Some(Arc::clone(&object)));
                tell(&Change { before, after: Some(object) });
            }
            watcher::Event::Delete(object) => {
                let (name, object) = slim(object);
                cache.set(&name, None);
                tell(&Change { before: Some(object), after: None });
            }
            watcher::Event::Init => listed.clear(),
            watcher::Event::InitApply(object) => {
                let (name, object) = slim(object);
                listed.insert(name, object);
            }
            watcher::Event::InitDone => {
                let after = std::mem::take(&mut listed);
                let mut before = cache.replace(after.clone());
                for (name, object) in after {
                    let before = before.remove(&name);
                    if before.as_ref().map(|before| &before.meta().resource_version)
                        != Some(&object.meta().resource_version)
                    {
                        tell(&Change { before, after: Some(object) });
                    }
                }
                for gone in before.into_values() {
                    tell(&Change { before: Some(gone), after: None });
                }
            }
        }
    }
}

/// Who wrote which field is half of an object, and nobody here asks.
fn slim<K: Resource>(mut object: K) -> (String, Arc<K>) {
    object.meta_mut().managed_fields = None;
    (object.meta().name.clone().unwrap_or_default(), Arc::new(object))
}
