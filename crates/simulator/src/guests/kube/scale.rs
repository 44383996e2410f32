//! How many there are to be of something: the part `scale` of objects that have `spec.replicas`.

use serde_json::{Value, json};

/// What the part is, of an object.
pub(super) fn of(object: &Value) -> Value {
    let metadata = |field: &str| object["metadata"][field].clone();
    let selector = object.pointer("/spec/selector/matchLabels").and_then(Value::as_object);
    let labels =
        selector.into_iter().flatten().map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
    json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {
            "name": metadata("name"),
            "namespace": metadata("namespace"),
            "uid": metadata("uid"),
            "resourceVersion": metadata("resourceVersion"),
            "creationTimestamp": metadata("creationTimestamp"),
        },
        "spec": { "replicas": count(&object["spec"]) },
        "status": { "replicas": count(&object["status"]), "selector": labels.collect::<Vec<_>>().join(",") },
    })
}

/// The object with as many as the part, or a patch of it, asks for.
pub(super) fn applied(object: &Value, scale: &Value) -> Value {
    let mut wanted = object.clone();
    wanted["spec"]["replicas"] = scale.pointer("/spec/replicas").cloned().unwrap_or_else(|| count(&object["spec"]));
    wanted["metadata"]["resourceVersion"] = scale.pointer("/metadata/resourceVersion").cloned().unwrap_or(Value::Null);
    wanted
}

fn count(part: &Value) -> Value {
    part.get("replicas").cloned().unwrap_or_else(|| 0.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_and_back() {
        let set = json!({
            "metadata": { "name": "workers", "resourceVersion": "7" },
            "spec": { "replicas": 2, "selector": { "matchLabels": { "a": "b" } } },
            "status": { "replicas": 1 },
        });
        let scale = of(&set);
        assert_eq!((&scale["spec"]["replicas"], &scale["status"]["replicas"]), (&json!(2), &json!(1)));
        assert_eq!(scale["status"]["selector"], "a=b");
        let more = applied(&set, &json!({ "spec": { "replicas": 3 } }));
        assert_eq!((&more["spec"]["replicas"], &more["spec"]["selector"]), (&json!(3), &set["spec"]["selector"]));
        assert_eq!(more["metadata"]["resourceVersion"], Value::Null, "it does not depend on what it was read from");
    }
}
