//! What is known of the objects of one kind, by name.

use std::{
    collections::BTreeMap,
    sync::{Arc, RwLock},
};

use tokio::sync::watch;

/// What is known of the objects of one kind, by name.
pub(crate) struct Cache<K> {
    objects: RwLock<BTreeMap<String, Arc<K>>>,
    ready: watch::Sender<bool>,
}

impl<K> Default for Cache<K> {
    fn default() -> Self {
        Self { objects: RwLock::default(), ready: watch::Sender::new(false) }
    }
}

impl<K> Cache<K> {
    /// The object with a name.
    pub(crate) fn get(&self, name: &str) -> Option<Arc<K>> {
        self.read().get(name).cloned()
    }

    /// All objects, by name.
    pub(crate) fn all(&self) -> Vec<Arc<K>> {
        self.read().values().cloned().collect()
    }

    /// Those for which something holds.
    pub(crate) fn filter(&self, keep: impl Fn(&K) -> bool) -> Vec<Arc<K>> {
        self.read().values().filter(|object| keep(object)).cloned().collect()
    }

    /// The names of all objects.
    pub(crate) fn names(&self) -> Vec<String> {
        self.read().keys().cloned().collect()
    }

    /// Waits until all objects are known.
    pub(crate) async fn ready(&self) {
        // The sender lives as long as the cache.
        let mut ready = self.ready.subscribe();
        let _ready = ready.wait_for(|ready| *ready).await;
    }

    /// Sets or removes one object. Returns what was known before.
    pub(crate) fn set(&self, name: &str, object: Option<Arc<K>>) -> Option<Arc<K>> {
        let mut objects = self.objects.write().expect("nobody panics while holding it");
        match object {
            Some(object) => objects.insert(name.to_owned(), object),
            None => objects.remove(name),
        }
    }

    /// Exchanges all objects. Returns what was known before.
    pub(crate) fn replace(&self, all: BTreeMap<String, Arc<K>>) -> BTreeMap<String, Arc<K>> {
        let before = std::mem::replace(&mut *self.objects.write().expect("nobody panics while holding it"), all);
        self.ready.send_replace(true);
        before
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<String, Arc<K>>> {
        self.objects.read().expect("nobody panics while holding it")
    }
}
