//! The object that the bootstrap machine's user data leads to, which would stay until the control plane has moved.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use crate::Site;

/// A config in a bucket that is deleted once its machine has fetched it.
///
/// The platform keeps the user data with the link to it, which leads nowhere from then on. Ignition reads user data at the first boot
/// only: a machine that restarts afterwards comes up from its disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserData {
    /// The bucket.
    pub bucket: String,
    /// Name of the object in it.
    pub key: String,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: UserData,
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        self.site.client.delete_object(&self.desired.bucket, &self.desired.key).await?;
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(())
    }
}
