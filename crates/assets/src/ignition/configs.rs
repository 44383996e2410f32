//! The configs of all machines, and what goes with them.

use landfall_config::Role;
use landfall_platform::{File, FileSet};

use super::{document::Document, machine, pointer_config};
use crate::{
    Certificates, Cluster, Error, MachineRole, Secrets, kubeconfig,
    manifests::check_duplicates,
    metadata::ClusterMetadata,
    node::{KubernetesMachines, NodeConfig},
};

/// Files and units as an Ignition config of their own, for what is merged into a config that somebody else rendered. `name`
/// is for errors.
pub(crate) fn render(name: &str, config: NodeConfig) -> Result<Vec<u8>, Error> {
    let mut document = Document::default();
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

    // Masters serve workers, and the bootstrap machine serves both, so each config holds those of the roles it serves.
    let machines = KubernetesMachines { cluster, secrets, certificates };
    let worker = machine::render(cluster, MachineRole::Worker, machines.pool(Role::Worker, &[])?)?;
    let mut served = vec![(Role::Worker, worker)];
    let master = machine::render(cluster, MachineRole::Master, machines.pool(Role::Master, &served)?)?;
    served.push((Role::Master, master));
    let bootstrap = machines.bootstrap(&served, manifests)?;
    let bootstrap = machine::render(cluster, MachineRole::Bootstrap, bootstrap)?;

    let mut files = FileSet::default();
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
