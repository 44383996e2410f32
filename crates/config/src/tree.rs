//! Changing a generic tree: `--set path=value`, and laying one partial configuration over another.

use serde_json::{Map, Value};

pub use crate::parse::parse_tree;
use crate::{
    ConfigError,
    path::{self, Segment},
    schema::{Kind, Node},
    yaml,
};

/// Why an assignment cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// Not a field path, `=` and a value.
    #[error("'{0}' is not an assignment like compute[0].replicas=5")]
    NotAnAssignment(String),
    /// The path goes through something that has no parts, or by an index through a mapping.
    #[error("{path} is {found}, so {wanted} cannot be set in it")]
    NotAContainer {
        /// What stands in the way.
        path: String,
        /// What it is.
        found: &'static str,
        /// What was to be set in it.
        wanted: String,
    },
    /// The index leaves a gap.
    #[error("{path} has {length} items, so [{index}] cannot be set; [{length}] would add one")]
    Gap {
        /// The list.
        path: String,
        /// How many items it has.
        length: usize,
        /// Which was to be set.
        index: usize,
    },
    /// The value is not YAML.
    #[error("the value of {path} cannot be read")]
    BadValue {
        /// What was to be set.
        path: String,
        /// What is wrong.
        source: ConfigError,
    },
}

/// Makes an assignment `path=value` in a tree.
///
/// A field that holds text takes the value as it stands, so that keys, versions and JSON need no second quoting. For other
/// fields the value is YAML: a number, `true`, `[a, b]`, `{a: b}`. An empty value means that the field is left out.
pub fn set(tree: &mut Value, assignment: &str) -> Result<(), SetError> {
    let (segments, value) = path::split(assignment)
        .and_then(|(segments, rest)| Some((segments, rest.strip_prefix('=')?)))
        .ok_or_else(|| SetError::NotAnAssignment(assignment.to_owned()))?;
    let value = read_value(&segments, value)?;
    let mut place = tree;
    for (i, segment) in segments.iter().enumerate() {
        place = step(place, segment, &segments[..i])?;
    }
    *place = value;
    Ok(())
}

fn read_value(segments: &[Segment], text: &str) -> Result<Value, SetError> {
    let takes_text =
        Node::at_path(segments).is_some_and(|node| matches!(node.kind(), Kind::Text { .. } | Kind::Enumeration(_)));
    if takes_text && !text.is_empty() && !text.starts_with(['"', '\'']) {
        return Ok(text.into());
    }
    yaml::read(text.as_bytes()).map_err(|source| SetError::BadValue { path: path::join(segments), source })
}

/// Goes down one segment, making what is missing on the way.
fn step<'a>(value: &'a mut Value, segment: &Segment, above: &[Segment]) -> Result<&'a mut Value, SetError> {
    if value.is_null() {
        *value = match segment {
            Segment::Key(_) => Value::Object(Map::new()),
            Segment::Index(_) => Value::Array(Vec::new()),
        };
    }
    let found = match value {
        Value::Object(_) => "a mapping",
        Value::Array(_) => "a list",
        _ => "a single value",
    };
    match (segment, value) {
        (Segment::Key(key), Value::Object(map)) => Ok(map.entry(key.clone()).or_insert(Value::Null)),
        (Segment::Index(index), Value::Array(items)) => {
            let length = items.len();
            if *index == length {
                items.push(Value::Null);
            }
            items.get_mut(*index).ok_or_else(|| SetError::Gap { path: path::join(above), length, index: *index })
        }
        _ => Err(SetError::NotAContainer {
            path: path::join(above),
            found,
            wanted: match segment {
                Segment::Key(key) => format!("'{key}'"),
                Segment::Index(index) => format!("[{index}]"),
            },
        }),
    }
}

