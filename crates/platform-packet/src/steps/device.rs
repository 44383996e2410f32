//! A machine that is started with one of the cluster's configs.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use secrecy::SecretString;
use serde_json::json;

use crate::machines::{Device, Machines};

pub(super) struct Act {
    pub(super) machines: Machines,
    pub(super) user_data: Option<SecretString>,
    pub(super) desired: Device,
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let (machines, desired, progress) = (&self.machines, &self.desired, context.progress());
        let recorded: Option<String> = context.recorded("id");
        let id = machines.begin(desired, recorded.as_deref(), self.user_data.as_ref(), progress).await?;
        context.note(Outputs::default().with("id", id.as_str())).await?;
        let device = machines.finish(desired, &id, progress).await?;
        let address = device.public_ipv4().or_else(|| device.addresses().first().copied());
        Ok(Outputs::default().with("id", device.id).with("addresses", json!(Vec::from_iter(address))))
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let recorded: Option<String> = outputs.and_then(|outputs| outputs.get("id"));
        let id = recorded.as_ref().or(self.desired.id.as_ref());
        self.machines.site.recall(context);
        Ok(self.machines.erase(&self.desired.name, id.map(String::as_str), context.progress()).await?)
    }
}
