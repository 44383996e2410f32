//! What the guest agent of a host says.

use std::net::IpAddr;
use std::path::Path;

use serde::Deserialize;

use crate::core::guest::GuestInterface;

/// A report of the agent: `os/usr/lib/landfall-host/agent` writes it into the host's agent directory every second.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Report {
    pub(super) hostname: String,
    interfaces: Vec<Interface>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Interface {
    name: String,
    mac: String,
    addresses: Vec<IpAddr>,
}

impl Report {
    /// The newest report, if there is one. The agent replaces the file as a whole, so a report is never half.
    pub(super) fn read(directory: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(directory.join("report")).ok()?).ok()
    }

    pub(super) fn interfaces(&self) -> Vec<GuestInterface> {
        let interfaces = self.interfaces.iter();
        let interface = |Interface { name, mac, addresses }: &Interface| GuestInterface {
            name: name.clone(),
            mac: mac.clone(),
            addresses: addresses.clone(),
        };
        interfaces.map(interface).collect()
    }
}
