//! Where IBM i loads itself from: the slot of its first disk, which is only known once that is mapped.

use std::sync::Arc;

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use crate::client::{Edit, Group, Path, linked_id};
use crate::compute::{Error, Host, PartitionId, document};

/// Where a partition loads itself from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::compute) struct LoadSource {
    pub(in crate::compute) partition: PartitionId,
}

pub(super) struct LoadSourceStep {
    pub(super) host: Arc<Host>,
    pub(super) desired: LoadSource,
}

#[async_trait]
impl Step for LoadSourceStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        let slot = self.first_slot().await?;
        let path = Host::path(&self.desired.partition);
        let edit = self.host.client().edit(&path, |partition| {
            let Some(io) = partition.child_mut("PartitionIOConfiguration") else { return Ok(Edit::Unchanged) };
            if io.text_at("TaggedIO/LoadSource") == Some(slot.to_string()) {
                return Ok(Edit::Unchanged);
            }
            io.replace(document::tagged_io(slot), &["MaximumVirtualIOSlots", "ProfileIOSlots", "TaggedIO"]);
            Ok(Edit::Changed)
        });
        edit.await.map_err(|error| self.host.failed("setting the load source", error))?;
        Ok(Outputs::default())
    }

    /// It goes with the partition.
    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(())
    }
}

impl LoadSourceStep {
    /// The lowest slot in which the partition is shown a disk.
    async fn first_slot(&self) -> Result<u32, Error> {
        let feed = Path::feed("VirtualIOServer").with(&[Group::ViosScsiMappings]);
        let vioses = self.host.client().feed(&feed).await;
        let vioses = vioses.map_err(|error| self.host.failed("reading what VIOSes map", error))?;
        let own = vioses.iter().filter_map(|vios| vios.object.child("VirtualSCSIMappings")).flat_map(|list| {
            list.all("VirtualSCSIMapping").filter(|mapping| {
                let owner = mapping.child("AssociatedLogicalPartition").and_then(linked_id);
                owner.is_some_and(|id| id.eq_ignore_ascii_case(self.desired.partition.as_str()))
                    && mapping.at("Storage/VirtualOpticalMedia").is_none()
            })
        });
        let slots = own.filter_map(|mapping| mapping.text_at("ClientAdapter/VirtualSlotNumber")?.parse().ok());
        let missing =
            || Error::Missing { what: "disk for IBM i to load itself from".to_owned(), host: self.host.label() };
        slots.min().ok_or_else(missing)
    }
}
