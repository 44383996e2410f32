//! What a partition should be: everything that is decided before anything is made.

use std::path::PathBuf;

use secrecy::{SecretSlice, SecretString};
use serde::{Deserialize, Serialize};

use super::{id::PartitionId, mac::Mac};

/// A partition as it is wanted, with all that it has when it is switched on for the first time.
///
/// Without a connection to its operating system (RMC) nothing can be added to a partition that runs. So every disk and every
/// adapter belongs here.
#[derive(Clone, Debug)]
pub struct Blueprint {
    /// The partition itself.
    pub partition: PartitionSpec,
    /// Disks that are made for it and go with it. It boots from the first, unless a volume comes before it.
    pub disks: Vec<Disk>,
    /// Network adapters.
    pub nics: Vec<Nic>,
    /// Volumes of storage servers, which are attached and outlive it.
    pub volumes: Vec<Volume>,
    /// Fibre Channel ports of its own.
    pub fibre_ports: Vec<FibrePort>,
    /// What its operating system reads about itself when it boots.
    pub config_drive: Option<ConfigDrive>,
    /// Whether it is switched on.
    pub power_on: bool,
}

/// A partition without what is attached to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartitionSpec {
    /// Its id.
    pub id: PartitionId,
    /// Its name: 1 to 31 characters, unique on its server.
    pub name: String,
    /// Whose it is: a word that others can find it by, kept in its description.
    pub mark: Option<String>,
    /// What it computes with.
    pub shape: Shape,
    /// What runs in it.
    pub system: OperatingSystem,
}

/// Processors and memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Memory.
    pub memory: Memory,
    /// Processors.
    pub processors: Processors,
    /// The mode that the processors run in: `POWER9`, `default`, ….
    pub compatibility_mode: Option<String>,
    /// Who keeps processors if some fail: 0 to 255, 127 if nothing is said.
    pub availability_priority: Option<u8>,
    /// Whether another server may start it if its own is gone.
    pub remote_restart: Option<bool>,
}

/// Memory, in multiples of the server's region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The least it starts with.
    pub minimum_mib: u64,
    /// What it gets.
    pub desired_mib: u64,
    /// The most it can be given while it runs.
    pub maximum_mib: u64,
}

impl Memory {
    /// A size that stays.
    pub fn fixed(mib: u64) -> Self {
        Self { minimum_mib: mib, desired_mib: mib, maximum_mib: mib }
    }
}

/// Processors: a share of a pool, or some of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Processors {
    /// A share.
    Shared {
        /// Virtual processors: least, wanted, most.
        virtual_processors: Range<u32>,
        /// Processing units: least, wanted, most.
        units: Range<f64>,
        /// The weight by which it competes for what is left; none if it never gets more than its units.
        uncapped_weight: Option<u8>,
        /// The number of the pool; 0 is the default one.
        pool: u32,
    },
    /// Processors of its own.
    Dedicated {
        /// How many: least, wanted, most.
        processors: Range<u32>,
        /// What others may have of them.
        sharing: DedicatedSharing,
    },
}

impl Processors {
    /// Uncapped virtual processors of the default pool, with this share of a processor each.
    pub fn shared(count: u32, units_each: f64) -> Self {
        let units = f64::from(count) * units_each;
        Self::Shared {
            virtual_processors: Range::fixed(count),
            units: Range::fixed((units * 100.0).round() / 100.0),
            uncapped_weight: Some(128),
            pool: 0,
        }
    }

    /// Processors that nobody else gets.
    pub fn dedicated(count: u32) -> Self {
        Self::Dedicated { processors: Range::fixed(count), sharing: DedicatedSharing::Keep }
    }
}

/// A number with its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range<T> {
    /// The least.
    pub minimum: T,
    /// What is wanted.
    pub desired: T,
    /// The most.
    pub maximum: T,
}

