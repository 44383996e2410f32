//! Where an engine lives.

use std::{net::Ipv4Addr, path::PathBuf};

use tempfile::TempDir;

use crate::network::Network;

/// A loopback network and a directory for the certificates. An engine that is started in the place of another has the same
/// address and the same CA, so that what was made for one holds for the other.
pub(crate) struct Place {
    network: Network,
    directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { network: Network::claim(), directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn cidr(&self) -> String {
        self.network.cidr()
    }

    /// Where the engine's API is.
    pub(crate) fn engine(&self) -> String {
        format!("{}:8443", self.network.address(0, 2))
    }

    /// Where an installer can serve machines.
    pub(crate) fn installer(&self) -> String {
        format!("{}:8448", self.network.address(0, 3))
    }

    pub(crate) fn authority(&self) -> PathBuf {
        self.directory.path().join("ca")
    }

    /// The virtual addresses of the first, second, … cluster: API and ingress.
    pub(crate) fn vips(&self, cluster: u8) -> [Ipv4Addr; 2] {
        [5, 6].map(|last| self.network.address(0, 10 * cluster + last))
    }
}
