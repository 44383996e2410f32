//! The way back from addresses to names.

use std::net::IpAddr;

use ipnet::IpNet;

/// The name under which the name of an address is found.
pub(crate) fn name(address: IpAddr) -> String {
    labels(address, usize::MAX)
}

/// The zone in which the addresses of a network find their names: the smallest that DNS can cut out and that does not reach
/// beyond the network, or one of them if several are needed.
pub(super) fn zone(address: IpAddr, network: IpNet) -> String {
    let (per_label, most) = if address.is_ipv4() { (8, 3) } else { (4, 31) };
    let labels_of_network = usize::from(network.prefix_len()).div_ceil(per_label);
    labels(address, labels_of_network.clamp(1, most))
}

/// The reverse name with so many labels of the address.
fn labels(address: IpAddr, count: usize) -> String {
    let (labels, suffix): (Vec<String>, &str) = match address {
        IpAddr::V4(address) => (address.octets().iter().map(ToString::to_string).collect(), "in-addr.arpa"),
        IpAddr::V6(address) => {
            let nibbles = address.octets().into_iter().flat_map(|octet| [octet >> 4, octet & 15]);
            (nibbles.map(|nibble| format!("{nibble:x}")).collect(), "ip6.arpa")
        }
    };
    let kept = labels.into_iter().take(count).collect::<Vec<_>>();
    kept.into_iter().rev().chain([suffix.to_owned()]).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone_of(address: &str, network: &str) -> String {
        zone(address.parse().unwrap(), network.parse().unwrap())
    }

    #[test]
    fn zones_end_where_dns_can_cut() {
        assert_eq!(zone_of("192.168.10.16", "192.168.10.0/24"), "10.168.192.in-addr.arpa");
        assert_eq!(zone_of("192.168.10.16", "192.168.0.0/20"), "10.168.192.in-addr.arpa");
        assert_eq!(zone_of("192.168.10.16", "192.168.10.0/28"), "10.168.192.in-addr.arpa");
        assert_eq!(zone_of("10.1.2.3", "10.0.0.0/8"), "10.in-addr.arpa");
        assert_eq!(zone_of("127.66.0.16", "127.66.0.0/16"), "66.127.in-addr.arpa");
        let six = "0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa";
        assert_eq!(zone_of("2001:db8::10", "2001:db8::/64"), six);
        assert!(name("2001:db8::10".parse().unwrap()).ends_with(six));
    }
}
