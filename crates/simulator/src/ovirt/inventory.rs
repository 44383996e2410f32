//! The inventory: what is in an engine's world when it starts. A YAML file, or the default that is built in.

use serde::Deserialize;

use super::model::{HostStatus, QuotaMode};
use super::settings::Settings;
use super::table::Id;

/// The inventory that is used when none is given.
pub const DEFAULT_INVENTORY: &str = include_str!("inventory/default.yaml");

/// What is in an engine's world when it starts.
///
/// Everything has a default except names. Ids that are not given are made from the seed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inventory {
    /// How the engine itself behaves.
    #[serde(default)]
    pub(super) engine: Settings,
    /// Who can log in. Without any, there is `admin@internal`.
    #[serde(default)]
    pub(super) users: Vec<UserEntry>,
    /// Data centres with all that is in them.
    pub(super) data_centers: Vec<DataCenterEntry>,
    /// Templates besides Blank.
    #[serde(default)]
    pub(super) templates: Vec<TemplateEntry>,
    /// Sizes of VMs. Without any, there are the engine's usual ones.
    #[serde(default)]
    pub(super) instance_types: Vec<InstanceTypeEntry>,
    /// Tags under the root.
    #[serde(default)]
    pub(super) tags: Vec<TagEntry>,
    /// VMs that exist at the start.
    #[serde(default)]
    pub(super) vms: Vec<VmEntry>,
}

