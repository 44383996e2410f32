//! What is on a server, and what it has left.

use serde::Serialize;

use super::{Error, Host};
use crate::client::LogicalPartition;

/// All partitions of a server, in one call.
pub async fn list(host: &Host) -> Result<Vec<LogicalPartition>, Error> {
    host.client().partitions().await.map_err(|error| host.failed("reading the partitions", error))
}

/// What a server has, and how much of it is in use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resources {
    /// The server.
    pub name: String,
    /// Processing units.
    pub processors: f64,
    /// Processing units that partitions have.
    pub processors_used: f64,
    /// Memory.
    pub memory_mib: u64,
    /// Memory that partitions and the hypervisor have.
    pub memory_used_mib: u64,
    /// What memory comes in multiples of.
    pub memory_region_mib: u64,
    /// Storage for disks: of the shared storage pools, or else of the volume groups.
    pub storage_gib: f64,
    /// Storage that is in use.
    pub storage_used_gib: f64,
    /// Modes that partitions can run in.
    pub processor_modes: Vec<String>,
}

/// What a server has, and how much of it is in use.
pub async fn resources(host: &Host) -> Result<Resources, Error> {
    let failed = |error| host.failed("reading what the server has", error);
    let (systems, pools) = tokio::try_join!(host.client().systems(), host.client().pools()).map_err(failed)?;
    let system = systems.into_iter().find(|system| system.id == host.system().id);
    let system = system.ok_or_else(|| Error::Missing { what: "server of that id".to_owned(), host: host.label() })?;
    let (mut storage, mut free) = (0.0, 0.0);
    for pool in &pools {
        storage += pool.capacity_gib;
        free += pool.free_gib;
    }
    if pools.is_empty() {
        for vios in host.vioses().await? {
            for group in host.volume_groups(&vios.id).await? {
                storage += group.capacity_gib;
                free += group.free_gib;
            }
        }
    }
    Ok(Resources {
        processors: system.processors,
        processors_used: (system.processors - system.free_processors).max(0.0),
        memory_mib: system.memory_mib,
        memory_used_mib: system.memory_mib.saturating_sub(system.free_memory_mib),
        memory_region_mib: system.memory_region_mib,
        storage_gib: storage,
        storage_used_gib: (storage - free).max(0.0),
        processor_modes: system.processor_modes,
        name: system.name,
    })
}