impl<T: Copy> Range<T> {
    /// A number that stays.
    pub fn fixed(number: T) -> Self {
        Self { minimum: number, desired: number, maximum: number }
    }
}

/// When others may use dedicated processors that are idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DedicatedSharing {
    /// Never.
    Keep,
    /// While the partition is off.
    WhenOff,
    /// While the partition runs.
    WhenOn,
    /// Always.
    Always,
}

/// What runs in a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperatingSystem {
    /// AIX or Linux.
    AixLinux,
    /// IBM i.
    IbmI,
}

/// A disk that belongs to one partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disk {
    /// What it is for: `boot`, `data`.
    pub name: String,
    /// Its size.
    pub gib: f64,
    /// Where it is.
    pub place: DiskPlace,
    /// What is on it at first.
    pub image: Option<Image>,
}

/// Where a disk is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum DiskPlace {
    /// In a shared storage pool: every VIOS of its cluster shows it, and images are cloned in an instant.
    Pool {
        /// The name of the pool; the only one if it is left out.
        pool: Option<String>,
        /// The name of the tier; the default one if it is left out.
        tier: Option<String>,
    },
    /// In a volume group of one VIOS.
    VolumeGroup {
        /// The name of the VIOS.
        vios: String,
        /// The name of the group.
        group: String,
    },
}

/// The contents of a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// A name that means these contents and no others: with a checksum or a version in it.
    ///
    /// Whether an image in a pool outlives the disks that were made from it is told by its name. One that is called
    /// `image_NAME_CHECKSUM` is a copy, and goes with the last of them; any other stays.
    pub name: String,
    /// The raw image.
    pub file: PathBuf,
}

/// A network adapter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nic {
    /// Its hardware address, by which it is found again.
    pub mac: Mac,
    /// What it is connected to.
    pub network: Network,
}

/// What a network adapter is connected to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Network {
    /// A VLAN of a virtual switch, which shared Ethernet adapters bridge.
    Bridged {
        /// The name of the switch: `ETHERNET0`.
        switch: String,
        /// The VLAN.
        vlan: u16,
    },
    /// An Open vSwitch bridge on the management partition.
    OpenVSwitch {
        /// The name of the bridge: `br-int`.
        bridge: String,
        /// The id by which the switch's controller knows the port.
        port: String,
        /// The largest packet.
        mtu: Option<u32>,
    },
    /// A share of SR-IOV ports, with others that stand in for the first.
    Sriov {
        /// The label of the physical ports.
        physical_network: String,
        /// The VLAN; none for frames without a tag.
        vlan: Option<u16>,
        /// How many ports back it.
        redundancy: usize,
        /// What it gets of each port at least, in percent.
        capacity_percent: Option<f64>,
    },
}

/// A volume of a storage server, which VIOSes see as a disk and pass on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// Its id at the storage server's, for people.
    pub id: String,
    /// The ports of the storage server, 16 digits each.
    pub targets: Vec<String>,
    /// Its number behind those ports.
    pub lun: u64,
    /// Its device id on VIOSes, if it was attached before.
    pub device: Option<String>,
}

/// A virtual Fibre Channel port, by which a partition sees volumes itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FibrePort {
    /// The id of the VIOS.
    pub vios: String,
    /// The name of the VIOS's port: `fcs0`.
    pub port: String,
    /// Its two names: the one that is used, and the one for after a migration.
    pub wwpns: (String, String),
}

/// What an operating system reads about itself when it boots. It may hold secrets.
#[derive(Clone, Debug)]
pub enum ConfigDrive {
    /// Files, as `OpenStack` lays them out.
    Files {
        /// `meta_data.json`: at least `uuid` and `hostname`.
        meta_data: serde_json::Value,
        /// `network_data.json`.
        network_data: Option<serde_json::Value>,
        /// `user_data`: an Ignition config, or a script.
        user_data: Option<SecretString>,
    },
    /// A medium that somebody else has made: the bytes of an ISO image.
    Medium(SecretSlice<u8>),
}
