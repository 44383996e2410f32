//! Watching a collection: one line of JSON per change, for as long as the client listens.

use std::sync::Arc;

use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use serde_json::{Value, json};

use super::path::Target;
use super::query::Query;
use super::status::Problem;
use super::store::{Change, Store};

/// The changes of a collection as lines. Without a version to begin at, everything that is there comes first.
pub(super) fn events(store: Arc<Store>, target: Target, query: Query) -> impl Stream<Item = Bytes> + Send {
    let from = query.resource_version.parse::<u64>().ok().filter(|revision| *revision > 0);
    let (first, revision) = if let Some(revision) = from {
        (Vec::new(), revision)
    } else {
        let (objects, revision) = store.list(&target.kind.group, &target.kind.resource, target.namespace.as_deref());
        let selected = objects.iter().filter(|object| query.selects(object));
        (selected.map(|object| line("ADDED", object)).collect(), revision)
    };
    let changes = stream::unfold(Some((store, revision)), move |state| {
        let (target, query) = (target.clone(), query.clone());
        async move {
            let (store, revision) = state?;
            let mut revisions = store.revisions();
            loop {
                // Whoever lags too far behind must list again; the stream ends with the reason.
                let Some(changes) = store.changes_since(revision) else {
                    return Some((vec![line("ERROR", &Problem::expired().to_json())], None));
                };
                let Some(last) = changes.last().map(|change| change.revision) else {
                    revisions.changed().await.ok()?;
                    continue;
                };
                let lines: Vec<Bytes> = changes.iter().filter_map(|change| shown(change, &target, &query)).collect();
                return Some((lines, Some((store, last))));
            }
        }
    });
    stream::iter(first).chain(changes.flat_map(stream::iter))
}

fn shown(change: &Change, target: &Target, query: &Query) -> Option<Bytes> {
    let key = &change.key;
    let here = key.group == target.kind.group
        && key.resource == target.kind.resource
        && target.namespace.as_ref().is_none_or(|namespace| *namespace == key.namespace)
        && query.selects(&change.object);
    here.then(|| line(change.kind, &change.object))
}

fn line(kind: &str, object: &Value) -> Bytes {
    Bytes::from(json!({ "type": kind, "object": object }).to_string() + "\n")
}

#[cfg(test)]
mod tests {
    use super::super::store::Key;
    use super::*;

    fn secret(name: &str) -> Key {
        Key::core("secrets", "default", name)
    }

    fn watch(store: &Arc<Store>, query: &str) -> impl Stream<Item = String> + Unpin {
        let target = Target::parse(store, "/api/v1/namespaces/default/secrets").unwrap();
        let lines = events(store.clone(), target, Query::parse(query).unwrap());
        let summary = |line: Bytes| {
            let event: Value = serde_json::from_slice(&line).unwrap();
            let object = &event["object"];
            let name = object["metadata"]["name"].as_str().or(object["reason"].as_str()).unwrap();
            format!("{} {name}", event["type"].as_str().unwrap())
        };
        Box::pin(lines.map(summary))
    }

    #[tokio::test]
    async fn a_watch_begins_with_what_is_there_and_goes_on() {
        let store = Arc::new(Store::default());
        store.create(secret("a"), json!({})).unwrap();
        let mut lines = watch(&store, "watch=true");
        assert_eq!(lines.next().await.unwrap(), "ADDED a");
        store.create(Key::core("secrets", "other", "x"), json!({})).unwrap();
        store.change(&secret("a"), |_| json!({ "type": "Opaque" })).unwrap();
        store.remove(&secret("a")).unwrap();
        assert_eq!(lines.next().await.unwrap(), "MODIFIED a");
        assert_eq!(lines.next().await.unwrap(), "DELETED a");
    }

    #[tokio::test]
    async fn a_watch_goes_on_where_a_list_ended_unless_that_is_too_long_ago() {
        let store = Arc::new(Store::default());
        for name in ["a", "b"] {
            store.create(secret(name), json!({})).unwrap();
        }
        assert_eq!(watch(&store, "watch=true&resourceVersion=1").next().await.unwrap(), "ADDED b");
        let restored = Arc::new(Store::restore(store.save()));
        let seen: Vec<String> = watch(&restored, "watch=true&resourceVersion=1").collect().await;
        assert_eq!(seen, ["ERROR Expired"]);
    }
}
