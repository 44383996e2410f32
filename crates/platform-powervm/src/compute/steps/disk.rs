//! A disk of a partition.

use std::sync::Arc;

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};

use super::mappings;
use crate::compute::{
    Host,
    disk::{self, DiskSpec},
};

pub(super) struct DiskStep {
    pub(super) host: Arc<Host>,
    pub(super) spec: DiskSpec,
}

#[async_trait]
impl Step for DiskStep {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        mappings::tell(&disk::ensure(&self.host, &self.spec, context.progress()).await?)
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(disk::remove(&self.host, &self.spec).await?)
    }
}
