//! The cluster's tag, by which people and other tools find its machines.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use super::Engine;

/// The cluster's tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// Its name: the infra id.
    pub name: String,
}

pub(super) struct TagStep {
    pub(super) engine: Engine,
    pub(super) desired: Tag,
}

#[async_trait]
impl Step for TagStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        let Self { engine, desired: Tag { name } } = self;
        match engine.client.tag(name).await? {
            Some(tag) if engine.mark.is_on(&tag.description) => {}
            Some(_) => return Err(engine.foreign(format!("tag {name}")).into()),
            None => {
                let description = engine.mark.description("machines of a cluster");
                engine.client.create_tag(name, &description).await?;
            }
        }
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        let Self { engine, desired: Tag { name } } = self;
        if let Some(tag) = engine.client.tag(name).await?
            && engine.mark.is_on(&tag.description)
        {
            engine.client.delete_tag(&tag).await?;
        }
        Ok(())
    }
}
