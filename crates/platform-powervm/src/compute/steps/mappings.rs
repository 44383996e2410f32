//! What VIOSes show to a partition: all of it in one update of each VIOS.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::join_all;
use landfall_platform::{Context, ErrorClass, Outputs, Step, StepError, StepId};
use serde::{Deserialize, Serialize};

use crate::compute::{Backing, FibrePort, Host, PartitionId, mapping::Change, volume};

/// What VIOSes show to a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::compute) struct Mappings {
    pub(in crate::compute) partition: PartitionId,
    /// The step that makes the partition, which knows its number: what an earlier partition of that number has left goes.
    pub(in crate::compute) scrub: Option<StepId>,
    /// Steps that tell what they have to show, in the order in which it shall be seen.
    pub(in crate::compute) sources: Vec<StepId>,
    /// Virtual Fibre Channel ports.
    pub(in crate::compute) fibre_ports: Vec<FibrePort>,
    /// Disks of storage servers that VIOSes shall forget when they show them no more. They are only found, never made: once one
    /// VIOS has let go of a disk, nothing but this says that it was the partition's.
    #[serde(default)]
    pub(in crate::compute) disks: Vec<Backing>,
}

/// What a step has to show, for the step that maps it.
pub(super) fn tell(backings: &[Backing]) -> Result<Outputs, StepError> {
    let value = serde_json::to_value(backings).map_err(|error| StepError::new(ErrorClass::Bug, error))?;
    Ok(Outputs::default().with("backings", value))
}

pub(super) struct MappingsStep {
    pub(super) host: Arc<Host>,
    pub(super) desired: Mappings,
}

#[async_trait]
impl Step for MappingsStep {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let partition = &self.desired.partition;
        let mut changes: BTreeMap<String, Vec<Change>> = BTreeMap::new();
        if let Some(step) = &self.desired.scrub {
            let number: u32 = context.output(step, "number")?;
            for vios in self.host.vioses().await? {
                changes.entry(vios.id).or_default().push(Change::Scrub { number });
            }
        }
        for source in &self.desired.sources {
            let backings: Vec<Backing> = context.output(source, "backings")?;
            for Backing { vios, storage, tag } in backings {
                let change = Change::Map { partition: partition.clone(), storage, tag, slot: None };
                changes.entry(vios).or_default().push(change);
            }
        }
        for port in &self.desired.fibre_ports {
            let change = Change::Connect { partition: partition.clone(), port: port.clone() };
            changes.entry(port.vios.clone()).or_default().push(change);
        }
        self.host.tidy(changes).await?;
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        let partition = &self.desired.partition;
        let changes = |vios: crate::compute::Vios| {
            let unmap = Change::Unmap { partition: partition.clone(), storage: None };
            let disconnect = Change::Disconnect { partition: partition.clone(), port: None };
            (vios.id, vec![unmap, disconnect])
        };
        let changes = self.host.vioses().await?.into_iter().map(changes).collect();
        self.host.change(changes).await?;
        let forgotten = join_all(self.desired.disks.iter().map(|disk| volume::forget(&self.host, disk))).await;
        Ok(forgotten.into_iter().collect::<Result<(), _>>()?)
    }
}
