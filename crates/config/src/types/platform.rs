//! Where the cluster runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ovirt, packet};

/// Where the cluster runs. Exactly one platform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// An oVirt or RHV engine.
    Ovirt(Box<ovirt::Platform>),
    /// Packet, later Equinix Metal.
    Packet(Box<packet::Platform>),
}

impl Platform {
    /// The names of all platforms, as the install-config spells them.
    pub const NAMES: [&str; 2] = ["ovirt", "packet"];

    /// The name of this platform.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ovirt(_) => "ovirt",
            Self::Packet(_) => "packet",
        }
    }

    /// The oVirt section, if it is the one.
    pub fn ovirt(&self) -> Option<&ovirt::Platform> {
        match self {
            Self::Ovirt(section) => Some(section),
            Self::Packet(_) => None,
        }
    }

    /// The Packet section, if it is the one.
    pub fn packet(&self) -> Option<&packet::Platform> {
        match self {
            Self::Packet(section) => Some(section),
            Self::Ovirt(_) => None,
        }
    }
}
