//! Numbers as the engine writes them: its JSON has them as strings, other writers have them as numbers.

use serde::{Deserialize, Deserializer, de::Error};

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(u64),
    Text(String),
}

/// Reads an optional number that may be written as a string.
pub(super) fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    match Option::<Written>::deserialize(deserializer)? {
        None => Ok(None),
        Some(Written::Number(number)) => Ok(Some(number)),
        Some(Written::Text(text)) => text.trim().parse().map(Some).map_err(D::Error::custom),
    }
}

/// Reads a number that may be written as a string; one that is missing is zero.
pub(super) fn required<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    optional(deserializer).map(Option::unwrap_or_default)
}

/// Reads a truth value that may be written as a string; one that is missing is false.
pub(super) fn boolean<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Bool(bool),
        Text(String),
    }
    Ok(match Option::<Written>::deserialize(deserializer)? {
        None => false,
        Some(Written::Bool(value)) => value,
        Some(Written::Text(text)) => text == "true",
    })
}
