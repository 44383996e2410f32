//! The facts that the machine booted with.

use std::path::Path;

use landfall_assets::NodeFacts;

use crate::Error;

/// Reads the facts.
pub fn load_facts(path: &Path) -> Result<NodeFacts, Error> {
    let text = std::fs::read_to_string(path).map_err(Error::file("read", path))?;
    let not_understood =
        |error: serde_json::Error| Error::NotUnderstood { path: path.into(), reason: error.to_string() };
    let document: serde_json::Value = serde_json::from_str(&text).map_err(not_understood)?;
    // Before the rest: another format may look quite different.
    let found = document["format"].as_u64().and_then(|format| u32::try_from(format).ok());
    if let Some(found) = found.filter(|&found| found != NodeFacts::FORMAT) {
        return Err(Error::FactsFormat { path: path.into(), found, known: NodeFacts::FORMAT });
    }
    serde_json::from_value(document).map_err(not_understood)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn facts_are_read_as_assets_write_them() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("node.json");
        let facts = testing::facts("master");
        std::fs::write(&path, serde_json::to_string(&facts).unwrap()).unwrap();
        assert_eq!(load_facts(&path).unwrap(), facts);
    }

    #[test]
    fn another_format_is_refused_with_advice() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("node.json");
        std::fs::write(&path, r#"{"format": 2}"#).unwrap();
        let error = load_facts(&path).unwrap_err().to_string();
        assert!(error.contains("has format 2, this program reads 1; use the landfall-node of"), "{error}");
    }
}
