//! Changing a config that is about to be served.

use super::document::Document;
use crate::{Error, unpack::UnpackError};

/// A config in which one text file has other contents. `rewrite` is given those that it has; it is not called if the config has
/// no such file. `name` is for errors.
///
/// The outer error is that of the config, the inner one that of `rewrite`.
pub fn with_text_file<E>(
    name: &str,
    config: &[u8],
    path: &str,
    rewrite: impl FnOnce(&str) -> Result<String, E>,
) -> Result<Result<Vec<u8>, E>, Error> {
    let mut document = Document::parse(name, config)?;
    let unreadable = |source: UnpackError| Error::ReadIgnitionFile {
        name: name.to_owned(),
        path: path.to_owned(),
        source: source.into(),
    };
    match document.rewrite_file(path, rewrite).map_err(unreadable)? {
        Ok(()) => document.to_json(name).map(Ok),
        Err(error) => Ok(Err(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use base64::{Engine as _, prelude::BASE64_STANDARD};
    use serde_json::json;

    use super::*;
    use crate::{
        node::{NodeConfig, NodeFile},
        unpack::too_large,
    };

    /// The contents of a file, by way of changing nothing.
    fn contents(config: &[u8], path: &str) -> Option<String> {
        let mut seen = None;
        let same = |text: &str| {
            seen = Some(text.to_owned());
            Ok::<_, Infallible>(text.to_owned())
        };
        with_text_file("test", config, path, same).unwrap().unwrap();
        seen
    }

    #[test]
    fn one_file_changes_and_the_others_stay() {
        let long = "a line that is worth compressing\n".repeat(100);
        let files = vec![NodeFile::private("/etc/a", "first"), NodeFile::private("/etc/b", long.as_str())];
        let config = crate::ignition::render("test", NodeConfig { files, units: Vec::new() }).unwrap();
        let changed = with_text_file("test", &config, "/etc/b", |text| {
            Ok::<_, Infallible>(text.replacen("a line", "another line", 1))
        });
        let changed = changed.unwrap().unwrap();
        assert_eq!(contents(&changed, "/etc/a").as_deref(), Some("first"));
        assert!(contents(&changed, "/etc/b").unwrap().starts_with("another line"));
        assert_eq!(contents(&changed, "/etc/c"), None);
    }

    #[test]
    fn a_failure_to_rewrite_is_told_apart_from_a_bad_config() {
        let config = crate::ignition::render(
            "test",
            NodeConfig { files: vec![NodeFile::private("/etc/a", "first")], units: Vec::new() },
        )
        .unwrap();
        assert_eq!(with_text_file("test", &config, "/etc/a", |_| Err("no")).unwrap(), Err("no"));
        assert!(with_text_file("test", b"{", "/etc/a", |_| Err("no")).is_err());
    }

    #[test]
    fn a_file_that_unpacks_to_far_too_much_is_refused() {
        let source = format!("data:;base64,{}", BASE64_STANDARD.encode(too_large()));
        let contents = json!({ "source": source, "compression": "gzip" });
        let config = json!({
            "ignition": { "version": "3.3.0" },
            "storage": { "files": [{ "path": "/etc/a", "contents": contents }] },
        });
        let refused = with_text_file("test", config.to_string().as_bytes(), "/etc/a", |_| Err("was read"));
        let refused = landfall_platform::error_chain(&refused.unwrap_err());
        assert_eq!(refused, "cannot unpack /etc/a in the Ignition config 'test': it unpacks to more than 64 MiB");
    }
}
