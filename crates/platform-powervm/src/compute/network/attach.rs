//! Attaching network adapters to partitions that exist, and detaching them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use landfall_platform::{Discover, StepError, StepSpec};

use super::{NicsSpec, found};
use crate::compute::{
    Error, Host, Mac, Nic, OperationError, PartitionId, Run,
    operation::{Kind, Operation},
    steps::{Binder, Desired, Object},
};

const TIMEOUT: Duration = Duration::from_mins(20);

/// Gives a partition one more network adapter. One of the same address is as good.
///
/// A partition that runs must be connected (RMC): without that, only what it had when it was switched on is there.
pub async fn attach_nic(host: &Arc<Host>, partition: &PartitionId, nic: &Nic, run: &Run) -> Result<(), OperationError> {
    let what = format!("network adapter {} of partition {partition}", nic.mac);
    let refused = |source: Error| OperationError::Refused { what: what.clone(), source };
    host.check_changeable(partition).await.map_err(refused)?;
    let binder = Binder::new([Arc::clone(host)]);
    let operation = Operation { kind: Kind::Nic, what: what.clone(), partition, run };
    operation.apply(vec![step(host, partition, nic)], &binder).await.map(drop)
}

/// Takes a network adapter from a partition, with what it has elsewhere. That it has none of that address is as good.
pub async fn detach_nic(host: &Arc<Host>, partition: &PartitionId, mac: &Mac, run: &Run) -> Result<(), OperationError> {
    let what = format!("network adapter {mac} of partition {partition}");
    let refused = |source: Error| OperationError::Refused { what: what.clone(), source };
    host.check_changeable(partition).await.map_err(refused)?;
    let binder = Binder::new([Arc::clone(host)]);
    let plugged = Plugged { host: Arc::clone(host), partition: partition.clone(), mac: mac.clone() };
    Operation { kind: Kind::Nic, what: what.clone(), partition, run }.remove(&binder, &plugged).await
}

fn step(host: &Host, partition: &PartitionId, nic: &Nic) -> StepSpec {
    let object = Object::Nics(NicsSpec::of(partition, vec![nic.clone()]));
    let (id, title) = (format!("network-adapter/{}", nic.mac), format!("network adapter {}", nic.mac));
    Desired { host: host.name().to_owned(), object }.step(id.as_str(), "network-adapters", title, Vec::new(), TIMEOUT)
}

/// The adapter of an address, if there is one.
struct Plugged {
    host: Arc<Host>,
    partition: PartitionId,
    mac: Mac,
}

#[async_trait]
impl Discover for Plugged {
    async fn discover(&self) -> Result<Vec<StepSpec>, StepError> {
        let spec = found(&self.host, &self.partition).await?;
        let own = spec.nics.iter().find(|nic| nic.mac == self.mac);
        Ok(own.map(|nic| step(&self.host, &self.partition, nic)).into_iter().collect())
    }
}
