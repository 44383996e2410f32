//! Size and kind of machines, in the words of the Ansible collection.

use landfall_config::{
    ResolvedPool, Size,
    ovirt::{AutoPinningPolicy, DiskFormat, VmType},
};
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
    /// Whether machines get the topology of their host, less one core per socket, and are pinned to its processors.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resize_and_pin: bool,
    /// `raw` or `cow`: the format of disks that are independent of the template's. Without, that of the template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_format: Option<Format>,
    /// Whether such disks take up only what is written. Without, as in the template, or as goes with the format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_sparse: Option<bool>,
}

/// Format of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Plain blocks.
    Raw,
    /// qcow2.
    Cow,
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
            resize_and_pin: pool.auto_pinning_policy == AutoPinningPolicy::ResizeAndPin,
            disk_format: pool.format.map(|format| match format {
                DiskFormat::Raw => Format::Raw,
                DiskFormat::Cow => Format::Cow,
            }),
            disk_sparse: pool.sparse,
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

    /// Whether the Ansible collection can make disks of this kind: its raw ones are always allocated, and its qcow2 ones never.
    pub(super) fn has_common_disks(&self) -> bool {
        !matches!(
            (self.disk_format, self.disk_sparse),
            (Some(Format::Raw), Some(true)) | (Some(Format::Cow), Some(false))
        )
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
            resize_and_pin: false,
            ..master.clone()
        }
    }
}
