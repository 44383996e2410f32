//! A server that did not answer when it was asked what it has of a cluster.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};

use crate::{Error, site::Site};

pub(super) struct UnaskedStep {
    pub(super) site: Site,
    pub(super) host: String,
}

#[async_trait]
impl Step for UnaskedStep {
    /// It is only ever found, never made.
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        Ok(Outputs::default())
    }

    /// Done once the server answers: what is there is found by the next look, and removed as what it is.
    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        let asked = self.site.member(&self.host)?.partitions().await;
        let unasked = |source| Error::Unasked { host: self.host.clone(), source: Box::new(source) };
        Ok(asked.map(drop).map_err(unasked)?)
    }
}
