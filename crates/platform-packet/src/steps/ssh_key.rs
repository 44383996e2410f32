//! An SSH key of the project, for consoles.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use crate::{Error, Site, client::SshKey};

/// An SSH key of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SshKeyStep {
    /// What it is called. Keys have no other mark.
    pub label: String,
    /// The public key.
    #[serde(default)]
    pub key: String,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: SshKeyStep,
}

impl Act {
    async fn find(&self, project: &str) -> Result<Option<SshKey>, Error> {
        let known = self.site.client.ssh_keys(project).await?;
        Ok(known.into_iter().find(|key| key.label == self.desired.label))
    }
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        let project = self.site.project().await?;
        if let Some(known) = self.find(&project).await? {
            return Ok(Outputs::default().with("id", known.id));
        }
        // With the key of a project this is answered with 404 though it succeeds, so what counts is whether it is there.
        self.site.client.create_ssh_key(&project, &self.desired.label, &self.desired.key).await?;
        let missing =
            || Error::Missing { object: format!("SSH key {}", self.desired.label), api: self.site.client.host() };
        let made = self.find(&project).await?.ok_or_else(missing)?;
        Ok(Outputs::default().with("id", made.id))
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        for project in self.site.projects().await? {
            if let Some(known) = self.find(&project).await? {
                self.site.client.delete_ssh_key(&known).await?;
            }
        }
        Ok(())
    }
}
