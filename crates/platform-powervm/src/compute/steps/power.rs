//! That a partition runs.

use std::sync::Arc;

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use crate::compute::{Host, PartitionId, Start, power};

/// A partition that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::compute) struct Running {
    pub(in crate::compute) partition: PartitionId,
    pub(in crate::compute) start: Start,
    /// That it was seen running: then nobody need look before it is switched off.
    #[serde(default)]
    pub(in crate::compute) seen: bool,
}

pub(super) struct PowerStep {
    pub(super) host: Arc<Host>,
    pub(super) desired: Running,
}

#[async_trait]
impl Step for PowerStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        power::on(&self.host, &self.desired.partition, &self.desired.start).await?;
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        let (host, partition) = (&self.host, &self.desired.partition);
        if self.desired.seen {
            return Ok(power::pull(host, partition).await?);
        }
        Ok(power::unplug(host, partition).await?)
    }
}
