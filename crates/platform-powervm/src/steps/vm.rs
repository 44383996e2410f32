//! A machine that is started with one of the cluster's Ignition configs.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use secrecy::SecretString;

use crate::{
    compute::PartitionId,
    machines::{Machines, Partition},
};

pub(super) struct VmStep {
    pub(super) machines: Machines,
    pub(super) user_data: Option<SecretString>,
    pub(super) desired: Partition,
}

#[async_trait]
impl Step for VmStep {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        // Whoever makes a partition chooses its id, so that it is written down before there is anything to lose.
        let recorded: Option<PartitionId> = context.recorded("id");
        let id = recorded.unwrap_or_else(|| self.machines.site.mark.new_id());
        context.note(Outputs::default().with("id", id.as_str())).await?;
        let (user_data, progress) = (self.user_data.as_ref(), context.progress());
        let found = self.machines.make(&self.desired, Some(&id), user_data, progress).await?;
        Ok(Outputs::default().with("id", found.partition.id).with("host", found.host))
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let recorded: Option<String> = outputs.and_then(|outputs| outputs.get("id"));
        let id = recorded.as_ref().or(self.desired.id.as_ref());
        self.machines.erase(&self.desired.name, id.map(String::as_str), context.progress()).await
    }
}
