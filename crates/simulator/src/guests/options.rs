//! How guests behave, from the command line or from a test.

use std::net::SocketAddr;
use std::path::PathBuf;

use ipnet::{Ipv4Net, Ipv6Net};
use rustls::pki_types::{CertificateDer, pem::PemObject as _};

use super::faults::GuestFault;
use super::pods::Programs;
use super::real::RealOptions;
use super::times::Times;
use crate::core::clock::Pace;

/// Loopback network of guests if none is chosen.
pub(super) const NETWORK: Ipv4Net = Ipv4Net::new_assert(std::net::Ipv4Addr::new(127, 66, 0, 0), 16);

/// How fast guests are beside a clock that is stepped: they do not wait for it, and should not be waited for.
const BESIDE_A_STEPPED_CLOCK: f64 = 1000.0;

/// Options of every simulator whose machines have guests; a platform's command flattens them into its own.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "guests")]
#[command(next_help_heading = "Guests")]
pub struct Options {
    /// What runs in the machines
    #[arg(id = "guests-kind", long = "guests", visible_alias = "hosts", value_enum, value_name = "KIND", default_value_t = Kind::Light)]
    pub kind: Kind,

    /// Loopback network that light guests get their addresses from, except its first 256 addresses [default: the first of
    /// 127.66.0.0/16, 127.67.0.0/16, … that no other simulator uses]
    #[arg(id = "guest-network", long = "guest-network", value_name = "CIDR", value_parser = parse_network)]
    pub network: Option<Ipv4Net>,

    /// IPv6 network whose addresses light guests may have, too.
    #[arg(
        id = "guest-network-v6",
        long = "guest-network-v6",
        value_name = "CIDR",
        value_parser = parse_network_v6,
        help = "IPv6 network in fd00::/8 whose addresses light guests may have, too, if reservations or their configs say so. \
                The host must have them on its loopback interface"
    )]
    pub network_v6: Option<Ipv6Net>,

    /// File with the reservations of a DHCP server, as dnsmasq writes them (dhcp-host=MAC,ADDRESS,[ADDRESS],NAME): light guests
    /// have these addresses and names, and a machine that is not in it has none
    #[arg(id = "guest-reservations", long = "guest-reservations", value_name = "FILE")]
    pub reservations: Option<PathBuf>,

    /// Name server that light guests ask for names which their hosts files do not have
    #[arg(id = "guest-resolver", long = "guest-resolver", value_name = "ADDRESS:PORT")]
    pub resolver: Option<SocketAddr>,

    /// File with authorities, in PEM, that light guests and their firmware trust as everybody trusts public ones
    #[arg(id = "guest-ca", long = "guest-ca", value_name = "FILE", value_parser = read_authorities)]
    pub authorities: Option<Authorities>,

    /// Let light guests misbehave: NAME never-boots|silent-agent|slow=N, for names that contain NAME; may be repeated
    #[arg(id = "guest-fault", long = "guest-fault", value_name = "RULE")]
    pub faults: Vec<GuestFault>,

    /// What light guests run as pods; not to be said on the command line.
    #[arg(skip)]
    pub programs: Programs,

    #[command(flatten)]
    #[allow(missing_docs, reason = "clap would show a comment here as a heading")]
    pub real: RealOptions,
}

/// What runs in the machines of a simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Guests that fetch their Ignition config and become the cluster it describes
    Light,
    /// Guests that only boot, get an address each, and obey
    Plain,
    /// Hosts: Debian with systemd in a container each, which apply their Ignition config and run what it names; needs root
    Real,
}

impl Options {
    /// Returns the loopback network of guests: the chosen one, or the default.
    pub fn network(&self) -> Ipv4Net {
        self.network.unwrap_or(NETWORK)
    }

    /// What light guests need to know, on a clock of this pace.
    pub fn light(&self, pace: Pace) -> LightOptions {
        let speed = match pace {
            Pace::Scaled(scale) => scale,
            Pace::Stepped => BESIDE_A_STEPPED_CLOCK,
        };
        let times = Times { speed, ..Times::default() };
        LightOptions {
            network: self.network(),
            network_v6: self.network_v6,
            reservations: self.reservations.clone(),
            resolver: self.resolver,
            authorities: self.authorities.clone().unwrap_or_default(),
            times,
            faults: self.faults.clone(),
            programs: self.programs.clone(),
        }
    }
}

