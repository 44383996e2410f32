//! The kit for users with infrastructure of their own: a stage after the Ignition configs.

use landfall_assets::Cluster;
use landfall_platform::{File, FileSet};
use landfall_upi::{INVENTORY, Inventory, MACHINES, Made};
use landfall_workdir::{Choice, Choices, Digest, Inputs, Plan, Rendering, Unsettled, WorkDir};

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
        let (inventory, new) = match dir.read(INVENTORY)? {
            Some(file) => (Inventory::parse(&file.contents)?, None),
            None => {
                let inventory = Inventory::propose(cluster)?;
                let file = File::public(inventory.render());
                (inventory, Some(file))
            }
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
    ) -> anyhow::Result<Plan> {
        let files = landfall_upi::kit(cluster, &self.inventory, &self.made, configs)?;
        let inputs = inputs
            .with(INVENTORY, Digest::of(serde_json::to_vec(&self.inventory)?))
            .with(MACHINES, Digest::of(serde_json::to_vec(&self.made)?));
        let rendering = Rendering::of_inputs(files, &inputs);
        match desk.settle(KIT, &rendering, inputs.clone()) {
            Err(error) => {
                let Some(open) = error.downcast_ref::<Unsettled>() else { return Err(error) };
                let choices = regenerating(desk.choices, open);
                let desk = Desk { dir: desk.dir, record: desk.record.clone(), choices: &choices };
                desk.settle(KIT, &rendering, inputs)
            }
            plan => plan,
        }
    }
}

/// The user's choices, and that what they did not edit is written anew.
fn regenerating(choices: &Choices, open: &Unsettled) -> Choices {
    let untouched = open.files.iter().filter(|file| !file.edited);
    untouched.fold(choices.clone(), |choices, file| choices.with(file.path.clone(), Choice::Regenerate))
}
