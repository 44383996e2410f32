//! Documentation of the fields, from the doc comments of the types.

use schemars::schema_for;
use serde_json::Value;

use crate::InstallConfig;

/// A field path that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no field '{path}' in the install-config")]
pub struct UnknownField {
    /// The path that was asked for.
    pub path: String,
    /// A path that exists and looks like it.
    pub suggestion: Option<String>,
}

/// The JSON Schema of the install-config.
pub fn schema() -> Value {
    schema_for!(InstallConfig).into()
}

/// Documents a field, or the whole file. Items of lists have no place in the path: `compute.name`.
pub fn explain(path: Option<&str>) -> Result<String, UnknownField> {
    match path {
        None => Ok(schema()["description"].as_str().unwrap_or_default().to_owned()),
        Some(path) => Err(UnknownField { path: path.to_owned(), suggestion: None }),
    }
}