/// How light guests behave.
#[derive(Clone, Debug)]
pub struct LightOptions {
    /// The loopback network that guests get their addresses from. Its first 256 addresses are never given away, so that
    /// virtual addresses can be chosen among them.
    pub network: Ipv4Net,
    /// The IPv6 network whose addresses guests may have, too.
    pub network_v6: Option<Ipv6Net>,
    /// The file with what a DHCP server keeps for each machine; without, every machine gets an address of the network.
    pub reservations: Option<PathBuf>,
    /// The name server of the site; without, guests know only the names in their hosts files.
    pub resolver: Option<SocketAddr>,
    /// Whom guests trust without being told to.
    pub authorities: Authorities,
    /// How long things take.
    pub times: Times,
    /// Machines that misbehave from the beginning.
    pub faults: Vec<GuestFault>,
    /// What they run as pods.
    pub programs: Programs,
}

impl Default for LightOptions {
    fn default() -> Self {
        Self {
            network: NETWORK,
            network_v6: None,
            reservations: None,
            resolver: None,
            authorities: Authorities::default(),
            times: Times::default(),
            faults: Vec::new(),
            programs: Programs::default(),
        }
    }
}

/// Certificates of authorities.
pub type Authorities = std::sync::Arc<[CertificateDer<'static>]>;

fn read_authorities(path: &str) -> Result<Authorities, String> {
    let found = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    found.map(Into::into).map_err(|error| format!("{path} has no certificates: {error}"))
}

fn parse_network(text: &str) -> Result<Ipv4Net, String> {
    let network: Ipv4Net = text.parse().map_err(|_| "a network is written like 127.66.0.0/16".to_owned())?;
    if network.network().is_loopback() && network.prefix_len() >= 8 {
        Ok(network.trunc())
    } else {
        Err("guests live on loopback addresses: choose a network in 127.0.0.0/8".to_owned())
    }
}

fn parse_network_v6(text: &str) -> Result<Ipv6Net, String> {
    let network: Ipv6Net = text.parse().map_err(|_| "a network is written like fd66::/64".to_owned())?;
    if network.network().octets()[0] == 0xfd && network.prefix_len() >= 8 {
        Ok(network.trunc())
    } else {
        Err("guests reach nobody outside: choose a network in fd00::/8".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::faults::GuestEffect;
    use super::*;

    #[derive(Debug, Parser)]
    struct Flags {
        #[command(flatten)]
        options: Options,
    }

    fn parse(flags: &[&str]) -> Result<Options, String> {
        let parsed = Flags::try_parse_from([&["sim"], flags].concat());
        parsed.map(|flags| flags.options).map_err(|error| error.to_string())
    }

    #[test]
    fn flags_and_defaults() {
        let options = parse(&[]).unwrap();
        assert_eq!((options.kind, options.network()), (Kind::Light, NETWORK));
        let flags = ["--guests=plain", "--guest-network=127.9.1.0/16", "--guest-fault", "master-1 slow=2.5"];
        let options = parse(&flags).unwrap();
        assert_eq!((options.kind, options.network().to_string().as_str()), (Kind::Plain, "127.9.0.0/16"));
        assert_eq!(options.faults, [GuestFault { name: "master-1".to_owned(), effect: GuestEffect::Slow(2.5) }]);
        assert!((options.light(Pace::Scaled(20.0)).times.speed - 20.0).abs() < f64::EPSILON);
    }

    #[test]
    fn mistakes_are_explained() {
        for (flag, message) in [
            ("--guest-network=10.0.0.0/8", "choose a network in 127.0.0.0/8"),
            ("--guest-network=127.0.0.0/4", "choose a network in 127.0.0.0/8"),
            ("--guest-network=lo", "written like 127.66.0.0/16"),
            ("--guest-network-v6=2001:db8::/64", "choose a network in fd00::/8"),
            ("--guest-network-v6=::1", "written like fd66::/64"),
            ("--guest-fault=master", "a rule is a part of a name and an effect"),
            ("--guest-fault=master explodes", "'explodes' is none of never-boots, silent-agent and slow=N"),
            ("--guest-fault=master slow=-1", "'slow=-1' is none of"),
        ] {
            let error = parse(&[flag]).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
