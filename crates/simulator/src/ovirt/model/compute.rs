//! Data centres, clusters, hosts, and the rules for placing VMs.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::words::{HostStatus, QuotaMode};
use crate::ovirt::agenda::Key;
use crate::ovirt::representation::Tree;
use crate::ovirt::table::{Id, entities};

entities!(DataCenter, Cluster, Host, AffinityGroup, AffinityLabel, CpuProfile, Quota);

/// A data centre.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DataCenter {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) comment: Box<str>,
    pub(crate) local: bool,
    pub(crate) quota_mode: QuotaMode,
}

/// A cluster of hosts.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Cluster {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) comment: Box<str>,
    pub(crate) data_center: Id,
    /// What can be configured and has no effect here.
    pub(crate) config: Tree,
    /// How much of its hosts' memory may be promised to VMs, in per cent.
    pub(crate) overcommit_percent: u64,
    pub(crate) management_network: Id,
    pub(crate) networks: BTreeSet<Id>,
}

/// A hypervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Host {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) comment: Box<str>,
    pub(crate) address: Box<str>,
    pub(crate) cluster: Id,
    pub(crate) status: HostStatus,
    pub(crate) memory_bytes: u64,
    pub(crate) sockets: u32,
    pub(crate) cores: u32,
    pub(crate) threads: u32,
    pub(crate) spm: bool,
    pub(crate) pending: Option<Key>,
    pub(crate) tags: Vec<Id>,
    /// The VMs that it runs, or is about to run, with the memory it has promised each of them.
    pub(crate) vms: BTreeMap<Id, u64>,
}

impl Host {
    /// Its processors.
    pub(crate) fn cpus(&self) -> u32 {
        self.sockets.saturating_mul(self.cores).saturating_mul(self.threads)
    }

    /// The memory that it has promised to VMs.
    pub(crate) fn promised_bytes(&self) -> u64 {
        self.vms.values().sum()
    }
}

/// A rule of an affinity group, for VMs among themselves or for VMs and hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rule {
    pub(crate) enabled: bool,
    /// Together, not apart.
    pub(crate) positive: bool,
    /// A must, not a wish.
    pub(crate) enforcing: bool,
}

/// Which VMs belong together, apart, or to which hosts.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AffinityGroup {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) cluster: Id,
    pub(crate) priority: f64,
    pub(crate) vms_rule: Rule,
    pub(crate) hosts_rule: Rule,
    pub(crate) vms: BTreeSet<Id>,
    pub(crate) hosts: BTreeSet<Id>,
    pub(crate) vm_labels: BTreeSet<Id>,
    pub(crate) host_labels: BTreeSet<Id>,
}

/// A name for a set of VMs and hosts.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AffinityLabel {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) vms: BTreeSet<Id>,
    pub(crate) hosts: BTreeSet<Id>,
    pub(crate) implicit_group: bool,
}

/// What share of a cluster's processors a VM may have.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CpuProfile {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) cluster: Id,
}

/// How much of a data centre may be used.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Quota {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) data_center: Id,
    pub(crate) cluster_soft_limit_pct: i64,
    pub(crate) cluster_hard_limit_pct: i64,
    pub(crate) storage_soft_limit_pct: i64,
    pub(crate) storage_hard_limit_pct: i64,
    pub(crate) cluster_limits: Vec<ClusterLimit>,
    pub(crate) storage_limits: Vec<StorageLimit>,
}

/// How many processors and how much memory running VMs may have.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ClusterLimit {
    pub(crate) id: Id,
    /// `None`: all clusters together.
    pub(crate) cluster: Option<Id>,
    /// `None`: no limit.
    pub(crate) vcpus: Option<u64>,
    /// `None`: no limit.
    pub(crate) memory_bytes: Option<u64>,
}

/// How much space disks may have.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StorageLimit {
    pub(crate) id: Id,
    /// `None`: all storage domains together.
    pub(crate) storage_domain: Option<Id>,
    /// `None`: no limit.
    pub(crate) bytes: Option<u64>,
}
