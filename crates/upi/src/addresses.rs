//! Addresses for machines of whom nobody has said where they are.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

use crate::Error;

/// The first host number that is given to a machine. Below are routers, load balancers and name servers, by custom.
const FIRST: u128 = 16;

/// As many addresses of a network as there are machines, in order, without those that are taken.
pub(crate) fn assign(network: IpNet, machines: usize, taken: &[IpAddr]) -> Result<Vec<IpAddr>, Error> {
    let bits = u32::from(network.max_prefix_len() - network.prefix_len());
    // A small network has no room for customs.
    let first = if bits <= 5 { 2 } else { FIRST };
    let last = 1_u128.checked_shl(bits).map_or(u128::MAX, |size| size.saturating_sub(2));
    let hosts = (first..=last).map(|number| host(network, number)).filter(|address| !taken.contains(address));
    let found: Vec<IpAddr> = hosts.take(machines).collect();
    if found.len() < machines {
        return Err(Error::SmallNetwork { network, machines });
    }
    Ok(found)
}

/// The address with a number in a network.
pub(crate) fn host(network: IpNet, number: u128) -> IpAddr {
    match network.network() {
        IpAddr::V4(first) => {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            Ipv4Addr::from(u32::from(first).saturating_add(number)).into()
        }
        IpAddr::V6(first) => Ipv6Addr::from(u128::from(first).saturating_add(number)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> IpNet {
        text.parse().unwrap()
    }

    #[test]
    fn addresses_are_in_order_and_nobody_elses() {
        let taken = ["192.168.10.17".parse().unwrap()];
        let found = assign(network("192.168.10.0/24"), 3, &taken).unwrap();
        assert_eq!(
            found,
            ["192.168.10.16", "192.168.10.18", "192.168.10.19"].map(|text| text.parse::<IpAddr>().unwrap())
        );
        let six = assign(network("2001:db8::/64"), 2, &[]).unwrap();
        assert_eq!(six, ["2001:db8::10", "2001:db8::11"].map(|text| text.parse::<IpAddr>().unwrap()));
    }

    #[test]
    fn a_small_network_says_so() {
        assert!(assign(network("192.168.10.0/28"), 13, &[]).is_ok());
        let error = assign(network("192.168.10.0/28"), 14, &[]).unwrap_err();
        assert_eq!(error.to_string(), "192.168.10.0/28 has no room for 14 machines");
    }
}
