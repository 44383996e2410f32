//! The one place that knows the types of the Ignition spec.

use std::io::Write as _;

use base64::{Engine, prelude::BASE64_STANDARD};
use data_url::DataUrl;
use flate2::{Compression, write::GzEncoder};
use ignition_config::{
    Config,
    v3_3::{self, Dropin, File, IgnitionConfig, Passwd, Resource, Security, Storage, Systemd, Unit, User},
};
use serde_json::Value;

use crate::{
    Cluster, Error,
    node::{NodeConfig, NodeContents, NodeFile, NodeUnit, no_proxy},
    unpack::{UnpackError, gunzip},
};

/// Below this many bytes compression costs more than it saves.
const WORTH_COMPRESSING: usize = 512;

/// An Ignition config that is being put together.
#[derive(Default)]
pub(super) struct Document(v3_3::Config);

impl Document {
    /// A config that may have been edited by a user, who may have used everything that the spec knows.
    pub(super) fn parse(name: &str, json: &[u8]) -> Result<Self, Error> {
        match Config::parse_slice(json) {
            Ok((Config::V3_3(config), _)) => Ok(Self(config)),
            Ok(_) => Err(Error::IgnitionVersion { name: name.to_owned() }),
            Err(source) => Err(Error::ReadIgnition { name: name.to_owned(), source: source.into() }),
        }
    }

    /// Has the machine fetch another config and merge it with this one.
    pub(super) fn merge(&mut self, url: &str) {
        let source = Resource { source: Some(url.to_owned()), ..Resource::default() };
        let config = self.0.ignition.config.get_or_insert_with(IgnitionConfig::default);
        config.merge.get_or_insert_default().push(source);
    }

    /// Has Ignition itself trust a CA, for what it fetches.
    pub(super) fn trust(&mut self, ca: &str) {
        let tls = self.0.ignition.security.get_or_insert_with(Security::default).tls.get_or_insert_default();
        tls.certificate_authorities.get_or_insert_default().push(inline(ca.as_bytes()));
    }

    /// Has Ignition itself use the site's proxy and trust its CAs, for what it fetches.
    pub(super) fn reach_outside(&mut self, cluster: &Cluster<'_>) {
        if let Some(bundle) = &cluster.config.additional_trust_bundle {
            self.trust(bundle);
        }
        if let Some(proxy) = &cluster.config.proxy {
            self.0.ignition.proxy = Some(v3_3::Proxy {
                http_proxy: proxy.http_proxy.clone(),
                https_proxy: proxy.https_proxy.clone(),
                no_proxy: Some(no_proxy(cluster, proxy).into_iter().map(Some).collect()),
            });
        }
    }

    /// Lets the owners of SSH keys log in as `core`, the user that Fedora CoreOS and Flatcar both have.
    pub(super) fn authorize(&mut self, ssh_keys: Vec<String>) {
        if ssh_keys.is_empty() {
            return;
        }
        let user = User { ssh_authorized_keys: Some(ssh_keys), ..User::new("core".to_owned()) };
        self.0.passwd.get_or_insert_with(Passwd::default).users.get_or_insert_default().push(user);
    }

    /// Adds files and units.
    pub(super) fn add(&mut self, config: NodeConfig) {
        let files = self.0.storage.get_or_insert_with(Storage::default).files.get_or_insert_default();
        files.extend(config.files.into_iter().map(file));
        if !config.units.is_empty() {
            let units = self.0.systemd.get_or_insert_with(Systemd::default).units.get_or_insert_default();
            units.extend(config.units.into_iter().map(unit));
        }
    }

    /// Puts other contents in the place of a text file's own; `rewrite` is given what is there. Nothing happens if the config
    /// has no such file, or has it from elsewhere. The outer error is that of the file, the inner one that of `rewrite`.
    pub(super) fn rewrite_file<E>(
        &mut self,
        path: &str,
        rewrite: impl FnOnce(&str) -> Result<String, E>,
    ) -> Result<Result<(), E>, UnpackError> {
        let files = self.0.storage.iter_mut().flat_map(|storage| &mut storage.files).flatten();
        for resource in files.filter(|file| file.path == path).filter_map(|file| file.contents.as_mut()) {
            if let Some(text) = text(resource)? {
                return Ok(rewrite(&text).map(|rewritten| *resource = inline(rewritten.as_bytes())));
            }
        }
        Ok(Ok(()))
    }

    /// Removes a file, if there is one at this path.
    pub(super) fn forget(&mut self, path: &str) {
        if let Some(files) = self.0.storage.as_mut().and_then(|storage| storage.files.as_mut()) {
            files.retain(|file| file.path != path);
        }
    }

    /// As JSON without the many fields that are not set.
    pub(super) fn to_json(&self, name: &str) -> Result<Vec<u8>, Error> {
        let mut json =
            serde_json::to_value(&self.0).map_err(|source| Error::WriteJson { what: name.to_owned(), source })?;
        remove_nulls(&mut json);
        Ok(json.to_string().into_bytes())
    }
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

fn file(file: NodeFile) -> File {
    let mut entry = File::new(file.path);
    entry.mode = Some(i64::from(file.mode));
    match file.contents {
        NodeContents::Inline(bytes) => {
            entry.overwrite = Some(true);
            entry.contents = Some(inline(&bytes));
        }
        NodeContents::Append(bytes) => entry.append = Some(vec![inline(&bytes)]),
        NodeContents::Download { url, digest } => {
            entry.overwrite = Some(true);
            entry.contents = Some(Resource {
                source: Some(url),
                verification: Some(v3_3::Verification { hash: Some(digest) }),
                ..Resource::default()
            });
        }
    }
    entry
}

fn unit(unit: NodeUnit) -> Unit {
    let dropins =
        unit.dropins.into_iter().map(|(name, contents)| Dropin { contents: Some(contents), ..Dropin::new(name) });
    Unit {
        contents: unit.contents,
        enabled: unit.enabled,
        dropins: Some(dropins.collect()).filter(|dropins: &Vec<_>| !dropins.is_empty()),
        ..Unit::new(unit.name)
    }
}

/// Bytes as a data URL. Compressed if that pays, since platforms limit the size of user data.
fn inline(bytes: &[u8]) -> Resource {
    let data_url = |bytes: &[u8]| Some(format!("data:;base64,{}", BASE64_STANDARD.encode(bytes)));
    if bytes.len() < WORTH_COMPRESSING {
        return Resource { source: data_url(bytes), ..Resource::default() };
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let compressed = encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("writing to memory cannot fail");
    Resource { source: data_url(&compressed), compression: Some("gzip".to_owned()), ..Resource::default() }
}

/// What [`inline`] made of a text, or somebody else who edited the config.
fn text(resource: &Resource) -> Result<Option<String>, UnpackError> {
    let data = resource.source.as_deref().and_then(|source| DataUrl::process(source).ok()?.decode_to_vec().ok());
    let Some((bytes, _)) = data else { return Ok(None) };
    let is_packed = resource.compression.as_deref() == Some("gzip");
    let bytes = if is_packed { gunzip(&bytes)? } else { bytes };
    Ok(String::from_utf8(bytes).ok())
}
