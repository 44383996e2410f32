//! A machine that is started with one of the cluster's configs.

use async_trait::async_trait;
use landfall_platform::{Context, Machines as _, Outputs, Step, StepError};
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
        let device = self.machines.make(&self.desired, self.user_data.as_ref(), context.progress()).await?;
        let address = device.public_ipv4().or_else(|| device.addresses().first().copied());
        Ok(Outputs::default().with("id", device.id).with("addresses", json!(Vec::from_iter(address))))
    }

    async fn remove(&self, context: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        self.machines.delete(&self.desired.name, context.progress()).await
    }
}
