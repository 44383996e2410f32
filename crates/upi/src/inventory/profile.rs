//! Size and kind of machines, in the words of the Ansible collection.

use landfall_config::{ResolvedPool, Size, ovirt::VmType};
use serde::{Deserialize, Serialize};

/// Memory of the bootstrap machine, which lives for minutes and holds one control plane.
const BOOTSTRAP_MEMORY_MIB: u32 = 8192;

/// Size and kind of machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Sockets; not with an instance type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sockets: Option<u32>,
    /// Cores per socket; not with an instance type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Threads per core; not with an instance type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Memory in MiB; not with an instance type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<u32>,
    /// Memory in MiB that the host must have free; not with an instance type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guaranteed_memory_mib: Option<u32>,
    /// Id of the instance type that decides processors and memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_type_id: Option<String>,
    /// Size of the disk that the machine boots from, in GiB.
    pub os_disk_gib: u32,
    /// `desktop`, `server` or `high_performance`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether disks are independent of the template's.
    pub clone: bool,
    /// Whether the engine restarts a machine when its host fails.
    pub high_availability: bool,
    /// Size of huge pages in KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hugepages: Option<u32>,
}

impl Profile {
    /// The profile of a pool.
    pub(super) fn of(pool: &ResolvedPool, high_availability: bool) -> Self {
        let kind = match pool.vm_type {
            VmType::Desktop => "desktop",
            VmType::Server => "server",
            VmType::HighPerformance => "high_performance",
        };
        let nothing = Self {
            sockets: None,
            cores: None,
            threads: None,
            memory_mib: None,
            guaranteed_memory_mib: None,
            instance_type_id: None,
            os_disk_gib: pool.os_disk_gib,
            kind: kind.to_owned(),
            clone: pool.clone,
            high_availability,
            hugepages: pool.hugepages,
        };
        match pool.size {
            Size::InstanceType(id) => Self { instance_type_id: Some(id.to_string()), ..nothing },
            Size::Custom { sockets, cores, threads, memory_mib, guaranteed_memory_mib } => Self {
                sockets: Some(sockets),
                cores: Some(cores),
                threads: Some(threads),
                memory_mib: Some(memory_mib),
                guaranteed_memory_mib: Some(guaranteed_memory_mib),
                ..nothing
            },
        }
    }

    /// The profile of the bootstrap machine: like a master, but small and of the plain kind.
    pub(super) fn bootstrap(master: &Self) -> Self {
        Self {
            sockets: Some(1),
            cores: Some(4),
            threads: Some(1),
            memory_mib: Some(BOOTSTRAP_MEMORY_MIB),
            guaranteed_memory_mib: Some(BOOTSTRAP_MEMORY_MIB),
            instance_type_id: None,
            kind: "server".to_owned(),
            high_availability: false,
            hugepages: None,
            ..master.clone()
        }
    }
}
