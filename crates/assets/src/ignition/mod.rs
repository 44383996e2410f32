//! Ignition configs, spec 3.3: the newest that Debian's Ignition, RHCOS and Fedora CoreOS all read.

mod document;
mod pointer;

use jiff::Timestamp;
use landfall_config::Role;
use landfall_platform::{File, FileSet};

pub use pointer::with_hostname;

use crate::{Certificates, Cluster, Error, Secrets, kubeconfig, metadata::ClusterMetadata};

/// The pointer config of a role, which the platform hands to its machines.
pub fn pointer_config(cluster: &Cluster<'_>, secrets: &Secrets, role: Role) -> Result<Vec<u8>, Error> {
    pointer::render(cluster, secrets, role)
}

/// The files that machines boot with, and the files that a user needs to reach the cluster.
///
/// `manifests` are those of the install directory, the user's own included; they go to the bootstrap machine, which applies
/// them.
pub fn ignition_configs(
    cluster: &Cluster<'_>,
    secrets: &Secrets,
    certificates: &Certificates,
    _manifests: &FileSet,
    _now: Timestamp,
) -> Result<FileSet, Error> {
    let mut files = FileSet::default();
    for role in [Role::Master, Role::Worker] {
        // Private: the token in it opens the config server, and with that the cluster.
        files.insert(format!("{}.ign", role.name()), File::private(pointer_config(cluster, secrets, role)?));
    }
    files.insert("auth/kubeconfig", File::private(kubeconfig::admin(cluster, secrets, certificates)?));
    files.insert("metadata.json", File::public(ClusterMetadata::new(cluster, secrets).to_json()));
    Ok(files)
}
