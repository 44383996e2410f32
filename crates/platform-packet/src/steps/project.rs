//! The cluster's own project.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Site;

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

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        for project in self.site.client.projects().await? {
            if self.site.mark.is_on(&project.tags) {
                self.site.client.delete_project(&project.id).await?;
            }
        }
        Ok(())
    }
}
