//! When the certificates of an install directory end, as they lie there: also in files that the user edited or kept.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read as _,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use data_url::DataUrl;
use flate2::read::GzDecoder;
use jiff::Timestamp;
use landfall_assets::{Expiry, certificate_expiry};
use landfall_platform::FileSet;
use landfall_workdir::WorkDir;
use serde::Serialize;
use serde_json::Value;

use super::kubernetes::SECRETS;

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
/// Where certificates are, besides the secrets.
const FILES: [&str; 6] = [
    "auth/kubeconfig",
    "bootstrap.ign",
    "config-server/master.ign",
    "config-server/worker.ign",
    "master.ign",
    "worker.ign",
];
/// No file of ours unpacks to more; a user's might, to exhaust our memory.
const LIMIT: u64 = 16 << 20;

/// A certificate and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Certificate {
    /// Its subject's common name.
    pub(crate) name: String,
    /// Until when it is valid.
    pub(crate) not_after: Timestamp,
    /// The files that hold it.
    pub(crate) files: BTreeSet<String>,
}

/// All certificates in the files that Landfall makes; those that end first come first.
pub(crate) fn certificates_in(dir: &WorkDir) -> landfall_workdir::Result<Vec<Certificate>> {
    let mut files: FileSet = dir.read_directory(SECRETS)?;
    for path in FILES {
        if let Some(file) = dir.read(path)? {
            files.insert(path, file);
        }
    }
    let mut found: BTreeMap<(Timestamp, String), BTreeSet<String>> = BTreeMap::new();
    for (path, file) in files.iter() {
        for Expiry { name, not_after, .. } in in_file(path, &file.contents) {
            found.entry((not_after, name)).or_default().insert(path.to_owned());
        }
    }
    Ok(found.into_iter().map(|((not_after, name), files)| Certificate { name, not_after, files }).collect())
}

fn in_file(path: &str, contents: &[u8]) -> Vec<Expiry> {
    let texts = match path.rsplit('.').next() {
        Some("crt") => vec![String::from_utf8_lossy(contents).into_owned()],
        Some("ign") => serde_json::from_slice(contents).map(|json: Value| texts_in(&json)).unwrap_or_default(),
        Some("auth/kubeconfig") => yaml(contents).map(|yaml| texts_in(&yaml)).unwrap_or_default(),
        _ => Vec::new(),
    };
    let pems = texts.iter().flat_map(|text| text.match_indices(BEGIN).map(|(start, _)| &text[start..]));
    pems.filter_map(|pem| certificate_expiry(pem.as_bytes()).ok()).collect()
}

fn yaml(contents: &[u8]) -> Option<Value> {
    serde_saphyr::from_str(std::str::from_utf8(contents).ok()?).ok()
}

/// Every text in a tree, and what it says once decoded.
fn texts_in(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => decoded(text).into_iter().collect(),
        Value::Array(items) => items.iter().flat_map(texts_in).collect(),
        Value::Object(fields) => fields.values().flat_map(texts_in).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// A kubeconfig holds its certificates in base64, an Ignition config in data URLs that may be compressed.
fn decoded(text: &str) -> Option<String> {
    let bytes = match DataUrl::process(text) {
        Ok(url) => url.decode_to_vec().ok()?.0,
        Err(_) => BASE64_STANDARD.decode(text).ok()?,
    };
    let mut plain = String::new();
    match bytes.as_slice() {
        [0x1f, 0x8b, ..] => GzDecoder::new(bytes.as_slice()).take(LIMIT).read_to_string(&mut plain).ok()?,
        _ => bytes.as_slice().read_to_string(&mut plain).ok()?,
    };
    Some(plain)
}
