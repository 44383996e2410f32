//! dnsmasq.

use std::net::IpAddr;

use super::{Reservation, name_servers, unknown};
use crate::Inventory;

/// A file for `/etc/dnsmasq.d`, for both families at once.
pub(super) fn configuration(inventory: &Inventory, reserved: &[Reservation]) -> String {
    let mut text =
        "# Written by landfall upi create; for /etc/dnsmasq.d. Only machines of the cluster are answered.\n".to_owned();
    text.push_str(&format!("domain={}\n", inventory.cluster_domain));
    for subnet in &inventory.network.subnets {
        let (network, prefix) = (subnet.cidr.network(), subnet.cidr.prefix_len());
        if network.is_ipv4() {
            text.push_str(&format!("dhcp-range={network},static,{},24h\n", subnet.cidr.netmask()));
            text.push_str(&format!("dhcp-option=option:router,{}\n", subnet.gateway));
        } else {
            text.push_str(&format!("dhcp-range={network},static,{prefix},24h\n"));
        }
    }
    let four = name_servers(inventory, true);
    if !four.is_empty() {
        text.push_str(&format!("dhcp-option=option:dns-server,{}\n", four.join(",")));
    }
    let six: Vec<String> = name_servers(inventory, false).iter().map(|server| format!("[{server}]")).collect();
    if !six.is_empty() {
        text.push_str(&format!("dhcp-option=option6:dns-server,{}\n", six.join(",")));
    }
    for reservation in reserved {
        let Some(mac) = &reservation.mac else {
            text.push_str(&unknown(reservation));
            continue;
        };
        let addresses = reservation.addresses.iter().map(|address| match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        });
        let addresses = addresses.collect::<Vec<_>>().join(",");
        text.push_str(&format!("dhcp-host={mac},{addresses},{}\n", reservation.name));
    }
    text
}
