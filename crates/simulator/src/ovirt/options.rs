//! The command line of the simulator.

use std::path::PathBuf;

use ipnet::Ipv4Net;

use crate::guests::LightOptions;

/// Options of `landfall sim ovirt`.
#[derive(Clone, Debug, clap::Args)]
// The group's name is that of the type by default, which is also that of the options flattened below.
#[group(id = "ovirt")]
pub struct Options {
    /// What is in the engine's world at the start, as YAML [default: 1 data centre, 1 cluster, 3 hosts, a template `fcos`]
    #[arg(long, value_name = "FILE")]
    pub inventory: Option<PathBuf>,

    /// Who may log in with all rights, with the profile; replaces the inventory's administrator
    #[arg(long, value_name = "NAME@PROFILE")]
    pub user: Option<String>,

    /// The password of that user
    #[arg(long, value_name = "PASSWORD", env = "LANDFALL_SIM_PASSWORD", hide_env_values = true)]
    pub password: Option<String>,

    /// Where images are kept [default: beside --state, else a temporary directory]
    #[arg(long, value_name = "DIR")]
    pub images: Option<PathBuf>,

    /// Address and port to serve image transfers on, for all hosts; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub imageio_listen: String,

    /// Address and port to serve image transfers on, as the engine's proxy does; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub imageio_proxy_listen: String,

    /// What runs in a machine that is started
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Guests::Light)]
    pub guests: Guests,

    /// Loopback network of light guests; its first 256 addresses are left for virtual ones
    #[arg(long, value_name = "CIDR", default_value_t = LightOptions::default().network, value_parser = parse_loopback)]
    pub guest_network: Ipv4Net,

    #[command(flatten)]
    #[allow(missing_docs, reason = "clap would show a comment here as a heading")]
    pub simulator: crate::core::Options,
}

/// What runs in a machine that is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Guests {
    /// Nothing: the machine powers up and reports an address
    Plain,
    /// A light guest that does on loopback what its Ignition config says
    Light,
}

fn parse_loopback(text: &str) -> Result<Ipv4Net, String> {
    match text.parse::<Ipv4Net>() {
        Ok(network) if network.network().is_loopback() && network.prefix_len() >= 8 => Ok(network.trunc()),
        _ => Err("a network such as 127.66.0.0/16 is expected, inside of 127.0.0.0/8".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Flags {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn the_flags_are_consistent() {
        Flags::command().debug_assert();
    }

    #[test]
    fn guests_stay_on_loopback() {
        let parse = |network: &str| Flags::try_parse_from(["ovirt", "--guest-network", network]);
        assert_eq!(parse("127.70.0.9/16").unwrap().options.guest_network.to_string(), "127.70.0.0/16");
        for network in ["192.0.2.0/24", "0.0.0.0/0", "127.0.0.0/4", "127.66.0.0"] {
            assert!(parse(network).is_err(), "{network}");
        }
    }
}
