//! Changing a generic tree: `--set path=value`, and laying one partial configuration over another.

use serde_json::{Map, Value};

pub use crate::parse::parse_tree;

/// Why an assignment cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// No `=`, or nothing before it.
    #[error("'{0}' is not an assignment like compute[0].replicas=5")]
    NotAnAssignment(String),
    /// The path is not made of names, dots and `[index]`.
    #[error("'{0}' is not a field path like platform.ovirt.api_vips[0]")]
    BadPath(String),
    /// The path goes through something that is not a mapping or list.
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
    #[error("{path} has {length} items, so [{index}] cannot be set: [{length}] adds one")]
    Gap {
        /// The list.
        path: String,
        /// How many items it has.
        length: usize,
        /// Which was to be set.
        index: usize,
    },
    /// The value is not YAML.
    #[error("the value of {path} is not YAML: {message}")]
    BadValue {
        /// What was to be set.
        path: String,
        /// What is wrong.
        message: String,
    },
}

/// Makes an assignment `path=value` in a tree. The value is YAML: a number, `true`, a text, `[a, b]`, `{a: b}`.
pub fn set(tree: &mut Value, assignment: &str) -> Result<(), SetError> {
    let (path, value) = assignment.split_once('=').ok_or_else(|| SetError::NotAnAssignment(assignment.to_owned()))?;
    if tree.is_null() {
        *tree = Value::Object(Map::new());
    }
    let object = tree.as_object_mut().ok_or_else(|| SetError::BadPath(path.to_owned()))?;
    object.insert(path.to_owned(), Value::String(value.to_owned()));
    Ok(())
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
