//! Collections as tables, which is how `kubectl get` asks for them.

use serde_json::{Value, json};

/// The columns of nodes, and of everything else.
const NODE_COLUMNS: &[&str] = &["Name", "Status", "Roles", "Age", "Version", "Internal-IP"];
const COLUMNS: &[&str] = &["Name", "Age"];

/// Whether a client prefers a table to objects.
pub(super) fn is_asked(accept: &str) -> bool {
    accept.split(',').next().is_some_and(|first| first.contains("as=Table") && first.contains("v=v1;"))
}

/// Objects as a table; nodes with the columns that people look for.
pub(super) fn render<'a>(resource: &str, objects: impl Iterator<Item = &'a Value>, revision: u64) -> Value {
    let is_node = resource == "nodes";
    let cells = if is_node { node } else { any };
    let names = if is_node { NODE_COLUMNS } else { COLUMNS };
    let columns: Vec<Value> = names
        .iter()
        .map(|name| {
            let priority = i32::from(*name == "Internal-IP");
            json!({ "name": name, "type": "string", "format": "", "description": name, "priority": priority })
        })
        .collect();
    let rows: Vec<Value> = objects
        .map(|object| {
            let partial = json!({
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": object["metadata"],
            });
            json!({ "cells": cells(object), "object": partial })
        })
        .collect();
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": { "resourceVersion": revision.to_string() },
        "columnDefinitions": columns,
        "rows": rows,
    })
}

fn any(object: &Value) -> Vec<Value> {
    vec![object["metadata"]["name"].clone(), age(object).into()]
}

fn node(object: &Value) -> Vec<Value> {
    let ready = object.pointer("/status/conditions").and_then(Value::as_array).and_then(|conditions| {
        conditions.iter().find(|condition| condition["type"] == "Ready")?.get("status")?.as_str()
    });
    let status = if ready == Some("True") { "Ready" } else { "NotReady" };
    let labels = object.pointer("/metadata/labels").and_then(Value::as_object);
    let roles: Vec<&str> =
        labels.into_iter().flatten().filter_map(|(name, _)| name.strip_prefix("node-role.kubernetes.io/")).collect();
    let roles = if roles.is_empty() { "<none>".to_owned() } else { roles.join(",") };
    let addresses = object.pointer("/status/addresses").and_then(Value::as_array);
    let address = addresses.and_then(|list| list.iter().find(|entry| entry["type"] == "InternalIP"));
    vec![
        object["metadata"]["name"].clone(),
        status.into(),
        roles.into(),
        age(object).into(),
        object.pointer("/status/nodeInfo/kubeletVersion").cloned().unwrap_or_default(),
        address.map_or_else(|| "<none>".into(), |entry| entry["address"].clone()),
    ]
}

/// How long ago an object was made, in its largest unit.
fn age(object: &Value) -> String {
    let made = object.pointer("/metadata/creationTimestamp").and_then(Value::as_str);
    let Some(made) = made.and_then(|time| time.parse::<jiff::Timestamp>().ok()) else { return "<unknown>".to_owned() };
    match jiff::Timestamp::now().duration_since(made).as_secs().max(0) {
        seconds @ 0..120 => format!("{seconds}s"),
        seconds @ 120..7200 => format!("{}m", seconds / 60),
        seconds @ 7200..172_800 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86400),
    }
}
