//! Networks, vNIC profiles and hardware addresses.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ovirt::representation::Tree;
use crate::ovirt::table::{Id, entities};

entities!(Network, VnicProfile);

/// A logical network of a data centre.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Network {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) comment: Box<str>,
    pub(crate) data_center: Id,
    /// What can be configured and has no effect here: MTU, VLAN, STP, …
    pub(crate) config: Tree,
    /// Whether VMs may use it.
    pub(crate) for_vms: bool,
}

/// How a VM's interface attaches to a network.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct VnicProfile {
    pub(crate) id: Id,
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) network: Id,
    pub(crate) config: Tree,
}

/// The hardware addresses that interfaces get when the client gives none.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MacPool {
    pub(crate) id: Id,
    /// The first address of the range; there are 2²⁴ − 1 after it.
    pub(crate) first: u64,
    next: u64,
    used: BTreeSet<Box<str>>,
}

impl MacPool {
    /// A range that begins at `first`.
    pub(crate) fn new(id: Id, first: u64) -> Self {
        Self { id, first, next: 0, used: BTreeSet::new() }
    }

    /// The last address of the range.
    pub(crate) fn last(&self) -> u64 {
        self.first | 0x00ff_ffff
    }

    /// Takes an address that nobody has.
    pub(crate) fn take(&mut self) -> Option<Box<str>> {
        for _ in 0..=0x00ff_ffff_u32 {
            let mac: Box<str> = format_mac(self.first | self.next).into();
            self.next = (self.next + 1) & 0x00ff_ffff;
            if self.used.insert(mac.clone()) {
                return Some(mac);
            }
        }
        None
    }

    /// Takes this address; false if somebody has it.
    pub(crate) fn claim(&mut self, mac: &str) -> bool {
        self.used.insert(mac.into())
    }

    /// Gives an address back.
    pub(crate) fn release(&mut self, mac: &str) {
        self.used.remove(mac);
    }
}

/// `56:6f:…`, lower case.
pub(crate) fn format_mac(mac: u64) -> String {
    mac.to_be_bytes()[2..].iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

/// Reads `56:6F:…` into its canonical, lower-case form.
pub(crate) fn canonical_mac(text: &str) -> Option<Box<str>> {
    let parts: Vec<&str> = text.split(':').collect();
    let valid = parts.len() == 6
        && parts.iter().all(|part| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_hexdigit()));
    valid.then(|| text.to_ascii_lowercase().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_given_out_once() {
        let mut pool = MacPool::new(Id::nil(), 0x56_6f_00_00_00_00);
        assert!(pool.claim("56:6f:00:00:00:01"));
        assert_eq!(pool.take().as_deref(), Some("56:6f:00:00:00:00"));
        assert_eq!(pool.take().as_deref(), Some("56:6f:00:00:00:02"));
        assert!(!pool.claim("56:6f:00:00:00:02"));
        pool.release("56:6f:00:00:00:02");
        assert!(pool.claim("56:6f:00:00:00:02"));
    }

    #[test]
    fn only_six_pairs_of_digits_are_an_address() {
        assert_eq!(canonical_mac("56:6F:1A:00:00:01").as_deref(), Some("56:6f:1a:00:00:01"));
        for wrong in ["", "56:6f:1a:00:00", "56:6f:1a:00:00:zz", "566f1a000001", "56:6f:1a:00:00:01:02"] {
            assert_eq!(canonical_mac(wrong), None, "{wrong}");
        }
    }
}
