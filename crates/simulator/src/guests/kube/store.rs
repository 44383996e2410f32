//! The objects of a cluster: what etcd holds, shared by all control-plane guests of the cluster.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::watch;

/// How many changes a watcher may lag behind before it has to list again.
const HISTORY: usize = 4096;

/// Where an object is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::guests) struct Key {
    /// Empty for the core group.
    pub(in crate::guests) group: String,
    pub(in crate::guests) resource: String,
    /// Empty for objects without one.
    pub(in crate::guests) namespace: String,
    pub(in crate::guests) name: String,
}

impl Key {
    /// The place of an object of the core group.
    pub(in crate::guests) fn core(resource: &str, namespace: &str, name: &str) -> Self {
        Self::new("", resource, namespace, name)
    }

    pub(in crate::guests) fn new(group: &str, resource: &str, namespace: &str, name: &str) -> Self {
        let own = str::to_owned;
        Self { group: own(group), resource: own(resource), namespace: own(namespace), name: own(name) }
    }
}

/// The objects of a cluster.
#[derive(Debug)]
pub(in crate::guests) struct Store {
    state: Mutex<State>,
    revision: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<Key, Arc<Value>>,
    revision: u64,
    history: VecDeque<Change>,
}

/// A change of an object, as watchers see it.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) revision: u64,
    /// `ADDED`, `MODIFIED` or `DELETED`.
    pub(super) kind: &'static str,
    pub(super) key: Key,
    pub(super) object: Arc<Value>,
}

/// Why an object was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::guests) enum Refusal {
    /// There is one already.
    Exists,
    /// There is none.
    Missing,
    /// It changed since the writer read it.
    Conflict,
}

/// The store as it is kept in a state file.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::guests) struct SavedStore {
    revision: u64,
    objects: Vec<(Key, Value)>,
}

impl Default for Store {
    fn default() -> Self {
        Self { state: Mutex::default(), revision: watch::Sender::new(0) }
    }
}

impl Store {
    pub(in crate::guests) fn get(&self, key: &Key) -> Option<Arc<Value>> {
        self.lock().objects.get(key).cloned()
    }

    /// All objects of a kind, in one namespace or in all, and the revision at which they were so.
    pub(in crate::guests) fn list(
        &self,
        group: &str,
        resource: &str,
        namespace: Option<&str>,
    ) -> (Vec<Arc<Value>>, u64) {
        let state = self.lock();
        let first = Key::new(group, resource, namespace.unwrap_or_default(), "");
        let wanted = |key: &Key| {
            key.group == group
                && key.resource == resource
                && namespace.is_none_or(|namespace| key.namespace == namespace)
        };
        let found = state.objects.range(first..).take_while(|(key, _)| wanted(key)).map(|(_, object)| object.clone());
        (found.collect(), state.revision)
    }

    /// Adds an object, with the metadata that the server fills in.
    pub(in crate::guests) fn create(&self, key: Key, mut object: Value) -> Result<Arc<Value>, Refusal> {
        let mut state = self.lock();
        if state.objects.contains_key(&key) {
            return Err(Refusal::Exists);
        }
        let metadata = &mut object["metadata"];
        metadata["name"] = key.name.as_str().into();
        if !key.namespace.is_empty() {
            metadata["namespace"] = key.namespace.as_str().into();
        }
        metadata["uid"] = uuid::Uuid::new_v4().to_string().into();
        metadata["creationTimestamp"] = now();
        metadata["generation"] = 1.into();
        let object = state.put("ADDED", key, object);
        self.tell(state);
        Ok(object)
    }

    /// Changes an object by a function of what it is. A change that names an older `resourceVersion` than the present one is
    /// refused.
    pub(in crate::guests) fn change(
        &self,
        key: &Key,
        change: impl FnOnce(&Value) -> Value,
    ) -> Result<Arc<Value>, Refusal> {
        let mut state = self.lock();
        let old = state.objects.get(key).cloned().ok_or(Refusal::Missing)?;
        let mut new = change(&old);
        let named = &new["metadata"]["resourceVersion"];
        if !named.is_null() && *named != "" && *named != old["metadata"]["resourceVersion"] {
            return Err(Refusal::Conflict);
        }
        for field in
            ["name", "namespace", "uid", "creationTimestamp", "generation", "deletionTimestamp", "resourceVersion"]
        {
            match old["metadata"].get(field) {
                Some(value) => new["metadata"][field] = value.clone(),
                None => drop(new["metadata"].as_object_mut().and_then(|metadata| metadata.remove(field))),
            }
        }
        if new == *old {
            return Ok(old);
        }
        if new.get("spec") != old.get("spec") {
            let generation = old["metadata"]["generation"].as_u64().unwrap_or(1) + 1;
            new["metadata"]["generation"] = generation.into();
        }
        let object = if is_deleted(&new) && !has_finalizers(&new) {
            state.take(key, new)
        } else {
            state.put("MODIFIED", key.clone(), new)
        };
        self.tell(state);
        Ok(object)
    }

    /// Removes an object, or marks it for removal if somebody has asked to finish something first.
    pub(in crate::guests) fn remove(&self, key: &Key) -> Result<Arc<Value>, Refusal> {
        let mut state = self.lock();
        let old = state.objects.get(key).cloned().ok_or(Refusal::Missing)?;
        let mut new = Value::clone(&old);
        let object = if has_finalizers(&new) {
            if is_deleted(&new) {
                return Ok(old);
            }
            new["metadata"]["deletionTimestamp"] = now();
            state.put("MODIFIED", key.clone(), new)
        } else {
            state.take(key, new)
        };
        self.tell(state);
        Ok(object)
    }

