//! The oVirt and RHV section. Field names follow the reference installer, so that existing files can be used.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Role, RouterIds, format};

/// An oVirt or RHV engine. Its address and credentials are in `~/.ovirt/ovirt-config.yaml` (or where `OVIRT_CONFIG` points).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OvirtPlatform")]
pub struct Platform {
    /// Id of the oVirt cluster that the machines run in.
    #[schemars(with = "format::Id")]
    pub ovirt_cluster_id: Uuid,

    /// Id of the storage domain that holds the machines' disks.
    #[schemars(with = "format::Id")]
    pub ovirt_storage_domain_id: Uuid,

    /// Name of the network that the machines are attached to.
    #[serde(default = "Platform::default_network")]
    #[schemars(length(min = 1))]
    pub ovirt_network_name: String,

    /// Id of the vNIC profile of the machines. Default: the only profile of the network.
    #[serde(default, rename = "vnicProfileID", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<format::Id>")]
    pub vnic_profile_id: Option<Uuid>,

    /// Virtual addresses of the API: one, or one of each family. Unused addresses in the machine network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<format::Ip>")]
    pub api_vips: Vec<IpAddr>,

    /// Virtual addresses of the ingress: one, or one of each family. Unused addresses in the machine network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<format::Ip>")]
    pub ingress_vips: Vec<IpAddr>,

    /// VRRP router ids that keepalived uses for the virtual addresses. Default: chosen from the infra id; set them if another
    /// user of VRRP on the segment has the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vrrp: Option<RouterIds>,

    /// Where the machines' disks come from. Default: the operating system image that belongs to the distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,

    /// Groups that keep machines on different hosts. Default: `controlplane` and `compute`, enforced only if the cluster has
    /// enough hosts. An empty list means none.
    #[serde(default, rename = "affinityGroups", skip_serializing_if = "Option::is_none")]
    pub affinity_groups: Option<Vec<AffinityGroup>>,

    /// Settings for machines of all pools; a pool's own settings go before.
    #[serde(default, rename = "defaultMachinePlatform", skip_serializing_if = "Option::is_none")]
    pub default_machine_platform: Option<MachinePool>,
}

impl Platform {
    /// Name of the template that machines are made from: the one that is given, or the cluster's own.
    pub fn template_name(&self, infra_id: &str) -> String {
        match &self.image {
            Some(Image::Template(name)) => name.clone(),
            Some(Image::Disk(_)) | None => format!("{infra_id}-template"),
        }
    }

    fn default_network() -> String {
        "ovirtmgmt".to_owned()
    }
}

/// Where the machines' disks come from. Exactly one of the two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Image {
    /// Name of a template that exists in the engine. It stays when the cluster is destroyed.
    Template(#[schemars(length(min = 1))] String),
    /// Path or URL of a qcow2 image, which is uploaded and made into a template of the cluster's own.
    Disk(#[schemars(length(min = 1))] String),
}

/// A group that keeps its machines on different hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AffinityGroup {
    /// Name, unique in the list. In the engine it carries the infra id as a prefix.
    pub name: String,
    /// Priority, 0 to 5.
    #[serde(default = "AffinityGroup::default_priority")]
    #[schemars(range(max = 5))]
    pub priority: u8,
    /// Description shown in the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether a machine must rather not start than share a host. Default: only if the cluster has enough hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enforcing: Option<bool>,
}

impl AffinityGroup {
    /// The name of the group that machines of a role belong to when nothing is said.
    pub fn built_in_name(role: Role) -> &'static str {
        match role {
            Role::Master => "controlplane",
            Role::Worker => "compute",
        }
    }

    /// The groups that a cluster has when nothing is said: one for each role.
    pub fn built_in() -> Vec<Self> {
        let group = |role, priority| Self {
            name: Self::built_in_name(role).to_owned(),
            priority,
            description: None,
            enforcing: None,
        };
        vec![group(Role::Master, 5), group(Role::Worker, 3)]
    }

    fn default_priority() -> u8 {
        3
    }
}

/// Size and kind of the machines of a pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "OvirtMachinePool")]
pub struct MachinePool {
    /// Processors. Not together with an instance type. Default: 1 socket with 4 cores of 1 thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    /// Memory in MiB. Not together with an instance type. Default: 16384.
    #[serde(default, rename = "memoryMB", skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<u32>,
    /// Memory in MiB that the host must have free for the machine. Default: all of it.
    #[serde(default, rename = "guaranteedMemoryMB", skip_serializing_if = "Option::is_none")]
    pub guaranteed_memory_mb: Option<u32>,
    /// The disk that the operating system is on. Default: 120 GiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os_disk: Option<Disk>,
    /// What the engine optimises the machine for. Default: `high_performance` for masters, `server` for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vm_type: Option<VmType>,
    /// Id of an instance type that decides processors and memory.
    #[serde(default, rename = "instanceTypeID", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<format::Id>")]
    pub instance_type_id: Option<Uuid>,
    /// Names of affinity groups, declared above or existing in the engine. Default: the built-in group of the role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affinity_groups_names: Option<Vec<String>>,
    /// Whether the engine pins virtual to physical processors. Default: `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_pinning_policy: Option<AutoPinningPolicy>,
    /// Size of huge pages in KiB, 2048 or 1048576. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [2048, 1_048_576]))]
    pub hugepages: Option<u32>,
    /// Whether disks are copies of the template's, independent of it, or thin layers over them. Default: copies, except for
    /// type `desktop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clone: Option<bool>,
    /// Whether disks take up only the space that is written. Default: as in the template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sparse: Option<bool>,
    /// Format of the disks. Default: as in the template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<DiskFormat>,
}

/// Processors of a machine; their number is the product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cpu {
    /// Sockets. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16))]
    pub sockets: Option<u32>,
    /// Cores per socket. Default: 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 254))]
    pub cores: Option<u32>,
    /// Threads per core. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 8))]
    pub threads: Option<u32>,
}

/// A disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Disk {
    /// Size in GiB.
    #[serde(rename = "sizeGB")]
    pub size_gb: u32,
}

/// What the engine optimises a machine for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VmType {
    /// Interactive use.
    Desktop,
    /// Servers.
    Server,
    /// Performance close to the host's: processor passed through, no balloon, headless.
    HighPerformance,
}

/// Whether the engine pins virtual to physical processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AutoPinningPolicy {
    /// No pinning.
    None,
    /// The machine gets the host's topology less one core per socket, and is pinned.
    ResizeAndPin,
}

/// Format of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiskFormat {
    /// Plain blocks.
    Raw,
    /// qcow2.
    Cow,
}
