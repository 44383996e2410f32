//! The machine's addresses.

use std::net::IpAddr;

use ipnet::IpNet;
use serde::Deserialize;

use crate::{Error, program::Program};

/// A network interface, as `ip -json address` shows it.
#[derive(Clone, Debug, Deserialize)]
pub struct Interface {
    /// Its name.
    #[serde(rename = "ifname")]
    pub name: String,
    /// Its addresses.
    #[serde(rename = "addr_info", default)]
    pub addresses: Vec<InterfaceAddress>,
}

/// An address of an interface.
#[derive(Clone, Debug, Deserialize)]
pub struct InterfaceAddress {
    /// The address.
    #[serde(rename = "local")]
    pub address: Option<IpAddr>,
    /// `global`, `link` or `host`.
    #[serde(default)]
    pub scope: String,
    /// Whether it should not be used for anything new.
    #[serde(default)]
    pub deprecated: bool,
}

/// All interfaces of the machine.
pub async fn interfaces() -> Result<Vec<Interface>, Error> {
    let listing = Program::new("ip", ["-json", "address", "show"]).run().await?;
    serde_json::from_str(&listing)
        .map_err(|error| Error::NotUnderstood { path: "the answer of ip address".into(), reason: error.to_string() })
}

/// The addresses by which other machines of the cluster know this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalAddresses {
    /// The interface of the first address.
    pub interface: String,
    /// At most one of each family; the first is the main one. Never virtual, link-local or deprecated.
    pub addresses: Vec<IpAddr>,
}

impl LocalAddresses {
    /// Chooses from interfaces: the first address in the first machine network, then one of the other family.
    ///
    /// A virtual address that the machine holds at the moment is in the same network, and would be gone a moment later.
    pub fn choose(interfaces: &[Interface], networks: &[IpNet], virtual_addresses: &[IpAddr]) -> Result<Self, Error> {
        let usable = |found: &InterfaceAddress| {
            let fit = found.scope == "global" && !found.deprecated;
            found.address.filter(|address| fit && !virtual_addresses.contains(address))
        };
        let candidates: Vec<(&str, IpAddr)> = interfaces
            .iter()
            .flat_map(|interface| {
                interface.addresses.iter().filter_map(|found| Some((interface.name.as_str(), usable(found)?)))
            })
            .collect();
        let mut chosen: Vec<(&str, IpAddr)> = Vec::new();
        for network in networks {
            let inside = candidates.iter().find(|(_, address)| {
                network.contains(address) && chosen.iter().all(|(_, taken)| taken.is_ipv4() != address.is_ipv4())
            });
            chosen.extend(inside);
        }
        let Some((interface, _)) = chosen.first() else {
            let seen: Vec<String> = candidates.iter().map(|(name, address)| format!("{address} on {name}")).collect();
            let networks: Vec<String> = networks.iter().map(ToString::to_string).collect();
            return Err(Error::NoAddress { networks: networks.join(", "), seen: seen.join(", ") });
        };
        Ok(Self { interface: (*interface).to_owned(), addresses: chosen.iter().map(|(_, address)| *address).collect() })
    }

    /// The main address.
    pub fn main(&self) -> IpAddr {
        self.addresses[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // From `ip -json address show` on a machine that holds a virtual address.
    const LISTING: &str = r#"[
        {"ifname":"lo","addr_info":[{"family":"inet","local":"127.0.0.1","prefixlen":8,"scope":"host"}]},
        {"ifname":"ens3","addr_info":[
            {"family":"inet","local":"192.0.2.5","prefixlen":32,"scope":"global"},
            {"family":"inet","local":"192.0.2.21","prefixlen":24,"scope":"global","dynamic":true},
            {"family":"inet6","local":"2001:db8::21","prefixlen":64,"scope":"global"},
            {"family":"inet6","local":"fe80::1","prefixlen":64,"scope":"link"}]},
        {"ifname":"cni0","addr_info":[{"family":"inet","local":"10.128.0.1","prefixlen":23,"scope":"global"}]}
    ]"#;

    fn choose(networks: &[&str]) -> Result<LocalAddresses, Error> {
        let interfaces: Vec<Interface> = serde_json::from_str(LISTING).unwrap();
        let networks: Vec<IpNet> = networks.iter().map(|network| network.parse().unwrap()).collect();
        LocalAddresses::choose(&interfaces, &networks, &["192.0.2.5".parse().unwrap()])
    }

    #[test]
    fn own_addresses_are_those_in_machine_networks_and_never_virtual() {
        let chosen = choose(&["192.0.2.0/24", "2001:db8::/64"]).unwrap();
        assert_eq!(chosen.interface, "ens3");
        assert_eq!(chosen.addresses, ["192.0.2.21".parse::<IpAddr>().unwrap(), "2001:db8::21".parse().unwrap()]);
    }

    #[test]
    fn without_one_the_error_says_what_there_is() {
        let error = choose(&["198.51.100.0/24"]).unwrap_err().to_string();
        assert!(error.contains("192.0.2.21 on ens3"), "{error}");
        assert!(!error.contains("192.0.2.5 on"), "{error}");
    }
}
