//! The cluster's tag, by which people and other tools find its machines.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use crate::{client, site::Site};

/// The cluster's tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// Its name: the infra id.
    pub name: String,
    /// Its id in the engine, of one that was found there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

pub(super) struct TagStep {
    pub(super) site: Site,
    pub(super) desired: Tag,
}

#[async_trait]
impl Step for TagStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        let Self { site, desired: Tag { name, .. } } = self;
        // Machines are tagged by this name, so a tag of the cluster's with another name would be of no use.
        let tag = match site.client.tag(name).await? {
            Some(tag) if site.mark.is_on(&tag.description) => tag,
            Some(_) => return Err(site.foreign(format!("tag {name}")).into()),
            None => {
                let description = site.mark.description("machines of a cluster");
                site.client.create_tag(name, &description).await?
            }
        };
        Ok(Outputs::default().with("id", tag.id))
    }

    async fn remove(&self, _: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let Self { site, desired } = self;
        let recorded: Option<String> = outputs.and_then(|outputs| outputs.get("id"));
        let id = recorded.as_ref().or(desired.id.as_ref());
        let is_own =
            |tag: &client::Tag| id == Some(&tag.id) || tag.name == desired.name && site.mark.is_on(&tag.description);
        for tag in site.client.tags().await?.iter().filter(|tag| is_own(tag)) {
            site.client.delete_tag(tag).await?;
        }
        Ok(())
    }
}
