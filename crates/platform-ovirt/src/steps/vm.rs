//! A machine that is started with one of the cluster's Ignition configs.

use async_trait::async_trait;
use landfall_platform::{Context, Machines as _, Outputs, Step, StepError};
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
        let vm = self.machines.make(&self.desired, self.user_data.as_ref(), context.progress()).await?;
        Ok(Outputs::default().with("id", vm.id))
    }

    async fn remove(&self, context: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        self.machines.delete(&self.desired.name, context.progress()).await
    }
}
