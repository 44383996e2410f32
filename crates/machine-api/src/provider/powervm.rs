//! PowerVM. There is no older machine provider for it whose words could be used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Processors, SecretReference, powervs::number_or_text};

/// What a machine on PowerVM is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {
        "rule": "has(self.sharedStoragePool) != has(self.volumeGroup)",
        "message": "give either sharedStoragePool or volumeGroup",
    },
    {
        "rule": "has(self.sharedEthernet) != has(self.openVswitch)",
        "message": "give either sharedEthernet or openVswitch",
    },
]))]
pub struct PowerVMMachineProviderSpec {
    /// `powervmproviderconfig.machine.openshift.io/v1beta1`.
    #[serde(default)]
    pub api_version: String,
    /// `PowerVMMachineProviderSpec`.
    #[schemars(extend("enum" = ["PowerVMMachineProviderSpec"]))]
    pub kind: String,
    /// The Secret with what machines are started with, in its key `userData`.
    pub user_data_secret: SecretReference,
    /// The Secret with addresses and credentials of the servers, in its key `hosts`.
    pub credentials_secret: SecretReference,
    /// Names of the servers that the machine may be on; it goes where fewest of its role are. Default: all.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Virtual processors, or whole ones if they are dedicated.
    #[schemars(range(min = 1))]
    pub processors: u32,
    /// Processing units, as a number or as text. Default: half a unit for each virtual processor.
    #[serde(default)]
    #[schemars(schema_with = "number_or_text")]
    pub processing_units: Processors,
    /// How machines share processors. Default: `uncapped`.
    #[serde(default)]
    #[schemars(extend("enum" = ["", "uncapped", "capped", "dedicated"]))]
    pub sharing: String,
    /// Memory in GiB.
    #[serde(rename = "memoryGiB")]
    #[schemars(range(min = 1))]
    pub memory_gib: u32,
    /// Mode that processors run in. Default: what the server has.
    #[serde(default)]
    pub compatibility_mode: String,
    /// Size of the disk in GiB.
    #[serde(rename = "diskGiB")]
    #[schemars(range(min = 1))]
    pub disk_gib: u32,
    /// The shared storage pool with the disk. Either this or a volume group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_storage_pool: Option<PowervmPool>,
    /// Name of the volume group with the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume_group: Option<String>,
    /// What the disk is made from: the name of an image in the pool, or the URL of one where disks are in volume groups.
    #[schemars(length(min = 1))]
    pub image: String,
    /// The VLAN that the machine is in. Either this or a bridge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_ethernet: Option<PowervmVlan>,
    /// Name of the bridge of Open vSwitch that the machine is attached to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_vswitch: Option<String>,
}

/// A shared storage pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PowervmPool {
    /// Its name. Default: the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The tier. Default: the pool's default tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
}

/// A VLAN of a virtual switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PowervmVlan {
    /// The VLAN.
    #[schemars(range(min = 1, max = 4094))]
    pub vlan: u16,
    /// The virtual switch.
    #[schemars(length(min = 1))]
    pub virtual_switch: String,
}
