//! Addresses that no machine may be certified for, whatever it reports.

use std::net::IpAddr;

use ipnet::IpNet;

/// Address ranges of a cluster, by which the addresses that a guest reports are judged.
#[derive(Clone, Debug, Default)]
pub struct Networks {
    /// Ranges that all addresses of machines are in. Empty where the platform itself gives out the addresses and tells them.
    pub machine: Vec<IpNet>,
    /// Ranges of pods and services, in which no machine has an address.
    pub taken: Vec<IpNet>,
    /// Virtual addresses of the cluster, which move between machines.
    pub virtual_addresses: Vec<IpAddr>,
}

impl Networks {
    /// Returns why no machine may be certified for an address; none if one may.
    pub fn refusal(&self, address: IpAddr) -> Option<String> {
        let address = address.to_canonical();
        let is_in = |networks: &[IpNet]| networks.iter().any(|network| network.contains(&address));
        if self.virtual_addresses.contains(&address) {
            return Some(format!("{address} is a virtual address of the cluster"));
        }
        if is_in(&self.taken) {
            return Some(format!("{address} is in a network of pods or services"));
        }
        if !self.machine.is_empty() && !is_in(&self.machine) {
            return Some(format!("{address} is outside the networks of machines"));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_the_cluster_belongs_to_no_machine() {
        let networks = Networks {
            machine: vec!["198.51.100.0/24".parse().unwrap()],
            taken: vec!["172.30.0.0/16".parse().unwrap(), "fd02::/112".parse().unwrap()],
            virtual_addresses: vec!["198.51.100.5".parse().unwrap()],
        };
        let refusal =
            |networks: &Networks, address: &str| networks.refusal(address.parse().unwrap()).unwrap_or_default();
        assert_eq!(refusal(&networks, "198.51.100.31"), "");
        assert!(refusal(&networks, "198.51.100.5").contains("virtual address"));
        assert!(refusal(&networks, "::ffff:198.51.100.5").contains("virtual address"));
        for address in ["172.30.0.1", "fd02::1"] {
            assert!(refusal(&networks, address).contains("pods or services"), "{address}");
        }
        for address in ["192.0.2.1", "127.0.0.1", "2001:db8::1"] {
            assert!(refusal(&networks, address).contains("outside"), "{address}");
        }
        let open = Networks { machine: Vec::new(), ..networks };
        assert_eq!(refusal(&open, "192.0.2.1"), "", "the platform gives it out");
        assert!(refusal(&open, "172.30.0.1").contains("pods or services"));
    }
}
