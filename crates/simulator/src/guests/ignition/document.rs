//! A config that has been read and whose inline contents have been decoded and verified.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use sha2::{Digest, Sha256};
use url::{Host, Url};

use super::IgnitionError;
use super::config::{Config, Ignition, Resource, Unit};
use super::resource::decode;

/// A config that has been read and whose inline contents have been decoded and verified.
#[derive(Debug)]
pub(in crate::guests) struct Document {
    /// As it was given or fetched.
    pub(in crate::guests) text: Arc<str>,
    pub(super) ignition: Ignition,
    /// By path.
    pub(in crate::guests) files: BTreeMap<String, FileEntry>,
    pub(in crate::guests) units: Vec<Unit>,
}

/// What a config says about a file.
#[derive(Debug)]
pub(in crate::guests) struct FileEntry {
    pub(in crate::guests) contents: Option<Content>,
    pub(in crate::guests) append: Vec<Content>,
}

/// The contents of a file.
#[derive(Debug)]
pub(in crate::guests) enum Content {
    Inline(Vec<u8>),
    /// To be downloaded from this URL, which guests do not do.
    Remote(String),
}

impl Document {
    fn read(text: &str) -> Result<Self, IgnitionError> {
        let config = Config::parse(text)?;
        for authority in &config.ignition.security.tls.certificate_authorities {
            decode(authority)?;
        }
        let mut files = BTreeMap::new();
        for file in config.storage.files {
            let contents = file.contents.as_ref().map(content).transpose()?.flatten();
            let append = file.append.iter().filter_map(|resource| content(resource).transpose());
            let entry = FileEntry { contents, append: append.collect::<Result<_, _>>()? };
            if files.insert(file.path.clone(), entry).is_some() {
                return Err(IgnitionError::Twice { name: file.path });
            }
        }
        Ok(Self { text: text.into(), ignition: config.ignition, files, units: config.systemd.units })
    }
}

impl Document {
    /// Whether it refers to no other config.
    pub(in crate::guests) fn is_complete(&self) -> bool {
        let references = &self.ignition.config;
        references.merge.is_empty() && references.replace.source.is_none()
    }

    /// The addresses that it refers to.
    pub(in crate::guests) fn hosts(&self) -> Vec<IpAddr> {
        let references = &self.ignition.config;
        let sources =
            references.merge.iter().chain([&references.replace]).filter_map(|resource| resource.source.as_ref());
        let hosts = sources.filter_map(|source| match Url::parse(source).ok()?.host()? {
            Host::Ipv4(address) => Some(IpAddr::V4(address)),
            Host::Ipv6(address) => Some(IpAddr::V6(address)),
            Host::Domain(_) => None,
        });
        hosts.collect()
    }
}

fn content(resource: &Resource) -> Result<Option<Content>, IgnitionError> {
    if let Some(bytes) = decode(resource)? {
        return Ok(Some(Content::Inline(bytes)));
    }
    Ok(resource.source.clone().map(Content::Remote))
}

/// The documents in use. Thousands of machines get the same one, so it is read and kept once.
#[derive(Debug, Default)]
pub(in crate::guests) struct Library(Mutex<HashMap<[u8; 32], Weak<Document>>>);

impl Library {
    /// Reads a config and refuses what this Ignition would refuse.
    pub(in crate::guests) fn read(&self, text: &str) -> Result<Arc<Document>, IgnitionError> {
        let digest = Sha256::digest(text).into();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(document) = known.get(&digest).and_then(Weak::upgrade) {
            return Ok(document);
        }
        let document = Arc::new(Document::read(text)?);
        known.retain(|_, document| document.strong_count() > 0);
        known.insert(digest, Arc::downgrade(&document));
        Ok(document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Library::default().read(text).unwrap_err().to_string()
    }

    #[test]
    fn what_ignition_refuses() {
        for (text, reason) in [
            ("#cloud-config\nhostname: x\n", "cloud-init"),
            ("#!/bin/sh\n", "cloud-init"),
            ("", "not JSON"),
            ("{", "not JSON"),
            ("{}", "not JSON"),
            (r#"{"ignition": {"version": "2.2.0"}}"#, "'2.2.0'"),
            (r#"{"ignition": {"version": "3.4.0"}}"#, "'3.4.0'"),
            (r#"{"ignition": {"version": "3.3.0-experimental"}}"#, "3.3.0-experimental"),
            (r#"{"ignition": {"version": "3.3.0"}, "storage": {"files": [{"path": "a"}]}}"#, "not absolute"),
            (r#"{"ignition": {"version": "3.3.0"}, "storage": {"files": [{"path": "/a"}, {"path": "/a"}]}}"#, "twice"),
            (
                r#"{"ignition": {"version": "3.3.0"}, "storage": {"files": [{"path": "/a", "contents": {"source": "data:x"}}]}}"#,
                "no comma",
            ),
        ] {
            assert!(refused(text).contains(reason), "{text}: {}", refused(text));
        }
    }

    #[test]
    fn one_text_is_one_document() {
        let library = Library::default();
        let text = r#"{"ignition": {"version": "3.0.0"}}"#;
        let first = library.read(text).unwrap();
        assert!(Arc::ptr_eq(&first, &library.read(text).unwrap()));
    }
}
