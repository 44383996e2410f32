//! Claims of loopback networks, so that two simulators on one machine never share addresses.

use std::io;
use std::net::{Ipv4Addr, TcpListener};

use ipnet::Ipv4Net;

use super::options::{Kind, NETWORK, Options};

/// The port on the first address of a loopback network whose listener owns the network. Tests and their scripts use it, too.
const CLAIM_PORT: u16 = 22622;

/// Addresses and ports where clusters of a process without a claim listen: the example's API address, its API and its
/// config server.
const API_ADDRESS: u32 = 5;
const API_PORTS: [u16; 2] = [6443, 22623];

/// A loopback network that no other simulator on this machine uses. Dropping it gives the network back.
#[derive(Debug)]
pub struct NetworkClaim {
    network: Ipv4Net,
    _listener: TcpListener,
}

impl NetworkClaim {
    /// Claims a network for light guests if the user chose none, and writes it into the options.
    ///
    /// Without a state file this is the first free one of 127.66.0.0/16, 127.67.0.0/16 and so on. A state file refers to
    /// addresses, so with one it is always the default network. Guests of other kinds do not listen on loopback addresses.
    pub fn choose(options: &mut Options, has_state: bool) -> io::Result<Option<Self>> {
        if options.network.is_some() || options.kind != Kind::Light {
            return Ok(None);
        }
        let claim = if has_state { Self::claim(NETWORK) } else { Self::first_free() }?;
        options.network = Some(claim.network);
        Ok(Some(claim))
    }

    /// Returns the claimed network.
    pub fn network(&self) -> Ipv4Net {
        self.network
    }

    fn first_free() -> io::Result<Self> {
        let [_, first, ..] = NETWORK.network().octets();
        let networks = (first..=u8::MAX).map(|second| Ipv4Net::new_assert(Ipv4Addr::new(127, second, 0, 0), 16));
        let free = networks.map(Self::claim).find(|claim| !matches!(claim, Err(error) if is_taken(error)));
        free.unwrap_or_else(|| Err(io::ErrorKind::AddrInUse.into()))
    }

    fn claim(network: Ipv4Net) -> io::Result<Self> {
        let address = |number: u32| Ipv4Addr::from(u32::from(network.network()) + number);
        let listener = TcpListener::bind((address(1), CLAIM_PORT))?;
        for port in API_PORTS {
            TcpListener::bind((address(API_ADDRESS), port))?;
        }
        Ok(Self { network, _listener: listener })
    }
}

fn is_taken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrInUse
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Flags {
        #[command(flatten)]
        options: Options,
    }

    fn options(flags: &[&str]) -> Options {
        Flags::try_parse_from(std::iter::once("x").chain(flags.iter().copied())).unwrap().options
    }

    #[test]
    fn two_simulators_get_two_networks() {
        let (mut one, mut other) = (options(&[]), options(&[]));
        let first = NetworkClaim::choose(&mut one, false).unwrap().unwrap();
        let second = NetworkClaim::choose(&mut other, false).unwrap().unwrap();
        assert_ne!(first.network(), second.network());
        assert_eq!([one.network(), other.network()], [first.network(), second.network()]);
    }

    #[test]
    fn a_claim_ends_with_its_owner() {
        // A network that other tests do not claim.
        let network: Ipv4Net = "127.61.0.0/16".parse().unwrap();
        let first = NetworkClaim::claim(network).unwrap();
        assert!(is_taken(&NetworkClaim::claim(network).unwrap_err()));
        drop(first);
        NetworkClaim::claim(network).unwrap();
    }

    #[test]
    fn a_cluster_without_a_claim_is_respected() {
        let network: Ipv4Net = "127.62.0.0/16".parse().unwrap();
        let _api = TcpListener::bind("127.62.0.5:6443").unwrap();
        assert!(is_taken(&NetworkClaim::claim(network).unwrap_err()));
    }

    #[test]
    fn only_light_guests_without_a_network_need_a_claim() {
        for flags in [&["--guest-network=127.9.0.0/16"][..], &["--guests=plain"]] {
            let mut options = options(flags);
            let before = options.network;
            assert!(NetworkClaim::choose(&mut options, false).unwrap().is_none());
            assert_eq!(options.network, before);
        }
    }
}
