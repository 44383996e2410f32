//! Who takes part.

use std::net::IpAddr;

use crate::MachineRole;

/// A machine that takes part in holding the virtual addresses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// Its node name.
    pub name: String,
    /// What it is for.
    pub role: MachineRole,
    /// Its own addresses, never virtual ones.
    pub addresses: Vec<IpAddr>,
}

/// The machine that a configuration is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalNode {
    /// Its node name, under which it is among the members.
    pub name: String,
    /// The interface in the network of the virtual addresses.
    pub interface: String,
}

impl Member {
    /// Its first address of the same family as another one.
    pub(super) fn address_like(&self, other: IpAddr) -> Option<IpAddr> {
        self.addresses.iter().copied().find(|address| address.is_ipv4() == other.is_ipv4())
    }
}
