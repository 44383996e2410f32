//! The kit for users with infrastructure of their own: a stage after the Ignition configs.

use landfall_assets::{Cluster, Secrets};
use landfall_platform::{File, FileSet};
use landfall_upi::{INVENTORY, Inventory, MACHINES, Made};
use landfall_workdir::{Digest, Inputs, Plan, Rendering, WorkDir};

use super::{KIT, desk::Desk};

/// What the kit is rendered from, besides the install-config and the Ignition configs.
#[derive(Debug)]
pub(crate) struct KitSource {
    pub(crate) inventory: Inventory,
    pub(crate) made: Made,
    /// The inventory, if there was none.
    pub(super) new: Option<File>,
}

impl KitSource {
    /// Reads the inventory as the user left it, or proposes one; and what is known of the machines that were made.
    pub(crate) fn read(dir: &WorkDir, cluster: &Cluster<'_>) -> anyhow::Result<Self> {
        let (inventory, new) = if let Some(file) = dir.read(INVENTORY)? {
            (Inventory::parse(&file.contents)?, None)
        } else {
            let inventory = Inventory::propose(cluster)?;
            let file = File::public(inventory.render());
            (inventory, Some(file))
        };
        let made = dir.read(MACHINES)?.map(|file| Made::parse(&file.contents)).transpose()?.unwrap_or_default();
        Ok(Self { inventory, made, new })
    }

    /// The plan of the kit. Files that nobody edited are written anew whenever something before them changed: the kit is made
    /// again and again while its inventory grows. Only what the user edited is asked about.
    pub(super) fn plan(
        &self,
        desk: &Desk<'_>,
        cluster: &Cluster<'_>,
        inputs: Inputs,
        configs: &FileSet,
        secrets: Option<&Secrets>,
    ) -> anyhow::Result<Plan> {
        let files = landfall_upi::kit(cluster, &self.inventory, &self.made, configs, secrets)?;
        let inputs = inputs
            .with(INVENTORY, Digest::of(serde_json::to_vec(&self.inventory)?))
            .with(MACHINES, Digest::of(serde_json::to_vec(&self.made)?));
        let rendering = Rendering::of_inputs(files, &inputs);
        desk.settle_own(KIT, &rendering, inputs)
    }
}
