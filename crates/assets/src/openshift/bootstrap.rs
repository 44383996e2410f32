//! The bootstrap machine's Ignition config as the release rendered it.
//!
//! It is handled as JSON: whatever else the release puts into it, now or in a later version of the spec, stays as it is.

use base64::{Engine, prelude::BASE64_STANDARD};
use data_url::DataUrl;
use landfall_platform::error_chain;
use serde_json::{Value, json};

use super::{Error, VersionInfo};
use crate::{NodeConfig, ignition, unpack::gunzip};

const NAME: &str = "bootstrap.ign";

/// The config.
pub(super) struct Bootstrap(Value);

impl Bootstrap {
    pub(super) fn parse(json: &[u8]) -> Result<Self, Error> {
        let config: Value = serde_json::from_slice(json).map_err(|error| unusable(error.to_string()))?;
        let has_list = |pointer| config.pointer(pointer).is_some_and(Value::is_array);
        if !has_list("/storage/files") || !has_list("/systemd/units") {
            return Err(unusable("it has no files or no units".to_owned()));
        }
        Ok(Self(config))
    }

    /// The contents of a file on the machine, if they stand in the config.
    pub(super) fn contents(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some(file) = self.list("/storage/files").iter().find(|file| file["path"] == path) else { return Ok(None) };
        let contents = &file["contents"];
        // Without a source a file is empty.
        let source = contents["source"].as_str().unwrap_or("data:,");
        let data = DataUrl::process(source).ok().and_then(|url| url.decode_to_vec().ok());
        match data {
            Some((data, _)) if contents["compression"] == "gzip" => {
                let reason = |error| unusable(format!("{path} in it cannot be unpacked: {}", error_chain(&error)));
                gunzip(&data).map(Some).map_err(reason)
            }
            data => Ok(data.map(|(data, _)| data)),
        }
    }

    /// Replaces the contents of a file that is there.
    pub(super) fn set_contents(&mut self, path: &str, contents: &[u8]) -> Result<(), Error> {
        let file = self.list_mut("/storage/files").iter_mut().find(|file| file["path"] == path);
        let file = file.ok_or_else(|| unusable(format!("it has no file {path}")))?;
        file["contents"] = json!({ "source": format!("data:;base64,{}", BASE64_STANDARD.encode(contents)) });
        Ok(())
    }

    /// Adds files and units, none of which may be there already.
    pub(super) fn add(&mut self, config: NodeConfig, version: &VersionInfo) -> Result<(), Error> {
        let added: Value = serde_json::from_slice(&ignition::render(NAME, config)?).expect("it was written as JSON");
        for (list, key) in [("/storage/files", "path"), ("/systemd/units", "name")] {
            for entry in added.pointer(list).and_then(Value::as_array).into_iter().flatten() {
                if self.list(list).iter().any(|existing| existing[key] == entry[key]) {
                    let name = entry[key].as_str().unwrap_or_default().to_owned();
                    return Err(Error::BootstrapClash { version: version.version.clone(), name });
                }
                self.list_mut(list).push(entry.clone());
            }
        }
        Ok(())
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(&self.0).expect("what was read as JSON can be written as JSON")
    }

    fn list(&self, pointer: &str) -> &[Value] {
        self.0.pointer(pointer).and_then(Value::as_array).expect("checked when it was read")
    }

    fn list_mut(&mut self, pointer: &str) -> &mut Vec<Value> {
        self.0.pointer_mut(pointer).and_then(Value::as_array_mut).expect("checked when it was read")
    }
}

fn unusable(reason: String) -> Error {
    Error::Unusable { path: NAME.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unpack::too_large;

    #[test]
    fn a_file_that_unpacks_to_far_too_much_is_refused() {
        let source = format!("data:;base64,{}", BASE64_STANDARD.encode(too_large()));
        let config = json!({
            "storage": { "files": [{ "path": "/opt/a", "contents": { "source": source, "compression": "gzip" } }] },
            "systemd": { "units": [] },
        });
        let bootstrap = Bootstrap::parse(config.to_string().as_bytes()).unwrap();
        let refused = bootstrap.contents("/opt/a").unwrap_err();
        assert_eq!(
            refused.to_string(),
            "cannot use bootstrap.ign: /opt/a in it cannot be unpacked: it unpacks to more than 64 MiB"
        );
        assert!(bootstrap.contents("/opt/b").unwrap().is_none());
    }
}
