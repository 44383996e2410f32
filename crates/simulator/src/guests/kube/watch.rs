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
