//! A machine that is started with one of the cluster's configs.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use landfall_platform::{Context, ErrorClass, Machines as _, Outputs, Step, StepError};
use secrecy::SecretString;
use serde_json::json;

use super::{id, object_storage::signer};
use crate::{
    client::InstanceStatus,
    machines::{Machines, Vm},
    own::Own,
};

/// How long the address of the bootstrap machine's config is good for. A machine that is made is started within minutes; one that has
/// to be started again by hand is by the same day.
const LIFETIME: Duration = Duration::from_hours(24);

pub(super) struct Act {
    pub(super) machines: Machines,
    /// What the machine is started with; of the bootstrap machine what it will fetch.
    pub(super) config: Option<Bytes>,
    pub(super) desired: Vm,
}

impl Act {
    /// What the platform hands to the machine. It is made when it is needed, because an address that it may hold grows old.
    async fn user_data(&self) -> Result<SecretString, StepError> {
        let site = &self.machines.site;
        let missing = || StepError::new(ErrorClass::Bug, format!("{} was not made", self.desired.ignition));
        let config = self.config.as_ref().ok_or_else(missing)?;
        let Some((bucket, object)) = &self.desired.boot_object else {
            return Ok(String::from_utf8_lossy(config).into_owned().into());
        };
        let signer = signer(site).await?;
        let url = site.client.presigned(bucket, object, &signer, LIFETIME);
        Ok(landfall_assets::replacement_config(&url, site.authority.as_deref(), config).into())
    }
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let name = &self.desired.name;
        let found = if let Some(found) = self.machines.standing(name).await? {
            found
        } else {
            let user_data = self.user_data().await?;
            let made = self.machines.create(&self.desired, &user_data, context.progress()).await?;
            if let Some(made) = &made {
                context.note(id(made)).await?;
            }
            self.machines.active(name, made.as_deref(), context.progress()).await?
        };
        let found =
            if found.addresses.is_empty() { self.machines.addressed(name, context.progress()).await? } else { found };
        Ok(Outputs::default().with("id", found.instance.id).with("addresses", json!(found.addresses)))
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let site = &self.machines.site;
        let Some(workspace) = site.workspace_of(context).await? else { return Ok(()) };
        self.machines.delete(&self.desired.name, context.progress()).await?;
        // One that lost its name goes by its id: that which was recorded, or that of one which was found by its tag.
        let own = Own::new(&self.desired.name, outputs);
        let found = site.mark.suffix(&self.desired.name).is_none().then_some(self.desired.name.as_str());
        for id in own.recorded().into_iter().chain(found) {
            let look = || async {
                let Some(instance) = site.client.instance(&workspace, id).await? else { return Ok(Some(())) };
                if instance.status != InstanceStatus::Deleting && instance.task_state != "deleting" {
                    site.client.delete_instance(&workspace, id, &instance.server_name).await?;
                }
                Ok(None)
            };
            site.until(look).await?;
        }
        Ok(())
    }
}
