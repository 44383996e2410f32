//! Steps of migrations: what the source lets go, what the target takes over, and the move itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use super::mappings;
use crate::client::Storage;
use crate::compute::{
    Backing, Error, Host, PartitionId,
    disk::{self, DiskSpec},
    mapping::Change,
    migration::Move,
};

/// What VIOSes have shown to a partition, and show it no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::compute) struct Released {
    pub(in crate::compute) partition: PartitionId,
    /// What it was, so that it can be shown again.
    pub(in crate::compute) backings: Vec<Backing>,
}

pub(super) struct ReleasedStep {
    pub(super) host: Arc<Host>,
    pub(super) desired: Released,
}

impl ReleasedStep {
    fn changes(&self, change: impl Fn(&Backing) -> Change) -> BTreeMap<String, Vec<Change>> {
        let mut changes: BTreeMap<String, Vec<Change>> = BTreeMap::new();
        for backing in &self.desired.backings {
            changes.entry(backing.vios.clone()).or_default().push(change(backing));
        }
        changes
    }
}

#[async_trait]
impl Step for ReleasedStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        let partition = || self.desired.partition.clone();
        let unmap =
            |backing: &Backing| Change::Unmap { partition: partition(), storage: Some(backing.storage.clone()) };
        self.host.change(self.changes(unmap)).await?;
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        let map = |backing: &Backing| Change::Map {
            partition: self.desired.partition.clone(),
            storage: backing.storage.clone(),
            tag: backing.tag.clone(),
            slot: None,
        };
        self.host.change(self.changes(map)).await?;
        Ok(())
    }
}

/// A logical unit that exists, and outlives whoever is shown it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::compute) struct Kept {
    pub(in crate::compute) device: String,
    /// The disk that it is, if it shall be as large as that says. It stays so.
    pub(in crate::compute) disk: Option<DiskSpec>,
}

pub(super) struct KeptStep {
    pub(super) host: Arc<Host>,
    pub(super) desired: Kept,
}

#[async_trait]
impl Step for KeptStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        if let Some(disk) = &self.desired.disk {
            disk::grow(&self.host, disk).await?;
        }
        let storage = Storage::LogicalUnit(self.desired.device.clone());
        let clusters = self.host.client().clusters().await;
        let clusters = clusters.map_err(|error| self.host.failed("reading the clusters of VIOSes", error))?;
        let nodes: Vec<String> =
            clusters.into_iter().flat_map(|cluster| cluster.nodes).filter_map(|node| node.vios).collect();
        let vioses = self.host.vioses().await?;
        let of_cluster = vioses.iter().filter(|vios| nodes.iter().any(|id| id.eq_ignore_ascii_case(&vios.id)));
        let backings: Vec<Backing> =
            of_cluster.map(|vios| Backing { vios: vios.id.clone(), storage: storage.clone(), tag: None }).collect();
        if backings.is_empty() {
            let what = "VIOS that runs and sees the shared storage pool".to_owned();
            return Err(Error::Missing { what, host: self.host.label() }.into());
        }
        mappings::tell(&backings)
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(())
    }
}

/// The SSH key of another server's console, which may connect to this one's: that is how partitions come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::compute) struct Trusted {
    pub(in crate::compute) key: String,
}

pub(super) struct TrustedStep {
    pub(super) host: Arc<Host>,
    pub(super) desired: Trusted,
}

#[async_trait]
impl Step for TrustedStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        let authorised = self.host.client().authorise_key(&self.desired.key).await;
        authorised.map_err(|error| self.host.failed("authorising the SSH key of another console", error))?;
        Ok(Outputs::default())
    }

    /// It stays: other partitions may be on their way by it.
    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(())
    }
}

pub(super) struct MoveStep {
    pub(super) host: Arc<Host>,
    pub(super) desired: Move,
}

#[async_trait]
impl Step for MoveStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        self.desired.perform(&self.host).await?;
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(self.desired.undo(&self.host).await?)
    }
}
