//! Pools of equal machines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ovirt, packet, powervm, powervs};

/// A pool of equal machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MachinePool {
    /// Name of the pool: always `master` for the control plane, unique among the compute pools. Default: `master` and
    /// `worker`.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub name: String,
    /// Number of machines.
    #[serde(default = "MachinePool::default_replicas")]
    pub replicas: u32,
    /// Processor architecture. All pools of a cluster have the same. Default: that of the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<Architecture>,
    /// Size and kind of the machines, under the key of the cluster's platform.
    #[serde(default, skip_serializing_if = "PoolPlatform::is_empty")]
    pub platform: PoolPlatform,
}

impl MachinePool {
    /// The control plane as it is when nothing is said about it.
    pub fn control_plane() -> Self {
        Self::unnamed(Role::Master)
    }

    /// The compute pools as they are when nothing is said about them.
    pub fn compute() -> Vec<Self> {
        vec![Self::unnamed(Role::Worker)]
    }

    fn unnamed(role: Role) -> Self {
        Self {
            name: role.name().to_owned(),
            replicas: Self::default_replicas(),
            architecture: None,
            platform: PoolPlatform::default(),
        }
    }

    fn default_replicas() -> u32 {
        3
    }
}

/// What the machines of a pool are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// They run the control plane.
    Master,
    /// They run workloads.
    Worker,
}

impl Role {
    /// The name of the role, which is also that of its pool unless the user names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Master => "master",
            Self::Worker => "worker",
        }
    }
}

/// Settings of a pool that only its platform understands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PoolPlatform {
    /// Settings on oVirt and RHV.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ovirt: Option<ovirt::MachinePool>,
    /// Settings on Packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<packet::MachinePool>,
    /// Settings on PowerVM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub powervm: Option<powervm::MachinePool>,
    /// Settings on PowerVS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub powervs: Option<powervs::MachinePool>,
}

impl PoolPlatform {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Processor architecture, in Go's spelling, which Kubernetes uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// x86-64.
    #[default]
    Amd64,
    /// 64-bit Arm.
    Arm64,
    /// IBM Power, little endian.
    Ppc64le,
}

impl Architecture {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Amd64, Self::Arm64, Self::Ppc64le];

    /// The name as the install-config and Kubernetes spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
            Self::Ppc64le => "ppc64le",
        }
    }
}
