//! Another shape of a partition: off, changed, larger disks.

use std::sync::Arc;

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use crate::compute::{
    Host, PartitionId, Power, Start,
    disk::{self, DiskSpec},
    power::{self, power},
    resize::Reshape,
};

/// A partition that is off for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::compute) struct Off {
    pub(in crate::compute) partition: PartitionId,
    /// Whether it ran before, and shall run again if the operation is undone.
    pub(in crate::compute) ran: bool,
}

pub(super) struct OffStep {
    pub(super) host: Arc<Host>,
    pub(super) desired: Off,
}

#[async_trait]
impl Step for OffStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        power(&self.host, &self.desired.partition, Power::ShutDown).await?;
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        if self.desired.ran {
            power::on(&self.host, &self.desired.partition, &Start::default()).await?;
        }
        Ok(())
    }
}

pub(super) struct ReshapeStep {
    pub(super) host: Arc<Host>,
    pub(super) desired: Reshape,
}

#[async_trait]
impl Step for ReshapeStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        self.desired.set(&self.host, &self.desired.after).await?;
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(self.desired.set(&self.host, &self.desired.before).await?)
    }
}

pub(super) struct GrowthStep {
    pub(super) host: Arc<Host>,
    pub(super) disk: DiskSpec,
}

#[async_trait]
impl Step for GrowthStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        disk::grow(&self.host, &self.disk).await?;
        Ok(Outputs::default())
    }

    /// What has grown stays as large as it is: nobody knows what was written beyond its old end.
    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(())
    }
}
