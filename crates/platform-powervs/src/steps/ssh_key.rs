//! The SSH key that the platform puts into machines.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use crate::Site;

/// An SSH key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SshKey {
    /// Its name.
    pub name: String,
    /// The public key.
    pub key: String,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: SshKey,
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        let workspace = self.site.workspace().await?;
        let SshKey { name, key } = &self.desired;
        if self.site.client.ssh_key(&workspace, name).await?.is_none() {
            self.site.client.create_ssh_key(&workspace, name, key).await?;
        }
        Ok(Outputs::default().with("name", name.as_str()))
    }

    async fn remove(&self, context: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        let Some(workspace) = self.site.workspace_of(context).await? else { return Ok(()) };
        Ok(self.site.client.delete_ssh_key(&workspace, &self.desired.name).await?)
    }
}
