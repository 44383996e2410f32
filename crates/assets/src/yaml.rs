//! YAML text from values.

use serde::Serialize;

use crate::Error;

/// One document. `what` names it if it cannot be written.
pub(crate) fn document(what: &str, value: &impl Serialize) -> Result<String, Error> {
    serde_saphyr::to_string(value).map_err(|source| Error::WriteYaml { what: what.to_owned(), source })
}

/// Several documents in one file.
pub(crate) fn documents(what: &str, values: &[impl Serialize]) -> Result<String, Error> {
    let documents: Vec<String> = values.iter().map(|value| document(what, value)).collect::<Result<_, _>>()?;
    Ok(documents.join("---\n"))
}
