//! BGP in the project. The platform has no way to take it back, and it does no harm to others.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};

use crate::{Error, Site};

pub(super) struct Act {
    pub(super) site: Site,
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        let project = self.site.project().await?;
        if self.site.client.bgp_config(&project).await?.status.is_none() {
            self.site.client.enable_bgp(&project).await?;
        }
        match self.site.client.bgp_config(&project).await?.status.as_deref() {
            Some("enabled") => Ok(Outputs::default()),
            status => {
                let state = status.unwrap_or("not enabled").to_owned();
                Err(Error::State { object: "BGP in the project".to_owned(), state }.into())
            }
        }
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(())
    }
}
