//! A partition, without anything that is attached to it.

use std::sync::Arc;

use async_trait::async_trait;
use landfall_platform::{Context, ErrorClass, Outputs, Step, StepError};

use crate::client::Path;
use crate::compute::{Error, Host, PartitionId, PartitionSpec, document, power};

pub(super) struct PartitionStep {
    pub(super) host: Arc<Host>,
    pub(super) spec: PartitionSpec,
}

#[async_trait]
impl Step for PartitionStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        // Most of the time it is not there. If it is, because a reply was lost or a run was cut off, it cannot be made again.
        let number = match self.create().await {
            Ok(number) => {
                self.host.fresh.made(&self.spec.id);
                number
            }
            Err(error) => self.number().await?.ok_or(error)?,
        };
        Ok(Outputs::default().with("number", number))
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        self.host.fresh.forget(&self.spec.id);
        let client = self.host.client();
        let failed = |error| self.host.failed(format!("deleting partition {}", self.spec.name), error);
        let Err(error) = client.delete_partition(self.spec.id.as_str()).await else { return Ok(()) };
        // Somebody has switched it on, or an open console keeps it.
        power::unplug(&self.host, &self.spec.id).await?;
        if error.class() == ErrorClass::Invalid {
            close_console(&self.host, &self.spec.id).await;
        }
        client.delete_partition(self.spec.id.as_str()).await.map_err(failed)?;
        Ok(())
    }
}

impl PartitionStep {
    /// Its number, if it exists.
    async fn number(&self) -> Result<Option<u32>, Error> {
        match self.host.client().quick(&Host::path(&self.spec.id), "PartitionID").await {
            Ok(number) => Ok(number.as_u64().or_else(|| number.as_str()?.parse().ok()).and_then(|n| n.try_into().ok())),
            Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
            Err(error) => Err(self.host.failed(format!("looking for partition {}", self.spec.name), error)),
        }
    }

    async fn create(&self) -> Result<u32, Error> {
        let feed = Path::entry("ManagedSystem", &self.host.system().id).child("LogicalPartition");
        let made = self.host.client().create(&feed, &document::partition(&self.spec)).await;
        let made = made.map_err(|error| self.host.failed(format!("making partition {}", self.spec.name), error))?;
        Ok(made.number("PartitionID").unwrap_or_default())
    }
}

/// Closes the console of a partition. If none is open, so much the better.
pub(in crate::compute) async fn close_console(host: &Host, partition: &PartitionId) {
    let _closed = host.client().run_job(&Host::path(partition), "CloseVterm", &[], host.jobs()).await;
}
