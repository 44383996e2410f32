//! Volumes: found by VIOSes, for a partition that is made; or attached to one that exists.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};

use super::mappings;
use crate::compute::{
    Host,
    mapping::Change,
    volume::{self, VolumeSpec},
};

/// VIOSes know the volume; the step that maps everything maps it too.
pub(super) struct VolumeStep {
    pub(super) host: Arc<Host>,
    pub(super) spec: VolumeSpec,
}

#[async_trait]
impl Step for VolumeStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        let found = volume::find(&self.host, &self.spec).await?;
        Ok(mappings::tell(&found.backings)?.with("device", found.device))
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(volume::release(&self.host, &self.spec).await?)
    }
}

/// The partition has the volume.
pub(super) struct AttachmentStep {
    pub(super) host: Arc<Host>,
    pub(super) spec: VolumeSpec,
}

#[async_trait]
impl Step for AttachmentStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        let found = volume::find(&self.host, &self.spec).await?;
        let mut changes: BTreeMap<String, Vec<Change>> = BTreeMap::new();
        for backing in found.backings {
            let partition = self.spec.partition.clone();
            let change = Change::Map { partition, storage: backing.storage, tag: backing.tag, slot: None };
            changes.entry(backing.vios).or_default().push(change);
        }
        self.host.change(changes).await?;
        Ok(Outputs::default().with("device", found.device))
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(volume::release(&self.host, &self.spec).await?)
    }
}
