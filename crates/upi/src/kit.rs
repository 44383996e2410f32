//! The kit as a whole.

use landfall_assets::{Cluster, Secrets};
use landfall_platform::FileSet;

use crate::{Error, Inventory, Made, dhcp, dns, ignition, load_balancer, playbooks};

/// Where the kit lies in the install directory.
pub const KIT_DIRECTORY: &str = "upi";
/// The file that the user edits.
pub const INVENTORY: &str = "upi/inventory.yml";
/// The file that `vms.yml` writes.
pub const MACHINES: &str = "upi/machines.json";
/// Where the machines' Ignition configs lie in the kit.
pub const IGNITION_DIRECTORY: &str = "ignition";

/// Everything in the kit but the inventory, with paths relative to the install directory.
///
/// `configs` are the Ignition configs of the install directory, `made` what is known of machines that exist already. `secrets` give each machine a
/// credential of its own; none where the distribution's config server asks for no credential.
pub fn kit(
    cluster: &Cluster<'_>,
    inventory: &Inventory,
    made: &Made,
    configs: &FileSet,
    secrets: Option<&Secrets>,
) -> Result<FileSet, Error> {
    if inventory.infra_id != cluster.infra_id.as_str() {
        let (theirs, ours) = (&inventory.infra_id, cluster.infra_id);
        return Err(Error::Inventory(format!("it is that of cluster {theirs}, and this directory is that of {ours}")));
    }
    let mut files = playbooks::files();
    files.extend(dns::files(cluster, inventory));
    files.extend(dhcp::files(inventory, made));
    files.extend(load_balancer::files(cluster, inventory));
    files.extend(ignition::files(inventory, made, configs, secrets)?);
    Ok(files.iter().map(|(path, file)| (format!("{KIT_DIRECTORY}/{path}"), file.clone())).collect())
}
