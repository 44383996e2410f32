//! `inventory.yml`: the one file of the kit that the user edits. Ansible reads it, and so does everything here.

mod profile;
mod propose;
mod render;
mod validate;

pub use profile::{Format, Profile};

use std::{collections::BTreeMap, net::IpAddr};

use ipnet::IpNet;
use landfall_assets::MachineRole;
use serde::{Deserialize, Serialize};

use crate::{Error, IgnitionKind, Made};

/// What the kit is made of, besides the install-config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inventory {
    /// The mark that everything of the cluster carries.
    pub infra_id: String,
    /// The cluster's own domain.
    pub cluster_domain: String,
    /// Id of the engine's cluster that the machines run in.
    pub cluster_id: String,
    /// Id of the storage domain of their disks.
    pub storage_domain_id: String,
    /// Where their operating system comes from.
    pub image: Image,
    /// How much of its config each of them is handed.
    #[serde(default)]
    pub ignition: IgnitionKind,
    /// Where they are.
    pub network: Network,
    /// Sizes and kinds of machines, by name.
    pub profiles: BTreeMap<String, Profile>,
    /// Groups that keep machines on different hosts.
    pub affinity_groups: Vec<Group>,
    /// The machines.
    pub machines: Vec<Machine>,
    /// The hosts that balance the load, if keepalived is to hold their addresses.
    #[serde(default)]
    pub load_balancers: Vec<Balancer>,
}

/// Where the machines' operating system comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// The template that machines are made of.
    pub template: String,
    /// The image that the template is made of, as a path or URL; empty if the template exists.
    #[serde(default)]
    pub source: String,
    /// Digest of what is downloaded, like `sha256:…`; empty if nobody knows.
    #[serde(default)]
    pub checksum: String,
}

/// Where machines are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// The engine's network.
    pub name: String,
    /// Id of the vNIC profile; empty for the one that is named like the network.
    #[serde(default)]
    pub vnic_profile_id: String,
    /// The address ranges, one of each family.
    pub subnets: Vec<Subnet>,
    /// Name servers that the machines ask.
    pub name_servers: Vec<IpAddr>,
    /// The interface of the DHCP server at which machines with IPv6 addresses are; empty if a relay is between them. Kea finds
    /// the subnet of a machine by it, where other servers look at their own addresses.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub dhcp_interface: String,
    /// Whether machines have their addresses in their Ignition configs instead of asking a DHCP server.
    #[serde(default, rename = "static")]
    pub is_static: bool,
}

/// An address range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subnet {
    /// The range.
    pub cidr: IpNet,
    /// The way out of it.
    pub gateway: IpAddr,
}

/// A group that keeps machines on different hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Its name in the engine.
    pub name: String,
    /// Whether it is one that the engine has, and machines only join it: nothing else about it is the cluster's business.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub existing: bool,
    /// Whether a machine must rather not start than share a host.
    #[serde(default)]
    pub enforcing: bool,
    /// Which group goes before others, from 0 to 5; without, the engine decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// What it is for, as the engine shows it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its machines.
    pub machines: Vec<String>,
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name, which is its host name too.
    pub name: String,
    /// What it is for.
    pub role: MachineKind,
    /// Its size and kind.
    pub profile: String,
    /// Its addresses, one of each family.
    pub addresses: Vec<IpAddr>,
    /// Its hardware address, if it is to have a certain one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mac: String,
}

/// What a machine is for.
pub type MachineKind = MachineRole;

/// A host that balances the load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Balancer {
    /// Its name.
    pub name: String,
    /// Its own addresses, one of each family.
    pub addresses: Vec<IpAddr>,
    /// The interface that the cluster's addresses are added to.
    pub interface: String,
}

/// The file as Ansible wants it.
#[derive(Deserialize)]
struct Document {
    all: All,
}

#[derive(Deserialize)]
struct All {
    vars: Inventory,
}

impl Inventory {
    /// Reads the file, as the user left it.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let unreadable = |reason: String| Error::Read { file: "inventory.yml", reason };
        let text = std::str::from_utf8(text).map_err(|error| unreadable(error.to_string()))?;
        let Document { all: All { vars: mut inventory } } =
            serde_saphyr::from_str(text).map_err(|error| unreadable(error.without_snippet().to_string()))?;
        for machine in &mut inventory.machines {
            machine.mac = machine.mac.to_lowercase();
        }
        inventory.validate()?;
        Ok(inventory)
    }

    /// The machines of a role.
    pub fn of_role(&self, role: MachineKind) -> impl Iterator<Item = &Machine> {
        self.machines.iter().filter(move |machine| machine.role == role)
    }

    /// The hardware address of a machine: the one that the user chose, or that of the machine that was made.
    pub fn mac<'a>(&'a self, machine: &'a Machine, made: &'a Made) -> Option<&'a str> {
        if machine.mac.is_empty() { made.mac(&machine.name) } else { Some(&machine.mac) }
    }

    /// The full name of a machine.
    pub fn host_name(&self, machine: &Machine) -> String {
        format!("{}.{}", machine.name, self.cluster_domain)
    }
}
