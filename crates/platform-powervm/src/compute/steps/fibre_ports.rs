//! Virtual Fibre Channel ports of a partition that exists.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use crate::compute::{FibrePort, Host, PartitionId, mapping::Change};

/// Virtual Fibre Channel ports of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::compute) struct FibrePorts {
    pub(in crate::compute) partition: PartitionId,
    pub(in crate::compute) ports: Vec<FibrePort>,
}

pub(super) struct FibrePortsStep {
    pub(super) host: Arc<Host>,
    pub(super) desired: FibrePorts,
}

impl FibrePortsStep {
    fn changes(&self, change: impl Fn(PartitionId, FibrePort) -> Change) -> BTreeMap<String, Vec<Change>> {
        let mut changes: BTreeMap<String, Vec<Change>> = BTreeMap::new();
        for port in &self.desired.ports {
            let change = change(self.desired.partition.clone(), port.clone());
            changes.entry(port.vios.clone()).or_default().push(change);
        }
        changes
    }
}

#[async_trait]
impl Step for FibrePortsStep {
    async fn ensure(&self, _: &Context) -> Result<Outputs, StepError> {
        self.host.change(self.changes(|partition, port| Change::Connect { partition, port })).await?;
        Ok(Outputs::default())
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        let disconnect = |partition, port| Change::Disconnect { partition, port: Some(port) };
        self.host.change(self.changes(disconnect)).await?;
        Ok(())
    }
}
