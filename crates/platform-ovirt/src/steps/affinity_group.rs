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
    /// Its id in the engine, of one that was found there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
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
        // Machines join it by this name, so a group of the cluster's with another name would be of no use.
        let group = match self.find().await? {
            Some(group) if site.mark.is_on(&group.description) => group,
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
                    .await?
            }
        };
        Ok(Outputs::default().with("id", group.id))
    }

    async fn remove(&self, _: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let Self { site, desired } = self;
        let recorded: Option<String> = outputs.and_then(|outputs| outputs.get("id"));
        let id = recorded.as_ref().or(desired.id.as_ref());
        let is_own = |group: &client::AffinityGroup| {
            id == Some(&group.id) || group.name == desired.name && site.mark.is_on(&group.description)
        };
        for group in site.client.affinity_groups(&desired.cluster_id).await?.iter().filter(|group| is_own(group)) {
            site.client.delete_affinity_group(&desired.cluster_id, group).await?;
        }
        Ok(())
    }
}
