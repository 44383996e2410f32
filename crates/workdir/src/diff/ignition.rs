//! Which parts of an Ignition config changed, by name only.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The lists whose entries have names, and the key that holds the name.
const LISTS: [(&str, &str, &str, &str); 6] = [
    ("storage", "files", "path", "file"),
    ("storage", "directories", "path", "directory"),
    ("storage", "links", "path", "link"),
    ("systemd", "units", "name", "unit"),
    ("passwd", "users", "name", "user"),
    ("passwd", "groups", "name", "group"),
];

/// The names of the parts that differ, or `None` if either is not JSON.
pub(super) fn changed_parts(old: &[u8], new: &[u8]) -> Option<Vec<String>> {
    let (old, new) = (parts(&serde_json::from_slice(old).ok()?), parts(&serde_json::from_slice(new).ok()?));
    let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let change = |name: &&String| match (old.get(*name), new.get(*name)) {
        (Some(old), Some(new)) if old == new => None,
        (Some(_), Some(_)) => Some(format!("~ {name}")),
        (None, _) => Some(format!("+ {name}")),
        (_, None) => Some(format!("- {name}")),
    };
    Some(names.iter().filter_map(change).collect())
}

/// Every named entry, and what remains of each section.
fn parts(config: &Value) -> BTreeMap<String, Value> {
    let mut parts = BTreeMap::new();
    let mut rest = config.clone();
    for (section, list, key, label) in LISTS {
        let Some(Value::Array(entries)) = rest.get_mut(section).and_then(|section| section.get_mut(list)) else {
            continue;
        };
        for (index, entry) in std::mem::take(entries).into_iter().enumerate() {
            let name = entry.get(key).and_then(Value::as_str).map_or_else(|| format!("number {index}"), str::to_owned);
            parts.insert(format!("{label} {name}"), entry);
        }
    }
    match rest {
        Value::Object(sections) => {
            parts.extend(sections.into_iter().map(|(name, section)| (format!("section {name}"), section)));
        }
        other => {
            parts.insert("whole file".to_owned(), other);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parts_and_never_shows_contents() {
        let old = br#"{"ignition": {"version": "3.3.0"},
            "storage": {"files": [{"path": "/etc/a", "contents": {"source": "data:,topsecret"}}, {"path": "/etc/b"}]},
            "systemd": {"units": [{"name": "kubelet.service", "enabled": true}]}}"#;
        let new = br#"{"ignition": {"version": "3.4.0"},
            "storage": {"files": [{"path": "/etc/a", "contents": {"source": "data:,hushhush"}}, {"path": "/etc/c"}]},
            "systemd": {"units": [{"name": "kubelet.service", "enabled": true}]}}"#;
        let parts = changed_parts(old, new).unwrap();
        assert_eq!(parts, ["~ file /etc/a", "- file /etc/b", "+ file /etc/c", "~ section ignition"]);
    }

    #[test]
    fn copes_with_any_json() {
        assert_eq!(changed_parts(b"[1]", b"[2]").unwrap(), ["~ whole file"]);
        assert_eq!(changed_parts(br#"{"storage": 1}"#, br#"{"storage": {"files": [1]}}"#).unwrap().len(), 2);
        assert_eq!(changed_parts(b"", b"{}"), None);
    }
}
