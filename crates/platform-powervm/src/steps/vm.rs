//! A machine that is started with one of the cluster's Ignition configs.

use async_trait::async_trait;
use landfall_platform::{Context, Machines as _, Outputs, Step, StepError};
use secrecy::SecretString;

use crate::machines::{Machines, Partition};

pub(super) struct VmStep {
    pub(super) machines: Machines,
    pub(super) user_data: Option<SecretString>,
    pub(super) desired: Partition,
}

#[async_trait]
impl Step for VmStep {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let found = self.machines.make(&self.desired, self.user_data.as_ref(), context.progress()).await?;
        Ok(Outputs::default().with("id", found.partition.id).with("host", found.host))
    }

    async fn remove(&self, context: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        self.machines.delete(&self.desired.name, context.progress()).await
    }
}
