//! The server: connecting to it, what it has, what is on it.

use std::sync::Arc;
use std::time::Duration;

use landfall_platform::ErrorClass;
use landfall_platform_powervm::client::{Entry, LogicalPartition, Path};
use landfall_platform_powervm::compute::{self, Mac, Network, Nic, PartitionId};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::connection::Session;
use crate::failure::Failure;
use crate::machine;
use crate::task::Reporter;

/// The switch, and its VLAN, by which operating systems are connected to the management partition (RMC).
const MANAGEMENT_SWITCH: &str = "MGMTSWITCH";
const MANAGEMENT_VLAN: u16 = 4094;
/// Far beyond the numbers of a partition's other adapters.
const MANAGEMENT_NUMBER: usize = 0xffff;
/// Between two attempts to connect.
const PAUSE: Duration = Duration::from_secs(2);

/// Connects, and tries again while the console has a bad moment: it may be starting, as this program is.
pub(crate) async fn connect(
    session: &Session,
    patience_seconds: u64,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Value, Failure> {
    let deadline = Instant::now() + Duration::from_secs(patience_seconds);
    loop {
        let connected = match session.host().await {
            // A server without a VIOS that runs can do nothing for anybody.
            Ok(host) => ready(host).await.map_err(Failure::from),
            Err(failure) => Err(failure),
        };
        match connected {
            Ok(answer) => return Ok(answer),
            Err(failure) if failure.may_pass() && Instant::now() + PAUSE < deadline => {
                reporter.say("warning", format!("the server is not ready yet: {}", failure.message()));
            }
            // Here was patience enough.
            Err(failure) => return Err(failure.after_change()),
        }
        tokio::select! {
            () = cancel.cancelled() => return Err(Failure::invalid("stopped while waiting for the server")),
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}

/// What is said of a server that can be worked with.
async fn ready(host: Arc<compute::Host>) -> Result<Value, compute::Error> {
    let vioses = host.vioses().await?;
    let names: Vec<&str> = vioses.iter().map(|vios| vios.name.as_str()).collect();
    let key = compute::public_key(&host).await?;
    Ok(json!({"name": host.name(), "machine": host.system().machine, "vioses": names, "key": key}))
}

/// What the server has, and how much of it is in use.
pub(crate) async fn resources(session: &Session, volume_group: Option<&str>) -> Result<Value, Failure> {
    let host = session.host().await?;
    let resources = compute::resources(&host).await?;
    let mut value = json!(resources);
    if let Some(name) = volume_group {
        let (_, group) = super::disk::volume_group(&host, name).await?;
        value["storageGib"] = json!(group.capacity_gib);
        value["storageUsedGib"] = json!(group.capacity_gib - group.free_gib);
    } else {
        let pools = host.client().pools().await?;
        value["pool"] = json!(pools.first().map(|pool| &pool.id));
    }
    Ok(value)
}

/// The partitions that are instances, by their mark: others are on the server too, and an id of a partition is not quite that of
/// its instance.
pub(crate) async fn list(session: &Session) -> Result<Value, Failure> {
    let host = session.host().await?;
    let partitions = host.client().feed(&Path::feed("LogicalPartition")).await?;
    let instance = |entry: &Entry| {
        let uuid: Uuid = machine::instance(&entry.text("Description"))?;
        Some(json!({"uuid": uuid, "name": entry.text("PartitionName")}))
    };
    Ok(partitions.iter().filter_map(instance).collect())
}

/// A partition as it is, or nothing.
pub(crate) async fn partition(session: &Session, uuid: Uuid) -> Result<Value, Failure> {
    let host = session.host().await?;
    let path = Path::entry("LogicalPartition", PartitionId::from(uuid).as_str());
    match host.client().entry(&path).await {
        Ok(entry) => Ok(json!(LogicalPartition::read(&entry))),
        Err(error) if error.class() == ErrorClass::NotFound => Ok(Value::Null),
        Err(error) => Err(error.into()),
    }
}

/// The number of a pool of processors.
pub(crate) async fn processor_pool(session: &Session, name: &str) -> Result<Value, Failure> {
    let host = session.host().await?;
    let feed = Path::entry("ManagedSystem", &host.system().id).child("SharedProcessorPool");
    let pools = host.client().feed(&feed).await?;
    let found: Vec<u32> =
        pools.iter().filter(|pool| pool.text("PoolName") == name).filter_map(|pool| pool.number("PoolID")).collect();
    match found.as_slice() {
        [number] => Ok(json!(number)),
        [] => Err(Failure::missing(format!("there is no shared processor pool {name} on {}", host.name()))),
        _ => Err(Failure::invalid(format!("there are several shared processor pools {name} on {}", host.name()))),
    }
}

/// The ids of all VIOSes that run.
pub(crate) async fn vioses(session: &Session) -> Result<Value, Failure> {
    let vioses = session.host().await?.vioses().await?;
    Ok(vioses.into_iter().map(|vios| vios.id).collect())
}

/// The world-wide names of the ports of all VIOSes that run.
pub(crate) async fn ports(session: &Session) -> Result<Value, Failure> {
    let vioses = session.host().await?.vioses().await?;
    Ok(vioses.into_iter().flat_map(|vios| vios.ports).collect())
}

/// The adapter by which a partition is connected to the management partition, if there is a switch for that.
pub(crate) async fn management_nic(session: &Session, uuid: Uuid) -> Result<Value, Failure> {
    let host = session.host().await?;
    let switches = host.client().switches(&host.system().id).await?;
    if !switches.iter().any(|switch| switch.name == MANAGEMENT_SWITCH) {
        return Ok(Value::Null);
    }
    let network = Network::Bridged { switch: MANAGEMENT_SWITCH.to_owned(), vlan: MANAGEMENT_VLAN };
    Ok(json!(Nic { mac: Mac::of(&uuid.into(), MANAGEMENT_NUMBER), network }))
}
