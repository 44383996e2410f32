//! Addresses that somebody reserved: the file of a DHCP server that knows every machine and answers no other.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// What a DHCP server keeps for a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reservation {
    /// One of each family.
    pub(super) addresses: Vec<IpAddr>,
    pub(super) hostname: Option<String>,
}

/// The file, in dnsmasq's language. It is read whenever a machine asks: people write it while machines exist already.
#[derive(Clone, Debug)]
pub(super) struct Reservations(PathBuf);

impl Reservations {
    pub(super) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// What is kept for a hardware address.
    pub(super) fn find(&self, mac: &str) -> Option<Reservation> {
        let text = std::fs::read_to_string(&self.0).ok()?;
        find(&text, mac)
    }
}

/// `dhcp-host=MAC,ADDRESS,[ADDRESS],NAME`, in any order, with whatever else stands there.
fn find(text: &str, mac: &str) -> Option<Reservation> {
    let hosts = text.lines().filter_map(|line| line.trim().strip_prefix("dhcp-host="));
    let fields = hosts.map(|host| host.split(',').map(str::trim).collect::<Vec<_>>());
    let own = fields.into_iter().find(|fields| fields.iter().any(|field| field.eq_ignore_ascii_case(mac)))?;
    let address = |field: &&str| field.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
    let is_name = |field: &&&str| !field.contains([':', '[']) && address(field).is_none();
    let addresses = own.iter().filter_map(address).collect();
    Some(Reservation { addresses, hostname: own.iter().find(is_name).map(|name| (*name).to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_gets_what_is_kept_for_it_and_no_other_does() {
        let text = "domain=x\ndhcp-host=56:6F:00:00:00:01,127.66.0.17,[fd66::11],master-0\n# dhcp-host=56:6f:00:00:00:02,127.66.0.18\n";
        let addresses = ["127.66.0.17", "fd66::11"].map(|address| address.parse().unwrap());
        let kept = Reservation { addresses: addresses.to_vec(), hostname: Some("master-0".to_owned()) };
        assert_eq!(find(text, "56:6f:00:00:00:01"), Some(kept));
        assert_eq!(find(text, "56:6f:00:00:00:02"), None);
    }
}
