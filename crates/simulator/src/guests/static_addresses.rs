//! Addresses that a machine gives itself, because its files say so.

use std::net::IpAddr;

use super::system::System;

/// Where `NetworkManager` keeps connections.
const CONNECTIONS: &str = "/etc/NetworkManager/system-connections";

/// The addresses of the interface with a hardware address, as a connection of the system names them: one that is bound to the
/// hardware address, or to none.
pub(super) fn static_addresses(system: &System, mac: &str) -> Vec<IpAddr> {
    let connections = system.directory(CONNECTIONS);
    let found = connections.iter().map(|(_, contents)| addresses(&String::from_utf8_lossy(contents), mac));
    found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

fn addresses(connection: &str, mac: &str) -> Vec<IpAddr> {
    let mut section = "";
    let mut found = Vec::new();
    for line in connection.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        }
        match (section, line.split_once('=')) {
            ("ethernet", Some(("mac-address", own))) if !own.eq_ignore_ascii_case(mac) => return Vec::new(),
            ("ipv4" | "ipv6", Some(("address1", value))) => {
                found.extend(value.split(['/', ',']).next().and_then(|text| text.parse::<IpAddr>().ok()));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_for_its_hardware_address() {
        let bound = "[ethernet]\nmac-address=56:6F:00:00:00:01\n[ipv4]\nmethod=manual\naddress1=127.66.0.17/16,127.66.0.1\n[ipv6]\naddress1=fd66::11/64\n";
        let own = ["127.66.0.17", "fd66::11"].map(|address| address.parse::<IpAddr>().unwrap());
        assert_eq!(addresses(bound, "56:6f:00:00:00:01"), own);
        assert!(addresses(bound, "56:6f:00:00:00:02").is_empty());
    }
}
