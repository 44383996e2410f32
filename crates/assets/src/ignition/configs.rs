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
/// them. `edited` holds those of the files in `config-server/` that the user made their own: they are served in the place of
/// what would be rendered.
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
    edited: &FileSet,
) -> Result<FileSet, Error> {
    check_duplicates(manifests)?;

    // Masters serve workers, and the bootstrap machine serves both, so each config holds those of the roles it serves.
    let machines = KubernetesMachines { cluster, secrets, certificates };
    let mut files = FileSet::default();
    let mut served = Vec::new();
    for (role, machine_role) in [(Role::Worker, MachineRole::Worker), (Role::Master, MachineRole::Master)] {
        let path = served_config(role);
        let config = machine::render(cluster, machine_role, machines.pool(role, &served)?)?;
        served.push((role, edited.get(&path).map_or_else(|| config.clone(), |file| file.contents.clone())));
        // All private: their tokens and keys open the cluster.
        files.insert(path, File::private(config));
        files.insert(format!("{}.ign", role.name()), File::private(pointer_config(cluster, secrets, role)?));
    }
    let bootstrap = machines.bootstrap(&served, manifests)?;
    let bootstrap = machine::render(cluster, MachineRole::Bootstrap, bootstrap)?;

    files.insert("bootstrap.ign", File::private(bootstrap));
    files.insert("auth/kubeconfig", File::private(kubeconfig::admin(cluster, secrets, certificates)?));
    files.insert("metadata.json", File::public(ClusterMetadata::new(cluster, secrets).to_json()));
    Ok(files)
}

/// The file with the config that machines of a role are served.
pub fn served_config(role: Role) -> String {
    format!("config-server/{}.ign", role.name())
}