/// Lays one tree over another: mappings are merged key by key, anything else takes the place of what was there.
pub fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn after(mut tree: Value, assignments: &[&str]) -> Value {
        for assignment in assignments {
            set(&mut tree, assignment).unwrap();
        }
        tree
    }

    #[test]
    fn makes_what_is_missing() {
        assert_eq!(
            after(
                Value::Null,
                &["metadata.name=demo", "compute[0].replicas=5", "platform.ovirt.api_vips[0]=192.0.2.5"]
            ),
            json!({
                "metadata": { "name": "demo" },
                "compute": [{ "replicas": 5 }],
                "platform": { "ovirt": { "api_vips": ["192.0.2.5"] } },
            })
        );
    }

    #[test]
    fn changes_what_is_there() {
        let tree = json!({ "compute": [{ "replicas": 3, "name": "a" }, { "replicas": 1 }] });
        assert_eq!(
            after(tree, &["compute[1].replicas=2", "compute[2].name=c", "compute[0].name="]),
            json!({ "compute": [{ "replicas": 3, "name": null }, { "replicas": 2 }, { "name": "c" }] })
        );
    }

    #[test]
    fn takes_text_as_it_stands() {
        for (assignment, path, wanted) in [
            ("version=1.36", "/version", json!("1.36")),
            ("metadata.name=123", "/metadata/name", json!("123")),
            ("sshKey=ssh-ed25519 AAAA me: here # laptop", "/sshKey", json!("ssh-ed25519 AAAA me: here # laptop")),
            ("pullSecret={\"auths\":{}}", "/pullSecret", json!("{\"auths\":{}}")),
            ("baseDomain='example.com'", "/baseDomain", json!("example.com")),
            ("labels.\"example.com/team\"=yes", "/labels/example.com~1team", json!("yes")),
            ("labels.a=1=2", "/labels/a", json!("1=2")),
            ("proxy.noProxy=a=b", "/proxy/noProxy", json!("a=b")),
        ] {
            assert_eq!(after(json!({}), &[assignment]).pointer(path), Some(&wanted), "{assignment}");
        }
    }

    #[test]
    fn reads_other_values_as_yaml() {
        for (assignment, path, wanted) in [
            ("controlPlane.replicas=1", "/controlPlane/replicas", json!(1)),
            ("compute=[]", "/compute", json!([])),
            (
                "platform.ovirt.api_vips=[192.0.2.5, 'fd00::5']",
                "/platform/ovirt/api_vips",
                json!(["192.0.2.5", "fd00::5"]),
            ),
            ("controlPlane.platform.ovirt.sparse=true", "/controlPlane/platform/ovirt/sparse", json!(true)),
            ("unknown.field=1", "/unknown/field", json!(1)),
        ] {
            assert_eq!(after(json!({}), &[assignment]).pointer(path), Some(&wanted), "{assignment}");
        }
    }

    #[test]
    fn says_why_it_cannot() {
        let error = |assignment: &str| {
            let mut tree = json!({ "compute": [{}], "baseDomain": "x" });
            set(&mut tree, assignment).unwrap_err().to_string()
        };
        assert_eq!(error("replicas"), "'replicas' is not an assignment like compute[0].replicas=5");
        assert_eq!(error("=5"), "'=5' is not an assignment like compute[0].replicas=5");
        assert_eq!(error("compute[5].name=x"), "compute has 1 items, so [5] cannot be set; [1] would add one");
        assert_eq!(error("compute.name=x"), "compute is a list, so 'name' cannot be set in it");
        assert_eq!(error("baseDomain.x=y"), "baseDomain is a single value, so 'x' cannot be set in it");
        assert_eq!(error("compute=[a"), "the value of compute cannot be read");
    }

    #[test]
    fn merges_mappings_and_replaces_the_rest() {
        let mut base = json!({ "a": { "b": 1, "c": [1, 2] }, "d": 1 });
        merge(&mut base, json!({ "a": { "c": [3] }, "e": { "f": 1 } }));
        assert_eq!(base, json!({ "a": { "b": 1, "c": [3] }, "d": 1, "e": { "f": 1 } }));
    }
}
