//! Object storage of the cluster's own, with the bucket that the bootstrap machine fetches its config from.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use super::id;
use crate::{
    Error, Site,
    client::{Bucket, HmacKey, ResourceInstance, ServiceId},
    own::Own,
};

/// Object storage is not in a region; its buckets are.
const EVERYWHERE: &str = "global";

/// Object storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectStorage {
    /// Its name.
    pub name: String,
    /// Its bucket.
    pub bucket: String,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: ObjectStorage,
}

/// The instance of a cluster's object storage, as far as it exists.
pub(crate) async fn stored(site: &Site) -> Result<Option<ResourceInstance>, Error> {
    instance(site, None).await
}

async fn instance(site: &Site, recorded: Option<&str>) -> Result<Option<ResourceInstance>, Error> {
    site.service_instance(ServiceId::OBJECT_STORAGE, &site.mark.object_storage(), recorded).await
}

/// The key that signs addresses of objects. It is secret, so no step tells it; it is read again where it is needed.
pub(crate) async fn signer(site: &Site, recorded: Option<&str>) -> Result<HmacKey, Error> {
    let missing = || Error::missing("the key of the cluster's object storage");
    let instance = instance(site, recorded).await?.ok_or_else(missing)?;
    let name = site.mark.name("cos-key");
    match site.client.hmac_key(&instance, &name).await? {
        Some(key) => Ok(key),
        None => site.client.create_hmac_key(&instance, &name).await?.ok_or_else(missing),
    }
}

impl Act {
    async fn create(&self) -> Result<ResourceInstance, Error> {
        let (group, tags) = (self.site.resource_group().await?, [self.site.mark.tag()]);
        let (service, name) = (ServiceId::OBJECT_STORAGE, &self.desired.name);
        self.site.client.create_resource_instance(service, name, EVERYWHERE, &group, &tags).await
    }

    async fn active(&self, recorded: Option<&str>, context: &Context) -> Result<ResourceInstance, Error> {
        let look = || async {
            match instance(&self.site, recorded).await? {
                Some(instance) if instance.state == "active" => Ok(Some(instance)),
                Some(instance) if instance.state == "failed" => Err(Error::Failed {
                    object: format!("object storage {}", self.desired.name),
                    reason: instance.reason(),
                    state: instance.state,
                }),
                Some(instance) if instance.state == "pending_reclamation" => {
                    self.site.client.reclaim(&instance.guid).await?;
                    Ok(None)
                }
                Some(instance) => {
                    context.report(instance.state);
                    Ok(None)
                }
                None => self.create().await.map(|_| None),
            }
        };
        self.site.until(look).await
    }
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let recorded: Option<String> = context.recorded("id");
        if instance(&self.site, recorded.as_deref()).await?.is_none() {
            context.note(id(&self.create().await?.guid)).await?;
        }
        let recorded: Option<String> = context.recorded("id");
        let instance = self.active(recorded.as_deref(), context).await?;
        context.note(id(&instance.guid)).await?;
        let bucket = Bucket { name: &self.desired.bucket, instance: &instance };
        self.site.client.ensure_bucket(bucket).await?;
        signer(&self.site, Some(&instance.guid)).await?;
        Ok(Outputs::default().with("id", instance.guid))
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let own = Own::new(&self.desired.name, outputs);
        let look = || async {
            let Some(instance) = instance(&self.site, own.recorded()).await? else { return Ok(Some(())) };
            match instance.state.as_str() {
                "pending_removal" => {}
                // What is deleted is kept for a week, unless it is given up.
                "pending_reclamation" => self.site.client.reclaim(&instance.guid).await?,
                _ => {
                    for key in self.site.client.objects(&self.desired.bucket).await? {
                        self.site.client.delete_object(&self.desired.bucket, &key).await?;
                    }
                    self.site.client.delete_bucket(&self.desired.bucket).await?;
                    self.site.client.delete_resource_instance(&instance).await?;
                }
            }
            context.report(format!("going ({})", instance.state));
            Ok(None)
        };
        Ok(self.site.until(look).await?)
    }
}
