//! The inventory: what is in the world when it starts. A YAML file, or the default that is built in.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The inventory that is used when none is given.
pub const DEFAULT_INVENTORY: &str = include_str!("inventory/default.yaml");

/// What is in the world when it starts. Everything has a default except names.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inventory {
    /// How the service behaves.
    #[serde(default)]
    pub(super) settings: Settings,
    /// Servers, each with a NovaLink of its own.
    pub(super) hosts: Vec<HostEntry>,
    /// The shared storage pool that all of them see.
    pub(super) shared_storage_pool: Option<PoolEntry>,
}

/// Why an inventory was refused.
#[derive(Debug, thiserror::Error)]
pub enum InventoryError {
    /// It is not what an inventory looks like.
    #[error("read the inventory")]
    Read(#[source] Box<serde_saphyr::Error>),
    /// It makes no sense.
    #[error("the inventory {0}")]
    Senseless(String),
}

impl Inventory {
    /// Reads an inventory.
    pub fn parse(yaml: &str) -> Result<Self, InventoryError> {
        let inventory: Self = serde_saphyr::from_str(yaml).map_err(|error| InventoryError::Read(Box::new(error)))?;
        let complaint = if inventory.hosts.is_empty() {
            Some("has no host".to_owned())
        } else {
            let names: std::collections::BTreeSet<&str> =
                inventory.hosts.iter().map(|host| host.name.as_str()).collect();
            let bare = inventory.hosts.iter().find(|host| host.vioses.is_empty());
            match bare {
                _ if names.len() < inventory.hosts.len() => Some("has two hosts of one name".to_owned()),
                Some(host) => Some(format!("has no VIOS on host {}", host.name)),
                None => None,
            }
        };
        complaint.map_or(Ok(inventory), |complaint| Err(InventoryError::Senseless(complaint)))
    }
}

impl Default for Inventory {
    fn default() -> Self {
        Self::parse(DEFAULT_INVENTORY).expect("the inventory that is built in is tested")
    }
}

/// How the service behaves.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    /// Who may log on with a password.
    pub(crate) user: String,
    pub(crate) password: String,
    /// How long jobs take.
    pub(crate) job_seconds: f64,
    /// How long a partition takes from being switched on to running.
    pub(crate) power_on_seconds: f64,
    /// How long a migration takes.
    pub(crate) migration_seconds: f64,
    /// How long a read of events waits for one.
    pub(crate) event_seconds: f64,
    /// Whether each `NovaLink` knows the SSH keys of the others from the beginning, so that partitions can move between them.
    pub(crate) keys_exchanged: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            user: "admin".to_owned(),
            password: "landfall".to_owned(),
            job_seconds: 2.0,
            power_on_seconds: 10.0,
            migration_seconds: 60.0,
            event_seconds: 10.0,
            keys_exchanged: false,
        }
    }
}

/// A number of seconds as a duration; nonsense is nothing.
pub(crate) fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or_default()
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HostEntry {
    pub(super) name: String,
    #[serde(default = "machine_type")]
    pub(super) machine_type: String,
    #[serde(default = "model")]
    pub(super) model: String,
    pub(super) serial: String,
    #[serde(default = "memory")]
    pub(super) memory_mb: u64,
    #[serde(default = "processors")]
    pub(super) processors: u32,
    #[serde(default = "region")]
    pub(super) memory_region_mb: u64,
    pub(super) vioses: Vec<ViosEntry>,
    #[serde(default)]
    pub(super) partitions: Vec<PartitionEntry>,
    #[serde(default)]
    pub(super) sriov_adapters: u32,
    #[serde(default)]
    pub(super) volumes: Vec<VolumeEntry>,
    /// VLANs that the shared Ethernet adapters bridge besides their own.
    #[serde(default)]
    pub(super) vlans: Vec<u16>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ViosEntry {
    pub(super) name: String,
    #[serde(default = "rmc")]
    pub(super) rmc: String,
    #[serde(default = "two")]
    pub(super) fc_ports: u32,
    /// How many virtual ports each of them has.
    #[serde(default = "npiv")]
    pub(super) npiv_ports: u32,
    #[serde(default)]
    pub(super) disks_gb: Vec<u64>,
    #[serde(default)]
    pub(super) volume_groups: Vec<GroupEntry>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupEntry {
    pub(super) name: String,
    pub(super) size_gb: f64,
    pub(super) media_repository_gb: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartitionEntry {
    pub(super) name: String,
    /// How many of them; more than one get a number each.
    #[serde(default = "one")]
    pub(super) count: u32,
    #[serde(default = "small")]
    pub(super) memory_mb: u64,
    #[serde(default = "one")]
    pub(super) processors: u32,
    #[serde(default)]
    pub(super) running: bool,
    #[serde(default)]
    pub(super) ibmi: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VolumeEntry {
    pub(super) name: String,
    pub(super) wwpns: Vec<String>,
    pub(super) lun: u32,
    pub(super) size_gb: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PoolEntry {
    pub(super) name: String,
    pub(super) cluster: String,
    pub(super) capacity_gb: f64,
    /// Tiers besides the default one.
    #[serde(default)]
    pub(super) tiers: Vec<String>,
    /// Images that disks can be cloned from, in the default tier.
    #[serde(default)]
    pub(super) images: Vec<ImageEntry>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ImageEntry {
    pub(super) name: String,
    pub(super) size_gb: f64,
}

fn machine_type() -> String {
    "9009".to_owned()
}
fn model() -> String {
    "42A".to_owned()
}
fn rmc() -> String {
    "active".to_owned()
}
fn memory() -> u64 {
    524_288
}
fn processors() -> u32 {
    40
}
fn region() -> u64 {
    256
}
fn small() -> u64 {
    4096
}
fn one() -> u32 {
    1
}
fn npiv() -> u32 {
    64
}
fn two() -> u32 {
    2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_sound_and_nonsense_is_explained() {
        assert_eq!(Inventory::default().hosts.len(), 3);
        for (yaml, words) in [
            ("hosts: []", "has no host"),
            ("hosts: [{name: a, serial: S, vioses: []}]", "has no VIOS on host a"),
            (
                "hosts: [{name: a, serial: S, vioses: [{name: v}]}, {name: a, serial: T, vioses: [{name: v}]}]",
                "two hosts",
            ),
        ] {
            assert!(Inventory::parse(yaml).unwrap_err().to_string().contains(words), "{yaml}");
        }
        assert!(Inventory::parse("colour: red").is_err());
    }
}
