//! Events on objects: what happened to them, for those who ask `kubectl describe`.

use std::{
    collections::HashMap,
    sync::Mutex,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{Event, EventSource, ObjectReference},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time},
};
use kube::{Api, Client, Resource, api::PostParams};

const COMPONENT: &str = "landfall-machines";
/// The same thing about the same object is not said again before.
const QUIET: Duration = Duration::from_mins(10);
/// Objects that belong to no namespace have their events here.
const DEFAULT_NAMESPACE: &str = "default";

/// Writes events. One that cannot be written is no reason to stop: it is logged.
pub(crate) struct Events {
    client: Client,
    said: Mutex<HashMap<(String, String), Instant>>,
}

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// All is well.
    Normal,
    /// Somebody should look.
    Warning,
}

impl Events {
    pub(crate) fn new(client: Client) -> Self {
        Self { client, said: Mutex::default() }
    }

    /// Says what happened to an object, unless that has been said of late.
    pub(crate) async fn say<K: Resource<DynamicType = ()>>(
        &self,
        object: &K,
        level: Level,
        reason: &str,
        message: &str,
    ) {
        let meta = object.meta();
        let name = meta.name.clone().unwrap_or_default();
        let kind = K::kind(&()).into_owned();
        let subject = format!("{kind}/{}", meta.uid.as_deref().unwrap_or(&name));
        {
            let mut said = self.said.lock().expect("nobody panics while holding it");
            said.retain(|_, at| at.elapsed() < QUIET);
            if said.insert((subject, format!("{reason}: {message}")), Instant::now()).is_some() {
                return;
            }
        }
        match level {
            Level::Normal => tracing::info!(kind, name, reason, "{message}"),
            Level::Warning => tracing::warn!(kind, name, reason, "{message}"),
        }
        let namespace = meta.namespace.clone().unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
        let now = Timestamp::now();
        let event = Event {
            metadata: ObjectMeta {
                name: Some(format!("{}.{:016x}", &name[..name.len().min(200)], rand::random::<u64>())),
                namespace: Some(namespace.clone()),
                ..ObjectMeta::default()
            },
            involved_object: ObjectReference {
                api_version: Some(K::api_version(&()).into_owned()),
                kind: Some(kind),
                name: Some(name),
                namespace: meta.namespace.clone(),
                uid: meta.uid.clone(),
                ..ObjectReference::default()
            },
            type_: Some(if level == Level::Normal { "Normal" } else { "Warning" }.to_owned()),
            reason: Some(reason.to_owned()),
            message: Some(message.chars().take(1000).collect()),
            source: Some(EventSource { component: Some(COMPONENT.to_owned()), host: None }),
            first_timestamp: Some(Time(now)),
            last_timestamp: Some(Time(now)),
            count: Some(1),
            ..Event::default()
        };
        let api: Api<Event> = Api::namespaced(self.client.clone(), &namespace);
        if let Err(error) = api.create(&PostParams::default(), &event).await {
            tracing::debug!(%error, "an event could not be written");
        }
    }
}
