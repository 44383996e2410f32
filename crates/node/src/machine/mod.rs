//! The machine itself: what it knows about its cluster, its name and its addresses.

mod addresses;
mod facts;
mod name;

pub use addresses::{Interface, InterfaceAddress, LocalAddresses, interfaces};
pub use facts::load_facts;
pub use name::node_name;

use std::{net::IpAddr, path::PathBuf};

use landfall_assets::{NodeFacts, VipFacts, node::paths};

use crate::Error;

/// Where Landfall keeps what must outlive a reboot of the machine.
pub const STATE: &str = "/var/lib/landfall";
/// Where Landfall keeps what must not.
pub const RUNTIME: &str = "/run/landfall";

/// The machine that this program runs on.
#[derive(Clone, Debug)]
pub struct Machine {
    /// What it knows about its cluster.
    pub facts: NodeFacts,
    /// Its name as a node.
    pub name: String,
    /// Directory of what outlives a reboot.
    pub state: PathBuf,
    /// Directory of what does not.
    pub runtime: PathBuf,
}

impl Machine {
    /// This machine.
    pub fn this() -> Result<Self, Error> {
        Ok(Self {
            facts: load_facts(paths::NODE_FACTS.as_ref())?,
            name: node_name()?,
            state: STATE.into(),
            runtime: RUNTIME.into(),
        })
    }

    /// The virtual addresses of the cluster.
    pub fn vips(&self) -> Result<&VipFacts, Error> {
        self.facts.vips.as_ref().ok_or(Error::NoSuchFact("virtual addresses"))
    }

    /// All virtual addresses, which are never addresses of a machine's own.
    pub fn virtual_addresses(&self) -> Vec<IpAddr> {
        self.facts.vips.iter().flat_map(|vips| vips.api.iter().chain(&vips.ingress)).copied().collect()
    }

    /// The machine's own addresses in the networks of the cluster's machines.
    pub async fn addresses(&self) -> Result<LocalAddresses, Error> {
        LocalAddresses::choose(&interfaces().await?, &self.facts.networks.machine, &self.virtual_addresses())
    }
}
