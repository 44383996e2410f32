//! The network adapters of a partition, and what they need of a server that it is not on yet.

use std::sync::Arc;

use async_trait::async_trait;
use landfall_platform::{Context, ErrorClass, Outputs, Step, StepError};

use crate::compute::{
    Host,
    network::{self, NicsSpec},
};

pub(super) struct NicsStep {
    pub(super) host: Arc<Host>,
    pub(super) spec: NicsSpec,
}

#[async_trait]
impl Step for NicsStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        network::ensure(&self.host, &self.spec).await?;
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(network::remove(&self.host, &self.spec).await?)
    }
}

pub(super) struct LinksStep {
    pub(super) host: Arc<Host>,
    pub(super) spec: NicsSpec,
}

#[async_trait]
impl Step for LinksStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        let vlans = network::prepare(&self.host, &self.spec).await?;
        let vlans = serde_json::to_value(vlans).map_err(|error| StepError::new(ErrorClass::Bug, error))?;
        Ok(Outputs::default().with("vlans", vlans))
    }

    /// A partition that has come needs them.
    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        if self.host.partition(&self.spec.partition).await?.is_none() {
            network::remove(&self.host, &self.spec).await?;
        }
        Ok(())
    }
}
