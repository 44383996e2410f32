//! Patches: JSON merge patches (RFC 7386), and as much of Kubernetes' own kind as tells list entries apart by their key.

use serde_json::{Map, Value};

/// Which rules a patch follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rules {
    /// RFC 7386: lists are replaced.
    Merge,
    /// Strategic merge and server-side apply: lists of objects with a known key are merged entry by entry.
    Strategic,
}

/// Fields whose entries have a key, in the objects that are patched here.
const KEYED: [(&str, &str); 5] =
    [("conditions", "type"), ("addresses", "type"), ("taints", "key"), ("containers", "name"), ("env", "name")];

/// Changes `target` as `patch` says.
pub(super) fn apply(rules: Rules, target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(fields) = target else { return };
    for (name, value) in patch {
        if value.is_null() {
            fields.shift_remove(&name);
            continue;
        }
        let key = KEYED.iter().find(|(field, _)| rules == Rules::Strategic && *field == name).map(|(_, key)| *key);
        let field = fields.entry(name).or_insert(Value::Null);
        match (key, value) {
            (Some(key), Value::Array(entries)) if field.is_array() => merge_entries(field, entries, key),
            (_, value) => apply(rules, field, value),
        }
    }
}

fn merge_entries(list: &mut Value, mut entries: Vec<Value>, key: &str) {
    let Value::Array(list) = list else { return };
    // An entry may be a directive: the others are all there is to be.
    if entries.iter().any(|entry| entry["$patch"] == "replace") {
        entries.retain(|entry| entry.get("$patch").is_none());
        *list = entries;
        return;
    }
    for entry in entries {
        match list.iter_mut().find(|known| known[key] == entry[key]) {
            Some(known) => apply(Rules::Strategic, known, entry),
            None => list.push(entry),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(rules: Rules, mut target: Value, patch: Value) -> Value {
        apply(rules, &mut target, patch);
        target
    }

    #[test]
    fn a_merge_patch_sets_and_removes() {
        let target = json!({ "a": "b", "c": { "d": "e", "f": "g" }, "l": [1, 2] });
        let patch = json!({ "a": "z", "c": { "f": null }, "l": [3], "n": { "x": null, "y": 1 } });
        assert_eq!(
            patched(Rules::Merge, target, patch),
            json!({ "a": "z", "c": { "d": "e" }, "l": [3], "n": { "y": 1 } })
        );
    }

    #[test]
    fn a_strategic_patch_may_replace_a_list() {
        let target = json!({ "addresses": [{ "type": "InternalIP", "address": "a" }, { "type": "ExternalIP", "address": "b" }] });
        let new = [json!({ "type": "InternalIP", "address": "c" }), json!({ "type": "InternalIP", "address": "d" })];
        let patch = json!({ "addresses": [new[0], { "$patch": "replace" }, new[1]] });
        assert_eq!(patched(Rules::Strategic, target, patch), json!({ "addresses": new }));
    }

    #[test]
    fn a_strategic_patch_keeps_other_conditions() {
        let target =
            json!({ "conditions": [{ "type": "Ready", "status": "False" }, { "type": "Full", "status": "False" }] });
        let patch = json!({ "conditions": [{ "type": "Ready", "status": "True" }] });
        assert_eq!(
            patched(Rules::Strategic, target, patch),
            json!({ "conditions": [{ "type": "Ready", "status": "True" }, { "type": "Full", "status": "False" }] })
        );
    }
}
