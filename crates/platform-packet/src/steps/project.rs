//! The cluster's own project.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Error, Site};

/// A project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectStep {
    /// Its name.
    pub name: String,
    /// Who pays for it; nothing is the user's own organisation.
    #[serde(default)]
    pub organization: Option<String>,
    /// Its tags.
    #[serde(default)]
    pub tags: Vec<String>,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: ProjectStep,
}

impl Act {
    /// Something in the project that would go with it unasked. The platform itself keeps only projects that have machines.
    async fn inhabitant(&self, project: &str) -> Result<Option<String>, Error> {
        let client = &self.site.client;
        if let Some(block) = client.blocks(project).await?.first() {
            return Ok(Some(format!("address block {}/{}", block.network, block.cidr)));
        }
        if let Some(network) = client.virtual_networks(project).await?.first() {
            return Ok(Some(format!("virtual network {}", network.vxlan)));
        }
        Ok(client.ssh_keys(project).await?.first().map(|key| format!("SSH key {}", key.label)))
    }
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        if let Some(id) = self.site.find_project().await? {
            return Ok(Outputs::default().with("id", id));
        }
        let mut body = json!({"name": self.desired.name, "tags": self.desired.tags});
        if let Some(organization) = &self.desired.organization {
            body["organization_id"] = json!(organization);
        }
        let made = self.site.client.create_project(&body).await?;
        Ok(Outputs::default().with("id", made.id))
    }

    async fn remove(&self, _: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let recorded: Option<String> = outputs.and_then(|outputs| outputs.get("id"));
        for project in self.site.client.projects().await? {
            if recorded.as_ref() == Some(&project.id) || self.site.mark.is_on(&project.tags) {
                if let Some(inhabitant) = self.inhabitant(&project.id).await? {
                    let object = format!("{inhabitant} in the project {} of the cluster", project.name);
                    return Err(Error::Foreign { object }.into());
                }
                self.site.client.delete_project(&project.id).await?;
            }
        }
        Ok(())
    }
}
