//! A virtual network.

use async_trait::async_trait;
use landfall_config::packet::Location;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Error, Mark, Site, client::VirtualNetwork};

/// A virtual network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// What the plan calls it.
    pub name: String,
    /// Where.
    pub location: Location,
    /// Its number; nothing lets the platform choose.
    #[serde(default)]
    pub vxlan: Option<u32>,
    /// Tags, the cluster's mark included.
    #[serde(default)]
    pub tags: Vec<String>,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: Network,
}

impl Act {
    async fn find(&self, project: &str, recorded: Option<String>) -> Result<Option<VirtualNetwork>, Error> {
        let all = self.site.client.virtual_networks(project).await?;
        let is_it = |network: &VirtualNetwork| recorded.as_ref() == Some(&network.id) || self.is_it(network);
        Ok(all.into_iter().find(is_it))
    }

    /// Returns true if a network carries the cluster's mark and the plan's name for it, both of which are tags. One with the mark
    /// that lost that name has the name ''.
    fn is_it(&self, network: &VirtualNetwork) -> bool {
        let name = Mark::name_in(&network.tags).unwrap_or_default();
        self.site.mark.is_on(&network.tags) && name == self.desired.name
    }
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let project = self.site.project().await?;
        let network = if let Some(network) = self.find(&project, context.recorded("id")).await? {
            network
        } else {
            let mut body = json!({
                self.desired.location.kind(): self.desired.location.code(),
                "description": self.site.mark.name(&self.desired.name),
                "tags": self.desired.tags,
            });
            if let Some(vxlan) = self.desired.vxlan {
                body["vxlan"] = json!(vxlan);
            }
            self.site.client.create_virtual_network(&project, &body).await?
        };
        Ok(Outputs::default().with("id", network.id).with("vxlan", network.vxlan))
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let recorded: Option<String> = outputs.and_then(|outputs| outputs.get("id"));
        for project in self.site.projects_of(context).await? {
            let all = self.site.client.virtual_networks(&project).await?;
            let is_own = |network: &&VirtualNetwork| recorded.as_ref() == Some(&network.id) || self.is_it(network);
            for network in all.iter().filter(is_own) {
                self.site.client.delete_virtual_network(network).await?;
            }
        }
        Ok(())
    }
}
