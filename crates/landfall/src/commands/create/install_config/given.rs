//! What flags and files say about the install-config.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use clap::{Args, builder::PossibleValuesParser};
use landfall_config::{Platform, tree};
use serde_json::{Value, json};

use super::text;
use crate::error::Error;

/// No install-config is larger; who names /dev/zero is told so soon.
const LIMIT: u64 = 64 << 20;

/// Make install-config.yaml, from answers, flags or a file.
#[derive(Args, Debug)]
pub(crate) struct InstallConfig {
    /// Begin with this file, or stdin if it is '-'; nothing is asked then
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,

    /// Set a field, as in compute[0].replicas=5; goes before all other flags. May be repeated
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,

    /// Name of the cluster (metadata.name)
    #[arg(long)]
    name: Option<String>,

    /// Domain below which the cluster's own lies (baseDomain)
    #[arg(long, value_name = "DOMAIN")]
    base_domain: Option<String>,

    /// Platform
    #[arg(long, value_parser = PossibleValuesParser::new(Platform::NAMES))]
    platform: Option<String>,

    /// Distribution
    #[arg(long, value_parser = ["kubernetes", "openshift", "okd"])]
    distribution: Option<String>,

    /// Network that the machines have their addresses in; repeat it for dual stack (networking.machineNetwork)
    #[arg(long, value_name = "CIDR")]
    machine_network: Vec<String>,

    /// Number of masters (controlPlane.replicas)
    #[arg(long, value_name = "COUNT")]
    masters: Option<u32>,

    /// Number of workers (compute[0].replicas)
    #[arg(long, value_name = "COUNT")]
    workers: Option<u32>,

    /// File with SSH public keys that may log in to the machines (sshKey)
    #[arg(long, value_name = "FILE")]
    ssh_key_file: Option<PathBuf>,

    /// File with the pull secret (pullSecret)
    #[arg(long, value_name = "FILE")]
    pull_secret_file: Option<PathBuf>,

    /// Replace an install-config that exists; a copy of it goes to .landfall/backup
    #[arg(long)]
    pub(super) overwrite: bool,
}

/// What was given.
pub(super) struct Given {
    /// As a tree.
    pub(super) tree: Value,
    /// The file as it was written, if nothing was changed in it.
    verbatim: Option<Vec<u8>>,
    /// Whether the user may be asked for the rest.
    pub(super) may_ask: bool,
}

impl Given {
    /// The text of the install-config: as the user wrote it, where possible.
    pub(super) fn into_text(self) -> anyhow::Result<Vec<u8>> {
        match self.verbatim {
            Some(bytes) => Ok(bytes),
            None => text::render(&self.tree),
        }
    }
}

impl InstallConfig {
    /// Lays the flags over the file.
    pub(super) fn given(&self) -> anyhow::Result<Given> {
        let file = self.from.as_deref().map(|path| read(path, "--from")).transpose()?;
        let mut tree = match &file {
            Some(bytes) => landfall_config::parse_yaml(bytes)?,
            None => json!({ "apiVersion": "v1" }),
        };
        let untouched = tree.clone();
        tree::merge(&mut tree, self.flags()?);
        for assignment in &self.set {
            tree::set(&mut tree, assignment)?;
        }
        let may_ask = file.is_none();
        let verbatim = file.filter(|_| tree == untouched);
        Ok(Given { tree, verbatim, may_ask })
    }

    fn flags(&self) -> Result<Value, Error> {
        let mut tree = json!({});
        let mut put = |fields: Value| tree::merge(&mut tree, fields);
        if let Some(name) = &self.name {
            put(json!({ "metadata": { "name": name } }));
        }
        if let Some(domain) = &self.base_domain {
            put(json!({ "baseDomain": domain }));
        }
        if let Some(distribution) = &self.distribution {
            put(json!({ "distribution": distribution }));
        }
        if let Some(path) = &self.ssh_key_file {
            put(json!({ "sshKey": read_text(path, "--ssh-key-file")? }));
        }
        if let Some(path) = &self.pull_secret_file {
            put(json!({ "pullSecret": read_text(path, "--pull-secret-file")? }));
        }
        if !self.machine_network.is_empty() {
            let networks: Vec<_> = self.machine_network.iter().map(|cidr| json!({ "cidr": cidr })).collect();
            put(json!({ "networking": { "machineNetwork": networks } }));
        }
        if let Some(count) = self.masters {
            put(json!({ "controlPlane": { "replicas": count } }));
        }
        if let Some(count) = self.workers {
            put(json!({ "compute": [{ "replicas": count }] }));
        }
        if let Some(platform) = &self.platform {
            put(json!({ "platform": { platform.as_str(): {} } }));
        }
        Ok(tree)
    }
}

fn read(path: &Path, named_by: &'static str) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().take(LIMIT).read_to_end(&mut bytes)
    } else {
        fs::File::open(path).and_then(|file| file.take(LIMIT).read_to_end(&mut bytes))
    };
    read.map_err(|source| Error::ReadInput { path: path.to_owned(), named_by, source })?;
    Ok(bytes)
}

fn read_text(path: &Path, named_by: &'static str) -> Result<String, Error> {
    let text = String::from_utf8(read(path, named_by)?);
    let text = text.map_err(|_| Error::InputNotText { path: path.to_owned(), named_by })?;
    Ok(text.trim_end().to_owned())
}
