//! Ignition configs and manifests as people would want to read them.

use std::{collections::BTreeMap, io::Read};

use base64::{Engine, prelude::BASE64_STANDARD};
use data_url::DataUrl;
use flate2::read::GzDecoder;
use serde_json::Value;

/// What an Ignition config puts on a machine: for every file and unit a heading and its decoded contents.
pub(crate) struct View(BTreeMap<String, String>);

impl View {
    pub(crate) fn new(json: &str) -> Self {
        let config: Value = serde_json::from_str(json).unwrap();
        let mut entries = BTreeMap::new();
        let mut rest = config.clone();
        for file in config.pointer("/storage/files").and_then(Value::as_array).into_iter().flatten() {
            let (heading, contents) = file_entry(file);
            entries.insert(heading, contents);
        }
        for unit in config.pointer("/systemd/units").and_then(Value::as_array).into_iter().flatten() {
            for (heading, contents) in unit_entries(unit) {
                entries.insert(heading, contents);
            }
        }
        for section in ["storage", "systemd"] {
            rest.as_object_mut().unwrap().remove(section);
        }
        if let Some(authorities) = rest.pointer_mut("/ignition/security/tls/certificateAuthorities") {
            for authority in authorities.as_array_mut().unwrap() {
                *authority = decode(authority).into();
            }
        }
        entries.insert(" ignition".to_owned(), serde_json::to_string_pretty(&rest).unwrap());
        Self(entries)
    }

    /// The contents of a file.
    pub(crate) fn file(&self, path: &str) -> &str {
        let found = self.0.iter().find(|(heading, _)| heading.split(' ').next() == Some(path));
        found.unwrap_or_else(|| panic!("no {path} in {:?}", self.0.keys())).1
    }

    /// Whether there is a file or unit.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.keys().any(|heading| heading.split(' ').next() == Some(name))
    }

    /// The contents of all files and units, as they are.
    pub(crate) fn unblinded(&self) -> String {
        self.0.values().cloned().collect()
    }

    /// Everything, blinded.
    pub(crate) fn all(&self) -> String {
        let entries = self.0.iter().map(|(heading, contents)| entry(heading, &blinded(contents)));
        entries.collect::<Vec<_>>().join("\n")
    }

    /// What differs from another config, blinded.
    pub(crate) fn changes(&self, base: &Self) -> String {
        let same = |heading: &String, contents: &str| base.0.get(heading).is_some_and(|old| blinded(old) == contents);
        let mut entries: Vec<String> = self
            .0
            .iter()
            .map(|(heading, contents)| (heading, blinded(contents)))
            .filter(|(heading, contents)| !same(heading, contents))
            .map(|(heading, contents)| entry(heading, &contents))
            .collect();
        entries.extend(
            base.0.keys().filter(|heading| !self.0.contains_key(*heading)).map(|heading| entry(heading, "(gone)")),
        );
        entries.join("\n")
    }
}

fn entry(heading: &str, contents: &str) -> String {
    format!("=== {}\n{}\n", heading.trim(), contents.trim_end())
}

fn file_entry(file: &Value) -> (String, String) {
    let path = file["path"].as_str().unwrap();
    let mode = format!("{:04o}", file["mode"].as_u64().unwrap());
    if let Some(append) = file.get("append") {
        return (format!("{path} {mode} append"), decode(&append[0]));
    }
    let contents = &file["contents"];
    match contents.pointer("/verification/hash").and_then(Value::as_str) {
        Some(hash) => {
            let (kind, digest) = hash.split_once('-').unwrap();
            let source = contents["source"].as_str().unwrap();
            (format!("{path} {mode} download"), format!("{source}\n{kind}-{}…", &digest[..16]))
        }
        None => (format!("{path} {mode}"), summarize(path, decode(contents))),
    }
}

/// Configs in configs and manifests are pinned elsewhere.
fn summarize(path: &str, contents: String) -> String {
    if path.rsplit('.').next() == Some("ign") || path.starts_with("/etc/landfall/manifests/") {
        return "(pinned on its own)".to_owned();
    }
    contents
}

fn unit_entries(unit: &Value) -> Vec<(String, String)> {
    let name = unit["name"].as_str().unwrap();
    let state = if unit["enabled"] == true { " enabled" } else { "" };
    let mut entries = vec![(format!("{name}{state}"), unit["contents"].as_str().unwrap_or_default().to_owned())];
    for dropin in unit["dropins"].as_array().into_iter().flatten() {
        let heading = format!("{name}.d/{}", dropin["name"].as_str().unwrap());
        entries.push((heading, dropin["contents"].as_str().unwrap().to_owned()));
    }
    entries
}

/// What a resource of an Ignition config holds.
pub(crate) fn decode(resource: &Value) -> String {
    let source = resource["source"].as_str().unwrap();
    let (bytes, _) = DataUrl::process(source).unwrap().decode_to_vec().unwrap();
    let mut text = String::new();
    match resource.get("compression").and_then(Value::as_str) {
        None => text = String::from_utf8(bytes).unwrap(),
        Some("gzip") => drop(GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap()),
        Some(other) => panic!("unknown compression {other}"),
    }
    text
}

/// The objects of a manifest as YAML, with the values of Secrets decoded.
pub(crate) fn with_decoded_secrets(manifest: &[u8]) -> String {
    let objects: Vec<Value> = serde_saphyr::from_multiple(std::str::from_utf8(manifest).unwrap()).unwrap();
    let decoded = objects.into_iter().map(|mut object| {
        if object["kind"] == "Secret" {
            for value in object["data"].as_object_mut().unwrap().values_mut() {
                let bytes = BASE64_STANDARD.decode(value.as_str().unwrap()).unwrap();
                *value = format!("(base64) {}", String::from_utf8(bytes).unwrap()).into();
            }
        }
        serde_saphyr::to_string(&object).unwrap()
    });
    decoded.collect::<Vec<_>>().join("---\n")
}

/// Text in which two renderings of the same config look the same: keys and certificates differ each time.
pub(crate) fn blinded(text: &str) -> String {
    let text = replaced(text, "-----BEGIN ", |rest| {
        let label = &rest[..rest.find("-----").unwrap()];
        let end = format!("-----END {label}-----");
        Some((rest.find(&end).unwrap() + end.len(), format!("[{label}]")))
    });
    let text = replaced(&text, "data:;base64,", |rest| {
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+/=".contains(c)).unwrap_or(rest.len());
        Some((length, "data:;base64,[…]".to_owned()))
    });
    replaced(&text, "sha256:", |rest| {
        let digest = rest.get(..64)?;
        digest.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| (64, "sha256:[public key pin]".to_owned()))
    })
}

/// Replaces each marker and as much of what follows it as `rule` says.
fn replaced(text: &str, marker: &str, rule: impl Fn(&str) -> Option<(usize, String)>) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(marker) {
        let after = &rest[at + marker.len()..];
        let (length, replacement) = rule(after).unwrap_or((0, marker.to_owned()));
        result.push_str(&rest[..at]);
        result.push_str(&replacement);
        rest = &after[length..];
    }
    result + rest
}
