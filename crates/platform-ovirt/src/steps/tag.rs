//! The cluster's tag, by which people and other tools find its machines.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use crate::site::Site;

/// The cluster's tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// Its name: the infra id.
    pub name: String,
}

pub(super) struct TagStep {
    pub(super) site: Site,
    pub(super) desired: Tag,
}

#[async_trait]
impl Step for TagStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        let Self { site, desired: Tag { name } } = self;
        match site.client.tag(name).await? {
            Some(tag) if site.mark.is_on(&tag.description) => {}
            Some(_) => return Err(site.foreign(format!("tag {name}")).into()),
            None => {
                let description = site.mark.description("machines of a cluster");
                site.client.create_tag(name, &description).await?;
            }
        }
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        let Self { site, desired: Tag { name } } = self;
        if let Some(tag) = site.client.tag(name).await?
            && site.mark.is_on(&tag.description)
        {
            site.client.delete_tag(&tag).await?;
        }
        Ok(())
    }
}
