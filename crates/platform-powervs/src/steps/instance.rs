//! A machine that is started with one of the cluster's configs.

use async_trait::async_trait;
use bytes::Bytes;
use landfall_platform::{Context, ErrorClass, MachineRef, Outputs, Step, StepError};
use secrecy::SecretString;
use serde_json::json;

use super::{id, object_storage::signer};
use crate::{
    machines::{Machines, Vm},
    plan::OBJECT_STORAGE,
};

pub(super) struct Act {
    pub(super) machines: Machines,
    /// What the machine is started with; of the bootstrap machine what it will fetch.
    pub(super) config: Option<Bytes>,
    pub(super) desired: Vm,
}

impl Act {
    /// What the platform hands to the machine. It is made when it is needed, because an address that it may hold grows old.
    async fn user_data(&self, context: &Context) -> Result<SecretString, StepError> {
        let site = &self.machines.site;
        let missing = || StepError::new(ErrorClass::Bug, format!("{} was not made", self.desired.ignition));
        let config = self.config.as_ref().ok_or_else(missing)?;
        let Some((bucket, object)) = &self.desired.boot_object else {
            return Ok(String::from_utf8_lossy(config).into_owned().into());
        };
        let storage: Option<String> = context.output(&OBJECT_STORAGE.into(), "id").ok();
        let signer = signer(site, storage.as_deref()).await?;
        let url = site.client.presigned(bucket, object, &signer, self.desired.boot_link);
        Ok(landfall_assets::replacement_config(&url, site.authority.as_deref(), config).into())
    }
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let name = &self.desired.name;
        let recorded: Option<String> = context.recorded("id");
        let known = match &recorded {
            // The journal is the cluster's own, so that one which lost its tag and its name is still the cluster's.
            Some(id) => self.machines.site.instance(id).await?.map(|found| found.instance),
            None => None,
        };
        let called = known.as_ref().map_or(name, |known| &known.server_name);
        let machine = MachineRef { name: called, id: known.as_ref().map(|known| known.id.as_str()) };
        let found = if let Some(found) = self.machines.standing(machine).await? {
            found
        } else {
            let user_data = self.user_data(context).await?;
            let made = self.machines.create(&self.desired, &user_data, context.progress()).await?;
            if let Some(made) = &made {
                context.note(id(made)).await?;
            }
            self.machines.active(name, made.as_deref(), context.progress()).await?
        };
        context.note(id(&found.instance.id)).await?;
        let found = if found.addresses.is_empty() {
            self.machines.addressed(name, &found.instance.id, context.progress()).await?
        } else {
            found
        };
        Ok(Outputs::default().with("id", found.instance.id).with("addresses", json!(found.addresses)))
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        if self.machines.site.workspace_of(context).await?.is_none() {
            return Ok(());
        }
        let recorded: Option<String> = outputs.and_then(|outputs| outputs.get("id"));
        let id = recorded.as_ref().or(self.desired.id.as_ref());
        Ok(self.machines.erase(&self.desired.name, id.map(String::as_str), context.progress()).await?)
    }
}
