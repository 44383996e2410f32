//! Affinity groups, which keep machines on different hosts.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use crate::{Error, client, site::Site};

/// A group that keeps its machines on different hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AffinityGroup {
    /// Its name in the engine.
    pub name: String,
    /// What it is for, as the user put it.
    pub description: String,
    /// Id of the cluster of hosts.
    pub cluster_id: String,
    /// Its priority.
    pub priority: u8,
    /// Whether a machine must rather not start than share a host.
    pub enforcing: bool,
}

pub(super) struct AffinityGroupStep {
    pub(super) site: Site,
    pub(super) desired: AffinityGroup,
}

impl AffinityGroupStep {
    async fn find(&self) -> Result<Option<client::AffinityGroup>, Error> {
        let groups = self.site.client.affinity_groups(&self.desired.cluster_id).await?;
        Ok(groups.into_iter().find(|group| group.name == self.desired.name))
    }
}

#[async_trait]
impl Step for AffinityGroupStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        let Self { site, desired } = self;
        match self.find().await? {
            Some(group) if site.mark.is_on(&group.description) => {}
            Some(_) => return Err(site.foreign(format!("affinity group {}", desired.name)).into()),
            None => {
                let description = site.mark.description(&desired.description);
                site.client
                    .create_affinity_group(
                        &desired.cluster_id,
                        &desired.name,
                        &description,
                        desired.priority,
                        desired.enforcing,
                    )
                    .await?;
            }
        }
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        if let Some(group) = self.find().await?
            && self.site.mark.is_on(&group.description)
        {
            self.site.client.delete_affinity_group(&self.desired.cluster_id, &group).await?;
        }
        Ok(())
    }
}
