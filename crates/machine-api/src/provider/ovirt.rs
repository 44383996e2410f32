//! The provider spec of oVirt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SecretReference;

/// What oVirt needs to know to make a machine. Names are those of the existing machine provider
/// (`ovirtproviderconfig.machine.openshift.io/v1beta1`), so its objects are read as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = [
    {
        "rule": "has(self.instance_type_id) && self.instance_type_id != '' ? !has(self.cpu) && !has(self.memory_mb) : has(self.cpu) && has(self.memory_mb)",
        "message": "give either instance_type_id, or cpu and memory_mb",
    },
    {
        "rule": "!has(self.guaranteed_memory_mb) || !has(self.memory_mb) || self.guaranteed_memory_mb <= self.memory_mb",
        "message": "guaranteed_memory_mb is more than memory_mb",
    },
    {
        "rule": "!has(self.storage_domain_id) || self.storage_domain_id == '' || !has(self.clone) || self.clone",
        "message": "storage_domain_id needs clone: disks that are laid over a template stay in its storage domain",
    },
]))]
pub struct OvirtMachineProviderSpec {
    /// `ovirtproviderconfig.machine.openshift.io/v1beta1`.
    #[serde(rename = "apiVersion", default)]
    pub api_version: String,
    /// `OvirtMachineProviderSpec`.
    #[schemars(extend("enum" = ["OvirtMachineProviderSpec"]))]
    pub kind: String,
    /// The Secret with what the machine is started with, in its key `userData`.
    #[serde(rename = "userDataSecret")]
    pub user_data_secret: SecretReference,
    /// The Secret with the engine's address and credentials.
    #[serde(rename = "credentialsSecret")]
    pub credentials_secret: SecretReference,
    /// Not used.
    #[serde(default)]
    pub id: String,
    /// Not used: a machine on oVirt has the name of its object.
    #[serde(default)]
    pub name: String,
    /// The template that the machine is made from.
    #[schemars(length(min = 1))]
    pub template_name: String,
    /// Id of the cluster of hosts.
    #[schemars(length(min = 1))]
    pub cluster_id: String,
    /// Processors and memory of an instance type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_type_id: Option<String>,
    /// Processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    /// Memory, in MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub memory_mb: Option<u32>,
    /// Memory that the host must have free, in MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guaranteed_memory_mb: Option<u32>,
    /// The disk that the machine boots from.
    pub os_disk: OsDisk,
    /// What the machine is optimised for.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["desktop", "server", "high_performance"]))]
    pub vm_type: String,
    /// Network interfaces; none keeps those of the template.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1))]
    pub network_interfaces: Vec<NetworkInterface>,
    /// Affinity groups that the machine joins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub affinity_groups_names: Vec<String>,
    /// Whether processors are pinned to those of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["", "none", "resize_and_pin"]))]
    pub auto_pinning_policy: Option<String>,
    /// Size of huge pages in KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [0, 2048, 1_048_576]))]
    pub hugepages: Option<u32>,
    /// Whether disks are independent of the template; the default is yes, except for desktops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clone: Option<bool>,
    /// Whether disks take up only what is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sparse: Option<bool>,
    /// `raw` or `cow`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["", "raw", "cow"]))]
    pub format: Option<String>,
    /// Id of the storage domain of the disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_domain_id: Option<String>,
}

/// Processors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// Sockets.
    #[schemars(range(min = 1))]
    pub sockets: u32,
    /// Cores per socket.
    #[schemars(range(min = 1))]
    pub cores: u32,
    /// Threads per core.
    #[schemars(range(min = 1))]
    pub threads: u32,
}

/// A disk to boot from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OsDisk {
    /// Its size in GiB; it is never made smaller than the template's.
    #[schemars(range(min = 1))]
    pub size_gb: u32,
}

/// A network interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkInterface {
    /// Id of the vNIC profile that it is attached through.
    #[schemars(length(min = 1))]
    pub vnic_profile_id: String,
}
