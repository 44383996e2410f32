//! User data of each machine: the config of its role, with the machine's own credential.

use jiff::Timestamp;
use landfall_assets::{Cluster, Secrets};
use landfall_config::Role;
use landfall_platform::{File, FileSet};

/// Adds to the configs that machines have in common one for each machine of the cluster, with the credential of that machine. They are never written.
/// A machine that is made again by a later run gets another one: it may have another address than the one that has used the first.
pub(crate) fn with_credentials(
    mut files: FileSet,
    cluster: &Cluster<'_>,
    secrets: &Secrets,
    began: Timestamp,
) -> Result<FileSet, landfall_assets::Error> {
    let masters = std::iter::once((&cluster.config.control_plane, Role::Master));
    let workers = cluster.config.compute.iter().map(|pool| (pool, Role::Worker));
    for (pool, role) in masters.chain(workers) {
        let path = format!("{}.ign", role.name());
        let Some(shared) = files.get(&path).cloned() else { continue };
        for number in 0..pool.replicas {
            let name = format!("{}-{}-{number}", cluster.infra_id, pool.name);
            let own = secrets.with_credential(role, &name, Some(began), &path, &shared.contents)?;
            files.insert_for_machine(&path, &name, File::private(own));
        }
    }
    Ok(files)
}
