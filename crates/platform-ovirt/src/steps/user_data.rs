//! The user data of the bootstrap machine, which the engine would keep for as long as the machine exists.

use async_trait::async_trait;
use landfall_platform::{Context, MachineRef, Outputs, Step, StepError, bootstrap_step};
use serde::{Deserialize, Serialize};

use crate::machines::Machines;

/// User data that is emptied once its machine has read it.
///
/// Ignition reads it at the first boot only, and writes down on the disk that it has: a machine that restarts afterwards, by itself or
/// by the engine, comes up from its disk. Until a machine that runs is switched off, its host also has the data as the config drive that
/// was attached at the start.
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
        self.machines.empty_user_data(machine).await?;
        Ok(Outputs::default())
    }

    /// The data goes with the machine.
    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(())
    }
}
