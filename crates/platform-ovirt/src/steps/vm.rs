//! A machine that is started with one of the cluster's Ignition configs.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use secrecy::SecretString;

use crate::machines::{Machines, Vm};

pub(super) struct VmStep {
    pub(super) machines: Machines,
    pub(super) user_data: Option<SecretString>,
    pub(super) desired: Vm,
}

#[async_trait]
impl Step for VmStep {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let (machines, desired, progress) = (&self.machines, &self.desired, context.progress());
        let recorded: Option<String> = context.recorded("id");
        let begun = machines.begin(desired, recorded.as_deref(), self.user_data.as_ref(), progress).await?;
        context.note(Outputs::default().with("id", begun.id.as_str())).await?;
        let vm = machines.finish(desired, &begun, progress).await?;
        Ok(Outputs::default().with("id", vm.id))
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let recorded: Option<String> = outputs.and_then(|outputs| outputs.get("id"));
        let id = recorded.as_ref().or(self.desired.id.as_ref());
        self.machines.erase(&self.desired.name, id.map(String::as_str), context.progress()).await
    }
}
