//! Where the cluster runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ovirt, packet, powervm, powervs};

/// Where the cluster runs. Exactly one platform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// An oVirt or RHV engine.
    Ovirt(Box<ovirt::Platform>),
    /// Packet, later Equinix Metal.
    Packet(Box<packet::Platform>),
    /// PowerVM servers with NovaLink.
    Powervm(Box<powervm::Platform>),
    /// IBM Power Virtual Server.
    Powervs(Box<powervs::Platform>),
}

impl Platform {
    /// The names of all platforms, as the install-config spells them.
    pub const NAMES: [&str; 4] = ["ovirt", "packet", "powervm", "powervs"];

    /// The name of this platform.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ovirt(_) => "ovirt",
            Self::Packet(_) => "packet",
            Self::Powervm(_) => "powervm",
            Self::Powervs(_) => "powervs",
        }
    }

    /// The oVirt section, if it is the one.
    pub fn ovirt(&self) -> Option<&ovirt::Platform> {
        match self {
            Self::Ovirt(section) => Some(section),
            Self::Packet(_) | Self::Powervm(_) | Self::Powervs(_) => None,
        }
    }

    /// The Packet section, if it is the one.
    pub fn packet(&self) -> Option<&packet::Platform> {
        match self {
            Self::Packet(section) => Some(section),
            Self::Ovirt(_) | Self::Powervm(_) | Self::Powervs(_) => None,
        }
    }

    /// The PowerVM section, if it is the one.
    pub fn powervm(&self) -> Option<&powervm::Platform> {
        match self {
            Self::Powervm(section) => Some(section),
            Self::Ovirt(_) | Self::Packet(_) | Self::Powervs(_) => None,
        }
    }

    /// The PowerVS section, if it is the one.
    pub fn powervs(&self) -> Option<&powervs::Platform> {
        match self {
            Self::Powervs(section) => Some(section),
            Self::Ovirt(_) | Self::Packet(_) | Self::Powervm(_) => None,
        }
    }
}