    /// What changed after a revision; `None` if that is too long ago to tell.
    pub(super) fn changes_since(&self, revision: u64) -> Option<Vec<Change>> {
        let state = self.lock();
        let oldest = state.history.front().map_or(state.revision + 1, |change| change.revision);
        if revision + 1 < oldest || revision > state.revision {
            return None;
        }
        Some(state.history.iter().filter(|change| change.revision > revision).cloned().collect())
    }

    /// The revision, as it grows.
    pub(in crate::guests) fn revisions(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    pub(in crate::guests) fn save(&self) -> SavedStore {
        let state = self.lock();
        let objects = state.objects.iter().map(|(key, object)| (key.clone(), Value::clone(object))).collect();
        SavedStore { revision: state.revision, objects }
    }

    pub(in crate::guests) fn restore(saved: SavedStore) -> Self {
        let objects = saved.objects.into_iter().map(|(key, object)| (key, Arc::new(object))).collect();
        let state = State { objects, revision: saved.revision, history: VecDeque::new() };
        Self { state: Mutex::new(state), revision: watch::Sender::new(saved.revision) }
    }

    fn tell(&self, state: MutexGuard<'_, State>) {
        let revision = state.revision;
        drop(state);
        self.revision.send_modify(|known| *known = revision.max(*known));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn put(&mut self, kind: &'static str, key: Key, object: Value) -> Arc<Value> {
        let object = self.record(kind, key.clone(), object);
        self.objects.insert(key, object.clone());
        object
    }

    fn take(&mut self, key: &Key, object: Value) -> Arc<Value> {
        self.objects.remove(key);
        self.record("DELETED", key.clone(), object)
    }

    fn record(&mut self, kind: &'static str, key: Key, mut object: Value) -> Arc<Value> {
        self.revision += 1;
        object["metadata"]["resourceVersion"] = self.revision.to_string().into();
        let object = Arc::new(object);
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(Change { revision: self.revision, kind, key, object: object.clone() });
        object
    }
}

fn is_deleted(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some_and(|time| !time.is_null())
}

fn has_finalizers(object: &Value) -> bool {
    object.pointer("/metadata/finalizers").and_then(Value::as_array).is_some_and(|names| !names.is_empty())
}

/// The time of day as Kubernetes writes it, to the second.
pub(in crate::guests) fn now() -> Value {
    json!(jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Key {
        Key::new("machine.openshift.io", "machines", "landfall-system", "m")
    }

    #[test]
    fn an_older_version_may_not_be_written() {
        let store = Store::default();
        let first = store.create(machine(), json!({ "spec": { "a": 1 } })).unwrap();
        assert_eq!(store.create(machine(), json!({})).unwrap_err(), Refusal::Exists);
        let mut edited = Value::clone(&first);
        edited["spec"]["a"] = 2.into();
        let second = store.change(&machine(), |_| edited.clone()).unwrap();
        assert_eq!(second["metadata"]["generation"], 2);
        assert_eq!(second["metadata"]["uid"], first["metadata"]["uid"]);
        edited["spec"]["a"] = 3.into();
        assert_eq!(store.change(&machine(), |_| edited).unwrap_err(), Refusal::Conflict);
    }

    #[test]
    fn finalizers_hold_an_object_back() {
        let store = Store::default();
        store.create(machine(), json!({ "metadata": { "finalizers": ["landfall"] } })).unwrap();
        assert!(is_deleted(&store.remove(&machine()).unwrap()));
        assert!(store.get(&machine()).is_some());
        let finished = |old: &Value| {
            let mut new = old.clone();
            new["metadata"]["finalizers"] = json!([]);
            new
        };
        store.change(&machine(), finished).unwrap();
        assert_eq!(store.get(&machine()), None);
        let changes = store.changes_since(0).unwrap();
        assert_eq!(changes.iter().map(|change| change.kind).collect::<Vec<_>>(), ["ADDED", "MODIFIED", "DELETED"]);
        assert_eq!(store.remove(&machine()).unwrap_err(), Refusal::Missing);
    }

    #[test]
    fn a_list_is_of_one_kind_and_namespace() {
        let store = Store::default();
        for (resource, namespace, name) in
            [("secrets", "a", "x"), ("secrets", "b", "y"), ("configmaps", "a", "x"), ("secretsx", "a", "x")]
        {
            store.create(Key::core(resource, namespace, name), json!({})).unwrap();
        }
        assert_eq!(store.list("", "secrets", Some("a")).0.len(), 1);
        assert_eq!(store.list("", "secrets", None).0.len(), 2);
        assert_eq!(store.list("apps", "secrets", None).0.len(), 0);
    }

    #[test]
    fn nothing_is_lost_in_a_state_file() {
        let store = Store::default();
        store.create(machine(), json!({ "spec": 1 })).unwrap();
        let restored = Store::restore(store.save());
        assert_eq!(restored.get(&machine()), store.get(&machine()));
        assert!(restored.changes_since(0).is_none(), "history begins anew");
        assert!(restored.changes_since(1).is_some_and(|changes| changes.is_empty()));
    }
}
