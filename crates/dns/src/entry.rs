//! Which records a cluster needs. Pure.

use std::net::IpAddr;

use landfall_config::InstallConfig;
use landfall_platform::InfraId;
use serde::{Deserialize, Serialize};

use crate::{Data, Mark, Name, NameError, RecordSet};

/// Where names lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// To addresses: virtual ones, or those of load balancers.
    Addresses(Vec<IpAddr>),
    /// To another name: that of a load balancer whose addresses change.
    Name(Name),
}

/// Everything that a cluster keeps at one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The name.
    pub name: Name,
    /// Time to live in seconds.
    pub ttl: u32,
    /// What it says.
    pub data: Vec<Data>,
}

impl Entry {
    /// A name that leads somewhere.
    pub fn new(name: Name, ttl: u32, target: &Target) -> Self {
        let data = match target {
            Target::Addresses(addresses) => addresses
                .iter()
                .map(|address| match address {
                    IpAddr::V4(address) => Data::A(*address),
                    IpAddr::V6(address) => Data::Aaaa(*address),
                })
                .collect(),
            Target::Name(name) => vec![Data::Cname(name.clone())],
        };
        Self { name, ttl, data }
    }

    /// The way back from an address to a name.
    pub fn pointer(address: IpAddr, ttl: u32, name: Name) -> Self {
        Self { name: Name::reverse(address), ttl, data: vec![Data::Ptr(name)] }
    }

    /// Its record sets, without the mark.
    pub fn sets(&self) -> Vec<RecordSet> {
        RecordSet::gather(self.data.iter().map(|data| (self.name.clone(), self.ttl, data.clone())))
    }

    /// Its mark, for a cluster.
    pub fn mark(&self, owner: &InfraId) -> Mark {
        Mark { owner: owner.clone(), types: self.data.iter().map(Data::kind).collect() }
    }

    /// What it says, for people.
    pub fn values(&self) -> String {
        self.data.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }
}

/// The entries of every cluster: the API for users, the API for machines, and applications; and, for addresses that lie in one
/// of the reverse zones, the way back to the API's name.
pub fn cluster_entries(
    config: &InstallConfig,
    ttl: u32,
    api: &Target,
    ingress: &Target,
    reverse_zones: &[Name],
) -> Result<Vec<Entry>, NameError> {
    let domain: Name = config.cluster_domain().parse()?;
    let names = [("api", api), ("api-int", api), ("*.apps", ingress)];
    let mut entries: Vec<Entry> = Vec::new();
    for (label, target) in names {
        let entry = Entry::new(domain.child(label)?, ttl, target);
        // A load balancer of the user's own has no address here.
        if !entry.data.is_empty() {
            entries.push(entry);
        }
    }
    if let Target::Addresses(addresses) = api {
        for address in addresses {
            let pointer = Entry::pointer(*address, ttl, domain.child("api")?);
            if reverse_zones.iter().any(|zone| pointer.name.is_in(zone)) {
                entries.push(pointer);
            }
        }
    }
    Ok(entries)
}
