//! An SSH key of the project, for consoles.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use crate::{Error, Site, client::SshKey};

/// An SSH key of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SshKeyStep {
    /// What it is called.
    pub label: String,
    /// The public key.
    #[serde(default)]
    pub key: String,
    /// Its id, of one that was found on the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: SshKeyStep,
}

impl Act {
    /// The key with the id that was recorded, else the one with the label and the mark. One with the label alone is an error.
    async fn find(&self, project: &str, recorded: Option<String>) -> Result<Option<SshKey>, Error> {
        let known = self.site.client.ssh_keys(project).await?;
        if let Some(own) = known.iter().find(|key| recorded.as_ref() == Some(&key.id) || self.is_it(key)) {
            return Ok(Some(own.clone()));
        }
        match known.into_iter().find(|key| key.label == self.desired.label) {
            Some(foreign) => Err(Error::Foreign { object: format!("SSH key {}", foreign.label) }),
            None => Ok(None),
        }
    }

    fn is_it(&self, key: &SshKey) -> bool {
        key.label == self.desired.label && self.site.mark.is_on(&key.tags)
    }
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let project = self.site.project().await?;
        let SshKeyStep { label, key, .. } = &self.desired;
        if let Some(known) = self.find(&project, context.recorded("id")).await? {
            // Another key would open machines to another person.
            if bare(&known.key) != bare(key) {
                return Err(Error::Foreign { object: format!("SSH key {}", known.label) }.into());
            }
            return Ok(Outputs::default().with("id", known.id));
        }
        // With the key of a project this is answered with 404 though it succeeds, so what counts is whether it is there.
        let tags = self.site.mark.tags(label, &[]);
        self.site.client.create_ssh_key(&project, label, key, &tags).await?;
        let missing = || Error::Missing { object: format!("SSH key {label}"), api: self.site.client.host() };
        let made = self.find(&project, None).await?.ok_or_else(missing)?;
        Ok(Outputs::default().with("id", made.id))
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let recorded: Option<String> = outputs.and_then(|outputs| outputs.get("id"));
        let id = recorded.as_ref().or(self.desired.id.as_ref());
        for project in self.site.projects_of(context).await? {
            let known = self.site.client.ssh_keys(&project).await?;
            for own in known.iter().filter(|key| id == Some(&key.id) || self.is_it(key)) {
                self.site.client.delete_ssh_key(own).await?;
            }
        }
        Ok(())
    }
}

/// Returns a public key without its comment, which the platform may change.
fn bare(key: &str) -> Vec<&str> {
    key.split_whitespace().take(2).collect()
}
