//! Addresses, as a DHCP server would give them: always the same one to the same interface.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};

/// Addresses at the beginning of the network that are left to people, who choose virtual addresses there.
const LEFT_TO_PEOPLE: u32 = 256;

/// Which interface has which address.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Leases {
    network: Ipv4Net,
    /// By hardware address.
    bound: BTreeMap<String, Ipv4Addr>,
    /// Addresses that are bound, or that configs name as virtual ones.
    taken: BTreeSet<Ipv4Addr>,
}

impl Leases {
    pub(super) fn new(network: Ipv4Net) -> Self {
        Self { network, bound: BTreeMap::new(), taken: BTreeSet::new() }
    }

    /// Returns the network that addresses are taken from.
    pub(super) fn network(&self) -> Ipv4Net {
        self.network
    }

    /// Never gives an address away that is free now.
    pub(super) fn reserve(&mut self, address: Ipv4Addr) {
        self.taken.insert(address);
    }

    /// The address of an interface: the place that its hardware address points to, or the next one that is free. `None` if
    /// the network is full.
    pub(super) fn bind(&mut self, mac: &str) -> Option<Ipv4Addr> {
        if let Some(address) = self.bound.get(mac) {
            return Some(*address);
        }
        let first = u32::from(self.network.network());
        let size = u32::from(self.network.broadcast()) - first;
        let left = LEFT_TO_PEOPLE.min(size / 2).max(1);
        let places = size.checked_sub(left).filter(|places| *places > 0)?;
        let start = number(mac) % places;
        let free = (0..places)
            .map(|step| Ipv4Addr::from(first + left + (start + step) % places))
            .find(|address| !self.taken.contains(address))?;
        self.taken.insert(free);
        self.bound.insert(mac.to_owned(), free);
        Some(free)
    }
}

/// The last three bytes of a hardware address, which makers and platforms count up.
fn number(mac: &str) -> u32 {
    let digits: String = mac.chars().filter(char::is_ascii_hexdigit).collect();
    u32::from_str_radix(&digits[digits.len().saturating_sub(6)..], 16).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leases(network: &str) -> Leases {
        Leases::new(network.parse().unwrap())
    }

    #[test]
    fn an_address_follows_from_the_hardware_address() {
        let (mut one, mut other) = (leases("127.66.0.0/16"), leases("127.66.0.0/16"));
        let macs = ["56:6f:00:00:00:01", "56:6f:00:00:00:02"];
        let first: Vec<_> = macs.iter().map(|mac| one.bind(mac)).collect();
        let second: Vec<_> = macs.iter().rev().map(|mac| other.bind(mac)).collect();
        assert_eq!(first, second.into_iter().rev().collect::<Vec<_>>());
        assert_eq!(first, [Some([127, 66, 1, 1].into()), Some([127, 66, 1, 2].into())]);
        assert_eq!(one.bind(macs[0]), first[0]);
    }

    #[test]
    fn virtual_addresses_and_taken_ones_are_passed_over() {
        let mut leases = leases("127.66.0.0/16");
        leases.reserve([127, 66, 1, 1].into());
        assert_eq!(leases.bind("56:6f:00:00:00:01"), Some([127, 66, 1, 2].into()));
        assert_eq!(leases.bind("56:6f:00:00:00:02"), Some([127, 66, 1, 3].into()));
    }

    #[test]
    fn a_full_network_gives_nothing() {
        let mut leases = leases("127.66.0.0/29");
        let given: BTreeSet<_> = (0..4).filter_map(|last| leases.bind(&format!("56:6f:00:00:00:0{last}"))).collect();
        assert_eq!(given.len(), 4);
        assert_eq!(leases.bind("56:6f:00:00:00:09"), None);
        assert!(!given.contains(&[127, 66, 0, 0].into()) && !given.contains(&[127, 66, 0, 7].into()));
    }
}
