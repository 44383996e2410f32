//! Ignition configs, spec 3.3: the newest that Debian's Ignition, RHCOS and Fedora CoreOS all read.

mod document;
mod machine;
mod pointer;

use landfall_config::Role;
use landfall_platform::{File, FileSet};

pub use pointer::{pointer_config, with_hostname};

use crate::{
    Certificates, Cluster, Error, MachineRole, Secrets, kubeconfig,
    manifests::check_duplicates,
    metadata::ClusterMetadata,
    node::{NodeConfig, bootstrap_machine, pool_machine},
};

/// Files and units as an Ignition config of their own, for what is merged into a config that somebody else rendered. `name`
/// is for errors.
pub(crate) fn render(name: &str, config: NodeConfig) -> Result<Vec<u8>, Error> {
    let mut document = document::Document::default();
    document.add(config);
    document.to_json(name)
}

/// The files that machines boot with, and the files that a user needs to reach the cluster.
///
/// `manifests` are those of the install directory, the user's own included; they go to the bootstrap machine, which applies
/// them.
///
/// | file | what |
/// |---|---|
/// | `bootstrap.ign` | everything that the bootstrap machine is |
/// | `master.ign`, `worker.ign` | pointer configs, to be handed to the machines |
/// | `config-server/master.ign`, `…/worker.ign` | what the pointers point to, as the bootstrap machine serves it |
/// | `auth/kubeconfig` | for the administrator |
/// | `metadata.json` | for removal |
pub fn ignition_configs(
    cluster: &Cluster<'_>,
    secrets: &Secrets,
    certificates: &Certificates,
    manifests: &FileSet,
) -> Result<FileSet, Error> {
    check_duplicates(manifests)?;
    let mut files = FileSet::default();

    // Masters serve workers, and the bootstrap machine serves both, so each config holds those of the roles it serves.
    let worker = pool_machine(cluster, secrets, certificates, Role::Worker, &[])?;
    let worker = machine::render(cluster, MachineRole::Worker, worker)?;
    let mut served = vec![(Role::Worker, worker)];
    let master = pool_machine(cluster, secrets, certificates, Role::Master, &served)?;
    served.push((Role::Master, machine::render(cluster, MachineRole::Master, master)?));
    let bootstrap = bootstrap_machine(cluster, secrets, certificates, &served, manifests)?;
    let bootstrap = machine::render(cluster, MachineRole::Bootstrap, bootstrap)?;

    // All private: their tokens and keys open the cluster.
    files.insert("bootstrap.ign", File::private(bootstrap));
    for (role, config) in served {
        files.insert(format!("config-server/{}.ign", role.name()), File::private(config));
        files.insert(format!("{}.ign", role.name()), File::private(pointer_config(cluster, secrets, role)?));
    }
    files.insert("auth/kubeconfig", File::private(kubeconfig::admin(cluster, secrets, certificates)?));
    files.insert("metadata.json", File::public(ClusterMetadata::new(cluster, secrets).to_json()));
    Ok(files)
}
