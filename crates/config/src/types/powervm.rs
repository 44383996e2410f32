//! The PowerVM section.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RouterIds, format};

/// PowerVM servers, each managed by a NovaLink partition. User and password of each are in the file that `POWERVM_CONFIG` names
/// (default: `~/.powervm/config.yaml`), never here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "PowervmPlatform")]
pub struct Platform {
    /// The servers. Masters are spread over them, one on each as far as they go; so are workers.
    #[schemars(length(min = 1))]
    pub hosts: Vec<Host>,

    /// Where the machines' disks are.
    pub storage: Storage,

    /// What the machines' disks are made from.
    pub image: Image,

    /// How the machines are attached to the machine network.
    pub network: Network,

    /// Virtual addresses of the API: one, or one of each family. Unused addresses in the machine network.
    #[serde(default, rename = "api_vips", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<format::Ip>")]
    pub api_vips: Vec<IpAddr>,

    /// Virtual addresses of the ingress: one, or one of each family. Unused addresses in the machine network.
    #[serde(default, rename = "ingress_vips", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<format::Ip>")]
    pub ingress_vips: Vec<IpAddr>,

    /// VRRP router ids that keepalived uses for the virtual addresses. Default: chosen from the infra id; set them if another
    /// user of VRRP on the segment has the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vrrp: Option<RouterIds>,

    /// Settings for machines of all pools; a pool's own settings go before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_machine_platform: Option<MachinePool>,
}

impl Platform {
    /// Name of the image in the shared storage pool that disks are made from: the one that is given, or the cluster's own.
    pub fn image_name(&self, infra_id: &str) -> String {
        match &self.image {
            Image::LogicalUnit(name) => name.clone(),
            Image::Disk(_) => format!("{infra_id}-image"),
        }
    }
}

/// A server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "PowervmHost")]
pub struct Host {
    /// Name, unique in the list. The credentials file names the server by it.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Where its NovaLink is: a host name or an address, with a port if it is not 12443, or a URL.
    #[schemars(length(min = 1))]
    pub address: String,
}

/// Where the machines' disks are. Exactly one of the two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PowervmStorage")]
pub enum Storage {
    /// A shared storage pool that all servers see. The image is uploaded once, and machines get clones that share its blocks.
    SharedStoragePool(SharedStoragePool),
    /// A volume group of a VIOS on each server. Each machine gets a whole copy of the image.
    VolumeGroup(VolumeGroup),
}

/// A shared storage pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SharedStoragePool {
    /// Name of the pool. Default: the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name of the tier. Default: the pool's default tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
}

/// A volume group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VolumeGroup {
    /// Name of the volume group, the same on each server.
    #[schemars(length(min = 1))]
    pub name: String,
}

/// What the machines' disks are made from. Exactly one of the two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PowervmImage")]
pub enum Image {
    /// Path or URL of a raw image, which may be packed with gzip. It is uploaded for the cluster, and goes with it.
    Disk(#[schemars(length(min = 1))] String),
    /// Name of an image in the shared storage pool. It stays when the cluster is destroyed.
    LogicalUnit(#[schemars(length(min = 1))] String),
}

/// How the machines are attached to the machine network. Exactly one of the two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PowervmNetwork")]
pub enum Network {
    /// A VLAN that a Shared Ethernet Adapter of each server bridges.
    SharedEthernet(SharedEthernet),
    /// A bridge of Open vSwitch on the NovaLink partition of each server.
    OpenVswitch(OpenVswitch),
}

/// A VLAN that Shared Ethernet Adapters bridge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SharedEthernet {
    /// The VLAN. An adapter of each server must bridge it already.
    #[schemars(range(min = 1, max = 4094))]
    pub vlan: u16,
    /// Name of the virtual switch. Default: `ETHERNET0`.
    #[serde(default = "SharedEthernet::default_switch")]
    #[schemars(length(min = 1))]
    pub virtual_switch: String,
}

impl SharedEthernet {
    fn default_switch() -> String {
        "ETHERNET0".to_owned()
    }
}

/// A bridge of Open vSwitch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenVswitch {
    /// Name of the bridge, the same on each server.
    #[schemars(length(min = 1, max = 15))]
    pub bridge: String,
}

/// Size and kind of machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "PowervmMachinePool")]
pub struct MachinePool {
    /// Virtual processors, or whole ones if they are dedicated. Each runs up to eight threads. Default: 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub processors: Option<u32>,
    /// Processing units that the machine is entitled to, in hundredths of a processor. Default: half a unit for each virtual
    /// processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processing_units: Option<f64>,
    /// How machines share processors. Default: `uncapped`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// Memory in GiB. Default: 16.
    #[serde(default, rename = "memoryGiB", skip_serializing_if = "Option::is_none")]
    pub memory_gib: Option<u32>,
    /// Mode that processors run in, for example `POWER9`, so that machines can move to older servers. Default: `default`, what
    /// the server has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compatibility_mode: Option<String>,
    /// Size of the disk in GiB. Default: 120.
    #[serde(default, rename = "diskGiB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 10, max = 2048))]
    pub disk_gib: Option<u32>,
    /// Names of the servers that the machines may be on. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

/// How machines share processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sharing {
    /// A machine gets what it is entitled to, and more of what nobody uses.
    #[default]
    Uncapped,
    /// A machine gets what it is entitled to.
    Capped,
    /// A machine has whole processors of its own.
    Dedicated,
}
