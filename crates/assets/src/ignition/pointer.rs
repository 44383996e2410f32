//! Pointer configs: all that a machine gets from its platform, and just enough to fetch the rest.

use landfall_config::Role;

use super::document::Document;
use crate::{
    Cluster, Error, Secrets,
    node::{NodeConfig, NodeFile, config_url},
};

/// Returns the pointer config of a role: one source to merge, and the CA that must have signed its server. It opens nothing until a machine's own
/// credential is added to it ([`Secrets::with_credential`]).
pub fn pointer_config(cluster: &Cluster<'_>, secrets: &Secrets, role: Role) -> Result<Vec<u8>, Error> {
    let mut document = Document::default();
    document.reach_outside(cluster);
    document.merge(&config_url(cluster, role));
    document.trust(secrets.cluster_ca().certificate());
    document.to_json(&format!("{}.ign", role.name()))
}

/// A pointer config with the name of one machine in it.
///
/// All machines of a role share a pointer config, so the name cannot be there from the beginning; and some platforms put a
/// name into it by themselves in a form that is not of this spec, unless they find one. `name` of the config is for errors.
pub fn with_hostname(name: &str, pointer: &[u8], hostname: &str) -> Result<Vec<u8>, Error> {
    with_files(name, pointer, vec![NodeFile::public("/etc/hostname", format!("{hostname}\n"))])
}

/// A config with files that only one machine has, in the place of any that all of its kind have. `name` of the config is for
/// errors.
pub fn with_files(name: &str, config: &[u8], files: Vec<NodeFile>) -> Result<Vec<u8>, Error> {
    let mut document = Document::parse(name, config)?;
    for file in &files {
        document.forget(&file.path);
    }
    document.add(NodeConfig { files, units: Vec::new() });
    document.to_json(name)
}
