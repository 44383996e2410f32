//! The tag itself, which stays in the account when the last thing that carried it is gone.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use crate::Site;

/// The cluster's tag. It is made with the first object that carries it, so no plan has a step for it; it is found and removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// Its name.
    pub name: String,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: Tag,
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(self.site.client.delete_tag(&self.desired.name).await?)
    }
}
