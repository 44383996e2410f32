//! ISC dhcpd.

use std::fmt::Write as _;

use super::{Reservation, name_servers, unknown};
use crate::{Inventory, Subnet};

/// The configuration for the subnets of one family: dhcpd serves the families by two processes.
pub(super) fn configuration(inventory: &Inventory, subnets: &[&Subnet], reserved: &[Reservation]) -> String {
    let v4 = subnets.iter().any(|subnet| subnet.cidr.addr().is_ipv4());
    let servers = name_servers(inventory, v4).join(", ");
    let domain = &inventory.cluster_domain;
    let mut text =
        "# Written by landfall upi create. Only machines of the cluster are answered: there is no free range.\n"
            .to_owned();
    let mut line = |depth: usize, line: &str| {
        let _ = writeln!(text, "{:width$}{line}", "", width = depth * 4);
    };
    line(0, "authoritative;");
    line(0, "default-lease-time 86400;");
    line(0, "max-lease-time 604800;");
    for subnet in subnets {
        line(0, "");
        if v4 {
            line(0, &format!("subnet {} netmask {} {{", subnet.cidr.network(), subnet.cidr.netmask()));
            line(1, &format!("option routers {};", subnet.gateway));
            line(1, &format!("option domain-name \"{domain}\";"));
        } else {
            line(0, &format!("subnet6 {} {{", subnet.cidr.trunc()));
            line(1, &format!("option dhcp6.domain-search \"{domain}\";"));
        }
        if !servers.is_empty() {
            let option = if v4 { "domain-name-servers" } else { "dhcp6.name-servers" };
            line(1, &format!("option {option} {servers};"));
        }
        line(0, "}");
    }
    for reservation in reserved {
        let address = reservation.addresses.iter().find(|address| address.is_ipv4() == v4);
        line(0, "");
        match (&reservation.mac, address) {
            (Some(mac), Some(address)) => {
                line(0, &format!("host {} {{", reservation.name));
                line(1, &format!("hardware ethernet {mac};"));
                line(1, &format!("{} {address};", if v4 { "fixed-address" } else { "fixed-address6" }));
                if v4 {
                    line(1, &format!("option host-name \"{}\";", reservation.name));
                }
                line(0, "}");
            }
            (None, _) => line(0, unknown(reservation).trim_end()),
            (_, None) => {}
        }
    }
    text
}