/// Why an inventory was refused.
#[derive(Debug, thiserror::Error)]
pub enum InventoryError {
    /// It is not what an inventory looks like.
    #[error("read the inventory")]
    Read(#[source] Box<serde_saphyr::Error>),
    /// It refers to something that it does not have.
    #[error("the inventory has no {kind} called {name}, which {by} refers to")]
    Unknown {
        /// What is missing.
        kind: &'static str,
        /// Its name.
        name: String,
        /// What refers to it.
        by: String,
    },
    /// It has two things of one id.
    #[error("the inventory has the id {0} twice")]
    Duplicate(Id),
}

impl Inventory {
    /// Reads an inventory.
    pub fn parse(yaml: &str) -> Result<Self, InventoryError> {
        serde_saphyr::from_str(yaml).map_err(|error| InventoryError::Read(Box::new(error)))
    }
}

impl Default for Inventory {
    fn default() -> Self {
        Self::parse(DEFAULT_INVENTORY).expect("the inventory that is built in is tested")
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UserEntry {
    pub(super) id: Option<Id>,
    /// With the profile: `admin@internal`.
    pub(super) login: String,
    pub(super) password: String,
    #[serde(default)]
    pub(super) first_name: String,
    #[serde(default)]
    pub(super) last_name: String,
    /// Roles on the whole system, by name.
    #[serde(default)]
    pub(super) roles: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DataCenterEntry {
    pub(super) id: Option<Id>,
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default = "quota_mode")]
    pub(super) quota_mode: QuotaMode,
    #[serde(default)]
    pub(super) networks: Vec<NetworkEntry>,
    #[serde(default)]
    pub(super) storage_domains: Vec<StorageDomainEntry>,
    #[serde(default)]
    pub(super) clusters: Vec<ClusterEntry>,
    #[serde(default)]
    pub(super) quotas: Vec<QuotaEntry>,
}

fn quota_mode() -> QuotaMode {
    QuotaMode::Disabled
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetworkEntry {
    pub(super) id: Option<Id>,
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
    pub(super) vlan: Option<u16>,
    #[serde(default)]
    pub(super) mtu: u16,
    /// Without any, there is one with the network's name.
    #[serde(default)]
    pub(super) vnic_profiles: Vec<VnicProfileEntry>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VnicProfileEntry {
    pub(super) id: Option<Id>,
    pub(super) name: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StorageDomainEntry {
    pub(super) id: Option<Id>,
    pub(super) name: String,
    /// `data` or `iso`.
    #[serde(default = "data")]
    pub(super) kind: String,
    /// `nfs`, `iscsi`, `fcp`, `glusterfs`, `posixfs` or `localfs`.
    #[serde(default = "nfs")]
    pub(super) storage: String,
    #[serde(default = "storage_address")]
    pub(super) address: String,
    #[serde(default = "storage_path")]
    pub(super) path: String,
    #[serde(default = "storage_size")]
    pub(super) size_gib: u64,
    /// The free space below which nothing may be created.
    #[serde(default = "blocker")]
    pub(super) critical_space_gib: u64,
}

fn data() -> String {
    "data".into()
}

fn nfs() -> String {
    "nfs".into()
}

fn storage_address() -> String {
    "storage.example.com".into()
}

fn storage_path() -> String {
    "/exports/data".into()
}

fn storage_size() -> u64 {
    10 * 1024
}

fn blocker() -> u64 {
    5
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClusterEntry {
    pub(super) id: Option<Id>,
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default = "architecture")]
    pub(super) architecture: String,
    #[serde(default = "cpu_type")]
    pub(super) cpu_type: String,
    #[serde(default = "overcommit")]
    pub(super) memory_overcommit_percent: u64,
    /// The network that hosts are managed over; without one, the first of the data centre.
    pub(super) management_network: Option<String>,
    #[serde(default)]
    pub(super) hosts: Vec<HostEntry>,
}

fn architecture() -> String {
    "x86_64".into()
}

fn cpu_type() -> String {
    "Intel Cascadelake Server Family".into()
}

fn overcommit() -> u64 {
    100
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HostEntry {
    pub(super) id: Option<Id>,
    pub(super) name: String,
    /// Without one, the name is the address.
    pub(super) address: Option<String>,
    #[serde(default = "host_memory")]
    pub(super) memory_gib: u64,
    #[serde(default = "host_sockets")]
    pub(super) sockets: u32,
    #[serde(default = "host_cores")]
    pub(super) cores: u32,
    #[serde(default = "host_threads")]
    pub(super) threads: u32,
    #[serde(default = "host_status")]
    pub(super) status: HostStatus,
}

fn host_memory() -> u64 {
    256
}

fn host_sockets() -> u32 {
    2
}

fn host_cores() -> u32 {
    20
}

fn host_threads() -> u32 {
    2
}

fn host_status() -> HostStatus {
    HostStatus::Up
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuotaEntry {
    pub(super) id: Option<Id>,
    pub(super) name: String,
    /// For all clusters together.
    pub(super) vcpus: Option<u64>,
    /// For all clusters together.
    pub(super) memory_gib: Option<u64>,
    /// For all storage domains together.
    pub(super) storage_gib: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TemplateEntry {
    pub(super) id: Option<Id>,
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
    pub(super) cluster: String,
    /// The operating system that its VMs are said to run; it decides how they get their user data.
    #[serde(default = "other")]
    pub(super) os: String,
    #[serde(default = "template_memory")]
    pub(super) memory_mib: u64,
    #[serde(default = "one")]
    pub(super) cores: u32,
    #[serde(default)]
    pub(super) disks: Vec<TemplateDiskEntry>,
    /// One interface per vNIC profile named, `nic1` and so on.
    #[serde(default)]
    pub(super) nics: Vec<String>,
}

fn other() -> String {
    "other".into()
}

fn template_memory() -> u64 {
    1024
}

fn one() -> u32 {
    1
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TemplateDiskEntry {
    pub(super) id: Option<Id>,
    /// Without one, the disk has the template's name.
    pub(super) name: Option<String>,
    pub(super) storage_domain: String,
    pub(super) size_gib: u64,
    /// What of it is in use; without it, a tenth.
    pub(super) used_mib: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InstanceTypeEntry {
    pub(super) id: Option<Id>,
    pub(super) name: String,
    pub(super) memory_mib: u64,
    #[serde(default = "one")]
    pub(super) sockets: u32,
    #[serde(default = "one")]
    pub(super) cores: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TagEntry {
    pub(super) id: Option<Id>,
    pub(super) name: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VmEntry {
    /// With a count above one, `-1`, `-2` and so on are added.
    pub(super) name: String,
    pub(super) cluster: String,
    #[serde(default = "blank")]
    pub(super) template: String,
    #[serde(default)]
    pub(super) tags: Vec<String>,
    #[serde(default = "one")]
    pub(super) count: u32,
    #[serde(default)]
    pub(super) running: bool,
}

fn blank() -> String {
    "Blank".into()
}
