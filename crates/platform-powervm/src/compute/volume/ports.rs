//! Giving virtual Fibre Channel ports to partitions that exist, and taking them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use landfall_platform::{Discover, StepError, StepSpec};

use crate::client::{Group, Path, linked_id};
use crate::compute::{
    Error, FibrePort, Host, OperationError, PartitionId, Run,
    operation::{Kind, Operation},
    steps::{Binder, Desired, FibrePorts, Object},
};

const TIMEOUT: Duration = Duration::from_mins(20);

/// Gives a partition virtual Fibre Channel ports, by which it sees volumes itself. Those that it has are as good.
pub async fn attach_fibre_ports(
    host: &Arc<Host>,
    partition: &PartitionId,
    ports: &[FibrePort],
    run: &Run,
) -> Result<(), OperationError> {
    let what = format!("Fibre Channel ports of partition {partition}");
    let refused = |source: Error| OperationError::Refused { what: what.clone(), source };
    host.check_changeable(partition).await.map_err(refused)?;
    let binder = Binder::new([Arc::clone(host)]);
    let operation = Operation { kind: Kind::FibrePorts, what: what.clone(), partition, run };
    operation.apply(vec![step(host, partition, ports)], &binder).await.map(drop)
}

/// Takes virtual Fibre Channel ports from a partition. That it has none of them is as good.
pub async fn detach_fibre_ports(
    host: &Arc<Host>,
    partition: &PartitionId,
    ports: &[FibrePort],
    run: &Run,
) -> Result<(), OperationError> {
    let what = format!("Fibre Channel ports of partition {partition}");
    let refused = |source: Error| OperationError::Refused { what: what.clone(), source };
    host.check_changeable(partition).await.map_err(refused)?;
    let binder = Binder::new([Arc::clone(host)]);
    let given = Given { host: Arc::clone(host), partition: partition.clone(), ports: ports.to_vec() };
    Operation { kind: Kind::FibrePorts, what: what.clone(), partition, run }.remove(&binder, &given).await
}

fn step(host: &Host, partition: &PartitionId, ports: &[FibrePort]) -> StepSpec {
    let object = Object::FibrePorts(FibrePorts { partition: partition.clone(), ports: ports.to_vec() });
    let names: Vec<&str> = ports.iter().map(|port| port.wwpns.0.as_str()).collect();
    let title = format!("Fibre Channel ports {}", names.join(", "));
    Desired { host: host.name().to_owned(), object }.step("fibre-ports", "mappings", title, Vec::new(), TIMEOUT)
}

/// Those ports that a partition has.
struct Given {
    host: Arc<Host>,
    partition: PartitionId,
    ports: Vec<FibrePort>,
}

#[async_trait]
impl Discover for Given {
    async fn discover(&self) -> Result<Vec<StepSpec>, StepError> {
        let feed = Path::feed("VirtualIOServer").with(&[Group::ViosFibreChannelMappings]);
        let vioses = self.host.client().feed(&feed).await;
        let vioses = vioses.map_err(|error| self.host.failed("reading the Fibre Channel ports of VIOSes", error))?;
        let lists = vioses.iter().filter_map(|vios| vios.object.child("VirtualFibreChannelMappings"));
        let mappings = lists.flat_map(|list| list.all("VirtualFibreChannelMapping"));
        let own = mappings.filter(|mapping| {
            let owner = mapping.child("AssociatedLogicalPartition").and_then(linked_id);
            owner.is_some_and(|id| id.eq_ignore_ascii_case(self.partition.as_str()))
        });
        let names: Vec<String> = own.filter_map(|mapping| mapping.text_at("ClientAdapter/WWPNs")).collect();
        let is_there = |port: &FibrePort| {
            let mut words = names.iter().flat_map(|pair| pair.split_whitespace());
            words.any(|name| name.eq_ignore_ascii_case(&port.wwpns.0))
        };
        let found: Vec<FibrePort> = self.ports.iter().filter(|port| is_there(port)).cloned().collect();
        Ok(if found.is_empty() { Vec::new() } else { vec![step(&self.host, &self.partition, &found)] })
    }
}
