//! A block of addresses.

use std::net::IpAddr;

use async_trait::async_trait;
use landfall_config::packet::Location;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Error, Mark, Site, client::Block};

/// A block of addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addresses {
    /// What the plan calls it.
    pub name: String,
    /// The platform's word for what they are.
    pub kind: String,
    /// How many.
    pub quantity: u8,
    /// Where.
    pub location: Location,
    /// An address that the user has already. It is looked for, and left alone.
    #[serde(default)]
    pub given: Option<IpAddr>,
    /// Tags, the cluster's mark included.
    #[serde(default)]
    pub tags: Vec<String>,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: Addresses,
}

impl Act {
    async fn find(&self, project: &str, recorded: Option<String>) -> Result<Option<Block>, Error> {
        let all = self.site.client.blocks(project).await?;
        Ok(all.into_iter().find(|block| match self.desired.given {
            Some(given) => block.network == given,
            None => recorded.as_ref() == Some(&block.id) || self.is_it(block),
        }))
    }

    /// Returns true if a block carries the cluster's mark and the plan's name for it, both of which are tags. One with the mark that
    /// lost that name has the name ''.
    fn is_it(&self, block: &Block) -> bool {
        let name = Mark::name_in(&block.tags).unwrap_or_default();
        self.site.mark.is_on(&block.tags) && name == self.desired.name
    }
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let project = self.site.project().await?;
        let block = match (self.find(&project, context.recorded("id")).await?, self.desired.given) {
            (Some(block), _) => block,
            (None, Some(given)) => {
                return Err(Error::Missing {
                    object: format!("address {given} of the project"),
                    api: self.site.client.host(),
                }
                .into());
            }
            (None, None) => {
                let body = json!({
                    "type": self.desired.kind,
                    "quantity": self.desired.quantity,
                    self.desired.location.kind(): self.desired.location.code(),
                    "tags": self.desired.tags,
                    "fail_on_approval_required": true,
                });
                self.site.client.reserve(&project, &self.desired.name, &body).await?
            }
        };
        if block.state != "created" {
            let object = format!("the block of addresses for {}", self.desired.name);
            return Err(Error::State { object, state: block.state }.into());
        }
        let told = Outputs::default().with("id", block.id).with("addresses", json!([block.network]));
        Ok(if self.desired.given.is_some() { told.with("given", true) } else { told })
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        if self.desired.given.is_some() {
            return Ok(());
        }
        let recorded: Option<String> = outputs.and_then(|outputs| outputs.get("id"));
        for project in self.site.projects_of(context).await? {
            let all = self.site.client.blocks(&project).await?;
            for block in all.iter().filter(|block| recorded.as_ref() == Some(&block.id) || self.is_it(block)) {
                for assignment in &block.assignments {
                    self.site.client.unassign(assignment).await?;
                }
                self.site.client.release(block).await?;
            }
        }
        Ok(())
    }
}
