//! The SSH key that the platform puts into machines.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use crate::{Error, Site, client};

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
        match self.site.client.ssh_key(&workspace, name).await? {
            // Keys carry no mark, and another one would open machines to another person.
            Some(known) if bare(&known.ssh_key) != bare(key) => {
                return Err(Error::Foreign { object: format!("SSH key {name}") }.into());
            }
            Some(_) => {}
            None => self.site.client.create_ssh_key(&workspace, name, key).await?,
        }
        Ok(Outputs::default().with("name", name.as_str()))
    }

    async fn remove(&self, context: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        let Some(workspace) = self.site.workspace_of(context).await? else { return Ok(()) };
        // Of a key that was found only the name is known.
        let known = self.site.client.ssh_key(&workspace, &self.desired.name).await?;
        let is_other = |known: client::SshKey| bare(&known.ssh_key) != bare(&self.desired.key);
        if !self.desired.key.is_empty() && known.is_some_and(is_other) {
            return Ok(());
        }
        Ok(self.site.client.delete_ssh_key(&workspace, &self.desired.name).await?)
    }
}

/// Returns a public key without its comment, which the platform may change.
fn bare(key: &str) -> Vec<&str> {
    key.split_whitespace().take(2).collect()
}
