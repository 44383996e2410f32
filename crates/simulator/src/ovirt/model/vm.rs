//! Virtual machines and what hangs on them.

use std::net::IpAddr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::words::{SnapshotStatus, SnapshotType, VmAffinity, VmStatus};
use crate::core::Instant;
use crate::ovirt::agenda::Key;
use crate::ovirt::representation::Tree;
use crate::ovirt::table::{Id, entities};

entities!(Vm);

/// A virtual machine.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Vm {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) comment: Box<str>,
    pub(crate) cluster: Id,
    pub(crate) template: Id,
    /// The template it was made from, also when it no longer depends on it.
    pub(crate) original_template: Id,
    pub(crate) instance_type: Option<Id>,
    pub(crate) cpu_profile: Option<Id>,
    pub(crate) quota: Option<Id>,
    /// What can be configured: the fields of `VM_BASE`. Shared with the template where it is the same.
    pub(crate) config: Arc<Tree>,
    /// The configuration for the next start, if it was changed while the VM ran.
    pub(crate) next_run: Option<Arc<Tree>>,
    pub(crate) placement: Placement,
    pub(crate) status: VmStatus,
    /// The state that the last command asked for.
    pub(crate) requested: Power,
    /// What will happen to `status` next, if anything is due.
    pub(crate) pending: Option<Key>,
    /// How many times longer than usual its changes take, until it comes to rest.
    pub(crate) slowdown: u32,
    /// The job that ends when it comes to rest.
    pub(crate) job: Option<Id>,
    pub(crate) host: Option<Id>,
    /// Where it is migrating to.
    pub(crate) destination: Option<Id>,
    pub(crate) created: Instant,
    pub(crate) started: Option<Instant>,
    pub(crate) stopped: Option<Instant>,
    pub(crate) stop_reason: Option<Box<str>>,
    /// Whether it runs with a configuration given for this run only.
    pub(crate) run_once: bool,
    /// Whether it ran before: user data is delivered at the first start only.
    pub(crate) initialized: bool,
    /// The configuration for this run only.
    pub(crate) run_config: Option<Arc<Tree>>,
    /// The config drive that this run was given.
    pub(crate) drive: Option<Box<crate::ovirt::configdrive::Drive>>,
    pub(crate) disks: Vec<Attachment>,
    pub(crate) nics: Vec<Nic>,
    pub(crate) consoles: Vec<Console>,
    pub(crate) cdrom: Cdrom,
    pub(crate) snapshots: Vec<Snapshot>,
    pub(crate) tags: Vec<Id>,
    pub(crate) numa_nodes: Vec<NumaNode>,
    pub(crate) watchdogs: Vec<Device>,
    /// Whether a guest was started in it.
    pub(crate) guest_started: bool,
    pub(crate) guest: Option<Box<GuestReport>>,
}

/// Whether a VM is wanted on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Power {
    /// Off.
    Down,
    /// Running.
    Up,
    /// Saved to disk.
    Suspended,
}

/// Where a VM may run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Placement {
    pub(crate) affinity: VmAffinity,
    /// The hosts it is restricted to; empty means any.
    pub(crate) hosts: Vec<Id>,
}

/// A disk in the hands of a VM or template. Its id in the API is the disk's.
#[allow(clippy::struct_excessive_bools, reason = "the flags are the API's")]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Attachment {
    pub(crate) disk: Id,
    pub(crate) interface: Box<str>,
    pub(crate) active: bool,
    pub(crate) bootable: bool,
    pub(crate) pass_discard: bool,
    pub(crate) read_only: bool,
    pub(crate) uses_scsi_reservation: bool,
}

/// A network interface of a VM or template.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Nic {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) interface: Box<str>,
    pub(crate) mac: Box<str>,
    pub(crate) plugged: bool,
    pub(crate) linked: bool,
    pub(crate) profile: Option<Id>,
    pub(crate) filter_parameters: Vec<FilterParameter>,
}

/// A parameter of the network filter of an interface.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FilterParameter {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) value: Box<str>,
}

/// A graphics console: `vnc` or `spice`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Console {
    pub(crate) protocol: Box<str>,
}

/// The one CD-ROM drive, and the image in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cdrom {
    pub(crate) id: Id,
    pub(crate) file: Option<Box<str>>,
}

/// A device without behaviour of its own, kept as it was described.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Device {
    pub(crate) id: Id,
    pub(crate) tree: Tree,
}

/// A virtual NUMA node, made by automatic pinning.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NumaNode {
    pub(crate) id: Id,
    pub(crate) index: u32,
    pub(crate) memory_mib: u64,
    pub(crate) cpus: Vec<u32>,
}

/// A point in time that a VM can go back to, or the present.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    pub(crate) id: Id,
    pub(crate) description: Box<str>,
    pub(crate) kind: SnapshotType,
    pub(crate) status: SnapshotStatus,
    pub(crate) created: Instant,
    pub(crate) persist_memory: bool,
    /// The configuration and the sizes of the disks as they were; `None` for the present.
    pub(crate) frozen: Option<Frozen>,
}

/// What a snapshot keeps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Frozen {
    pub(crate) config: Arc<Tree>,
    pub(crate) disks: Vec<FrozenDisk>,
    pub(crate) nics: Vec<Nic>,
}

/// A disk as a snapshot keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FrozenDisk {
    pub(crate) disk: Id,
    pub(crate) image: Id,
    pub(crate) provisioned_bytes: u64,
    pub(crate) actual_bytes: u64,
}

/// What the guest agent said.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct GuestReport {
    pub(crate) hostname: Option<Box<str>>,
    pub(crate) interfaces: Vec<ReportedInterface>,
}

/// An interface as the guest sees it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReportedInterface {
    pub(crate) name: Box<str>,
    pub(crate) mac: Box<str>,
    pub(crate) addresses: Vec<IpAddr>,
}

impl Vm {
    /// The configuration that this run has.
    pub(crate) fn effective(&self) -> &Arc<Tree> {
        self.run_config.as_ref().unwrap_or(&self.config)
    }

    /// Its memory in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        bytes(self.effective().int("memory"))
    }

    /// The memory that its host must have for it, in bytes.
    pub(crate) fn guaranteed_bytes(&self) -> u64 {
        let guaranteed = self.effective().sub("memory_policy").and_then(|policy| policy.int("guaranteed"));
        guaranteed.map_or_else(|| self.memory_bytes(), |guaranteed| bytes(Some(guaranteed)))
    }

    /// Its virtual processors.
    pub(crate) fn cpus(&self) -> u32 {
        let topology = self.effective().at(&["cpu", "topology"]);
        let part = |name| topology.and_then(|topology| topology.int(name)).unwrap_or(1).max(1);
        u32::try_from(part("sockets").saturating_mul(part("cores")).saturating_mul(part("threads"))).unwrap_or(u32::MAX)
    }

    /// The operating system it is said to run.
    pub(crate) fn os_type(&self) -> &str {
        self.effective().sub("os").and_then(|os| os.text("type")).unwrap_or("other")
    }

    /// Whether it occupies a host.
    pub(crate) fn is_running(&self) -> bool {
        self.status.is_running()
    }
}

impl VmStatus {
    /// Whether a VM in this state occupies a host.
    pub(crate) fn is_running(self) -> bool {
        !matches!(self, Self::Down | Self::ImageLocked | Self::Suspended)
    }
}

fn bytes(value: Option<i64>) -> u64 {
    value.and_then(|value| u64::try_from(value).ok()).unwrap_or_default()
}
