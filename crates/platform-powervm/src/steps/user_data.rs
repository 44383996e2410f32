//! The config drive of the bootstrap machine, which would stay in a media repository for as long as the machine exists.

use async_trait::async_trait;
use landfall_platform::{Context, MachineRef, Outputs, Step, StepError, bootstrap_step};
use serde::{Deserialize, Serialize};

use crate::machines::Machines;

/// A config drive that is taken out and deleted once its machine has read it.
///
/// Without a connection to its operating system (RMC) nothing can be taken from a partition that runs. Then it is left to the platform,
/// which empties the drive an hour after the start, rather than that the installation fails.
///
/// Ignition reads it at the first boot only, and writes down on the disk that it has: a machine that restarts afterwards comes up from
/// its disk, without the drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserData {
    /// Name of the machine.
    pub machine: String,
}

pub(super) struct UserDataStep {
    pub(super) machines: Machines,
    pub(super) desired: UserData,
}

#[async_trait]
impl Step for UserDataStep {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let recorded: Option<String> = context.output(&bootstrap_step(), "id").ok();
        let machine = MachineRef { name: &self.desired.machine, id: recorded.as_deref() };
        if !self.machines.delete_config_drive(machine).await? {
            context.report("its system has no RMC connection; the platform empties the drive an hour after the start");
        }
        Ok(Outputs::default())
    }

    /// What the drive was of goes with the machine.
    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(())
    }
}
