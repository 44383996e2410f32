//! Addresses that a machine gives itself, because its files say so.

use std::net::Ipv4Addr;

use super::system::System;

/// Where `NetworkManager` keeps connections.
const CONNECTIONS: &str = "/etc/NetworkManager/system-connections";

/// The address of the interface with a hardware address, as a connection of the system names it: one that is bound to the
/// hardware address, or to none.
pub(super) fn static_address(system: &System, mac: &str) -> Option<Ipv4Addr> {
    let connections = system.directory(CONNECTIONS);
    connections.iter().find_map(|(_, contents)| address(&String::from_utf8_lossy(contents), mac))
}

fn address(connection: &str, mac: &str) -> Option<Ipv4Addr> {
    let mut section = "";
    let mut found = None;
    for line in connection.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        }
        match (section, line.split_once('=')) {
            ("ethernet", Some(("mac-address", own))) if !own.eq_ignore_ascii_case(mac) => return None,
            ("ipv4", Some(("address1", value))) => {
                found = value.split(['/', ',']).next().and_then(|text| text.parse().ok());
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
        let bound =
            "[ethernet]\nmac-address=56:6F:00:00:00:01\n[ipv4]\nmethod=manual\naddress1=127.66.0.17/16,127.66.0.1\n";
        assert_eq!(address(bound, "56:6f:00:00:00:01"), Some([127, 66, 0, 17].into()));
        assert_eq!(address(bound, "56:6f:00:00:00:02"), None);
        assert_eq!(address("[ipv6]\naddress1=::1/64\n", "56:6f:00:00:00:01"), None);
    }
}
