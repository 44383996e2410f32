//! Ignition configs with something wrong in them.

use std::io::Read;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::GzDecoder;
use serde_json::{Value, json};

/// An Ignition config that is changed before a machine gets it.
pub(crate) struct Edited(Value);

impl Edited {
    pub(crate) fn new(config: &str) -> Self {
        Self(serde_json::from_str(config).unwrap())
    }

    pub(crate) fn without_file(mut self, path: &str) -> Self {
        self.files().retain(|file| file["path"] != path);
        self
    }

    /// Changes the text of a file.
    pub(crate) fn with_file(mut self, path: &str, change: impl FnOnce(String) -> String) -> Self {
        let file = self.files().iter_mut().find(|file| file["path"] == path).unwrap();
        let text = change(decode(&file["contents"]));
        file["contents"] = json!({ "source": format!("data:;base64,{}", STANDARD.encode(text)) });
        self
    }

    pub(crate) fn without_unit(mut self, name: &str) -> Self {
        let units = self.0["systemd"]["units"].as_array_mut().unwrap();
        let unit = units.iter_mut().find(|unit| unit["name"] == name).unwrap();
        unit["enabled"] = false.into();
        self
    }

    /// Changes the whole config.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Value)) -> Self {
        change(&mut self.0);
        self
    }

    pub(crate) fn text(&self) -> String {
        self.0.to_string()
    }

    fn files(&mut self) -> &mut Vec<Value> {
        self.0["storage"]["files"].as_array_mut().unwrap()
    }
}

fn decode(contents: &Value) -> String {
    let data = contents["source"].as_str().unwrap().strip_prefix("data:;base64,").unwrap();
    let bytes = STANDARD.decode(data).unwrap();
    if contents.get("compression").is_none() {
        return String::from_utf8(bytes).unwrap();
    }
    let mut text = String::new();
    GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    text
}
