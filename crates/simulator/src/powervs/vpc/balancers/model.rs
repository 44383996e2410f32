//! Load balancers as they are kept.

use std::net::Ipv4Addr;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::core::Instant;

/// Whether something is in effect: `create_pending`, `active`, `update_pending`, `delete_pending` or `failed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::powervs) enum Provisioning {
    CreatePending,
    Active,
    UpdatePending,
    DeletePending,
    Failed,
}

/// A load balancer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::powervs) struct LoadBalancer {
    pub(in crate::powervs) id: String,
    pub(in crate::powervs) crn: String,
    pub(in crate::powervs) name: String,
    pub(in crate::powervs) region: String,
    pub(in crate::powervs) vpc: String,
    pub(in crate::powervs) subnets: Vec<String>,
    pub(in crate::powervs) group: Value,
    pub(in crate::powervs) is_public: bool,
    pub(in crate::powervs) hostname: String,
    pub(in crate::powervs) public_addresses: Vec<Ipv4Addr>,
    pub(in crate::powervs) private_addresses: Vec<Ipv4Addr>,
    pub(in crate::powervs) status: Provisioning,
    pub(in crate::powervs) security_groups: Vec<String>,
    pub(in crate::powervs) listeners: IndexMap<String, Listener>,
    pub(in crate::powervs) pools: IndexMap<String, Pool>,
    pub(in crate::powervs) created: Instant,
}

/// Where a load balancer listens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::powervs) struct Listener {
    pub(in crate::powervs) id: String,
    pub(in crate::powervs) port: u16,
    pub(in crate::powervs) protocol: String,
    pub(in crate::powervs) pool: Option<String>,
    pub(in crate::powervs) status: Provisioning,
    pub(in crate::powervs) connection_limit: Value,
    pub(in crate::powervs) created: Instant,
}

/// Where what comes to a listener goes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::powervs) struct Pool {
    pub(in crate::powervs) id: String,
    pub(in crate::powervs) name: String,
    pub(in crate::powervs) algorithm: String,
    pub(in crate::powervs) protocol: String,
    pub(in crate::powervs) monitor: Value,
    pub(in crate::powervs) persistence: Value,
    pub(in crate::powervs) members: IndexMap<String, Member>,
    pub(in crate::powervs) status: Provisioning,
    pub(in crate::powervs) created: Instant,
}

/// One of those that a pool sends connections to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::powervs) struct Member {
    pub(in crate::powervs) id: String,
    pub(in crate::powervs) port: u16,
    pub(in crate::powervs) address: String,
    pub(in crate::powervs) weight: u64,
    pub(in crate::powervs) status: Provisioning,
    pub(in crate::powervs) created: Instant,
}

impl Provisioning {
    pub(in crate::powervs::vpc) fn word(self) -> &'static str {
        match self {
            Self::CreatePending => "create_pending",
            Self::Active => "active",
            Self::UpdatePending => "update_pending",
            Self::DeletePending => "delete_pending",
            Self::Failed => "failed",
        }
    }

    /// Whether it does anything yet.
    pub(in crate::powervs) fn is_in_effect(self) -> bool {
        matches!(self, Self::Active | Self::UpdatePending | Self::DeletePending)
    }
}

impl LoadBalancer {
    /// The addresses that its hostname stands for.
    pub(in crate::powervs) fn addresses(&self) -> &[Ipv4Addr] {
        if self.is_public { &self.public_addresses } else { &self.private_addresses }
    }
}
