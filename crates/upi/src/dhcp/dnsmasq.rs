//! dnsmasq.

use std::net::IpAddr;

use super::{Reservation, name_servers, unknown};
use crate::{Inventory, text::Text};

/// A file for `/etc/dnsmasq.d`, for both families at once.
pub(super) fn configuration(inventory: &Inventory, reserved: &[Reservation]) -> String {
    let mut text = Text::default();
    text.line("# Written by landfall upi create; for /etc/dnsmasq.d. Only machines of the cluster are answered.");
    text.line(format_args!("domain={}", inventory.cluster_domain));
    for subnet in &inventory.network.subnets {
        let (network, prefix) = (subnet.cidr.network(), subnet.cidr.prefix_len());
        if network.is_ipv4() {
            text.line(format_args!("dhcp-range={network},static,{},24h", subnet.cidr.netmask()));
            text.line(format_args!("dhcp-option=option:router,{}", subnet.gateway));
        } else {
            text.line(format_args!("dhcp-range={network},static,{prefix},24h"));
        }
    }
    let four = name_servers(inventory, true);
    if !four.is_empty() {
        text.line(format_args!("dhcp-option=option:dns-server,{}", four.join(",")));
    }
    let six: Vec<String> = name_servers(inventory, false).iter().map(|server| format!("[{server}]")).collect();
    if !six.is_empty() {
        text.line(format_args!("dhcp-option=option6:dns-server,{}", six.join(",")));
    }
    for reservation in reserved {
        let Some(mac) = &reservation.mac else {
            text.line(unknown(reservation));
            continue;
        };
        let addresses = reservation.addresses.iter().map(|address| match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        });
        let addresses = addresses.collect::<Vec<_>>().join(",");
        text.line(format_args!("dhcp-host={mac},{addresses},{}", reservation.name));
    }
    text.finish()
}
