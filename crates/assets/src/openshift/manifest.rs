//! Manifests that the release or the user wrote: read just enough of them, and leave the rest of the text alone.

use std::{collections::BTreeMap, fmt::Display};

use base64::{Engine, prelude::BASE64_STANDARD};
use landfall_platform::File;
use serde::{Deserialize, de::DeserializeOwned};

use super::Error;

/// What every object has.
#[derive(Deserialize)]
struct Kind {
    #[serde(default)]
    kind: String,
}

#[derive(Deserialize)]
struct Secret {
    data: BTreeMap<String, String>,
}

/// Reads some fields of a manifest; `path` names it in errors.
pub(super) fn read<T: DeserializeOwned>(path: &str, contents: &[u8]) -> Result<T, Error> {
    serde_saphyr::from_slice(contents).map_err(|error| unusable(path, error.without_snippet()))
}

/// A manifest as a file: private if it holds a Secret, or if that cannot be told.
pub(super) fn file(contents: Vec<u8>) -> File {
    match serde_saphyr::from_slice::<Kind>(&contents) {
        Ok(object) if object.kind != "Secret" => File::public(contents),
        _ => File::private(contents),
    }
}

/// One decoded value of a Secret.
pub(super) fn secret_value(path: &str, contents: &[u8], key: &str) -> Result<Vec<u8>, Error> {
    decode(path, &encoded_value(path, contents, key)?)
}

/// A Secret with one value changed, and every other byte as it was.
pub(super) fn with_secret_value(
    path: &str,
    contents: &[u8],
    key: &str,
    change: impl FnOnce(&[u8]) -> Result<Vec<u8>, Error>,
) -> Result<Vec<u8>, Error> {
    let old = encoded_value(path, contents, key)?;
    let text = std::str::from_utf8(contents).map_err(|error| unusable(path, error))?;
    if text.matches(old.as_str()).count() != 1 {
        return Err(unusable(path, format!("the value of {key} is not on one line of its own")));
    }
    let new = BASE64_STANDARD.encode(change(&decode(path, &old)?)?);
    Ok(text.replacen(&old, &new, 1).into_bytes())
}

fn encoded_value(path: &str, contents: &[u8], key: &str) -> Result<String, Error> {
    let mut secret: Secret = read(path, contents)?;
    secret.data.remove(key).ok_or_else(|| unusable(path, format!("it has no value {key}")))
}

fn decode(path: &str, encoded: &str) -> Result<Vec<u8>, Error> {
    BASE64_STANDARD.decode(encoded).map_err(|error| unusable(path, error))
}

fn unusable(path: &str, reason: impl Display) -> Error {
    Error::Unusable { path: path.to_owned(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use landfall_platform::Mode;

    use super::*;

    const SECRET: &str = "# kept\nkind: Secret\ndata:\n  disableTemplating: \"dHJ1ZQo=\"\n  userData: b2xk\n";

    #[test]
    fn secrets_are_private() {
        for (contents, mode) in [
            (SECRET, Mode::Private),
            ("kind: ConfigMap\n", Mode::Public),
            ("not: [yaml", Mode::Private),
            ("{\"kind\": \"Secret\"}", Mode::Private),
        ] {
            assert_eq!(file(contents.into()).mode, mode, "{contents}");
        }
    }

    #[test]
    fn changes_one_value_and_nothing_else() {
        let changed = with_secret_value("a.yaml", SECRET.as_bytes(), "userData", |old| {
            assert_eq!(old, b"old");
            Ok(b"new".to_vec())
        });
        assert_eq!(String::from_utf8(changed.expect("changed")).expect("text"), SECRET.replace("b2xk", "bmV3"));
        assert!(secret_value("a.yaml", SECRET.as_bytes(), "gone").is_err());
    }
}
