//! YAML text from values and back.

use serde::Serialize;
use serde_json::Value;

use crate::Error;

/// One document. `what` names it if it cannot be written.
pub(crate) fn document(what: &str, value: &impl Serialize) -> Result<String, Error> {
    // Long lines stay whole: folding would hide where a value begins and ends.
    let options = serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX };
    serde_saphyr::to_string_with_options(value, options)
        .map_err(|source| Error::WriteYaml { what: what.to_owned(), source })
}

/// Several documents in one file.
pub(crate) fn documents(what: &str, values: &[impl Serialize]) -> Result<String, Error> {
    let documents: Vec<String> = values.iter().map(|value| document(what, value)).collect::<Result<_, _>>()?;
    Ok(documents.join("---\n"))
}

/// All documents of a file, empty ones left out. `what` names it if it cannot be read.
pub(crate) fn read(what: &str, text: &[u8]) -> Result<Vec<Value>, Error> {
    let unreadable = |reason: String| Error::ReadYaml { what: what.to_owned(), reason };
    let text = std::str::from_utf8(text).map_err(|error| unreadable(error.to_string()))?;
    // Kubernetes reads `y` and `no` as text, so they must not become booleans here.
    let options = serde_saphyr::options! { strict_booleans: true };
    let documents: Vec<Value> = serde_saphyr::from_multiple_with_options(text, options)
        .map_err(|error| unreadable(error.without_snippet().to_string()))?;
    Ok(documents.into_iter().filter(|document| !document.is_null()).collect())
}
