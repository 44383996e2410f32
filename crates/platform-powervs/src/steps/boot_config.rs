//! The config of the bootstrap machine, which is too large for user data.

use async_trait::async_trait;
use bytes::Bytes;
use landfall_platform::{Context, ErrorClass, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use crate::Site;

/// A config in a bucket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootConfig {
    /// The bucket.
    pub bucket: String,
    /// Name of the object in it.
    pub key: String,
    /// Name of the file with the config. The config itself holds secrets.
    pub ignition: String,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: BootConfig,
    pub(super) contents: Option<Bytes>,
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        let missing = || StepError::new(ErrorClass::Bug, format!("{} was not made", self.desired.ignition));
        let contents = self.contents.clone().ok_or_else(missing)?;
        self.site.client.put_object(&self.desired.bucket, &self.desired.key, contents).await?;
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(self.site.client.delete_object(&self.desired.bucket, &self.desired.key).await?)
    }
}
