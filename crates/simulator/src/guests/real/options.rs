//! How real hosts are made, from the command line or from a test.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use ipnet::Ipv4Net;

/// The network of hosts if none is chosen: one that documentation uses and nobody routes.
const NETWORK: Ipv4Net = Ipv4Net::new_assert(Ipv4Addr::new(198, 51, 100, 0), 24);

/// Options of simulators whose machines can be real hosts.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "real-hosts")]
pub struct RealOptions {
    /// Network of real hosts; its first address is the simulator's, its lower half is left for virtual addresses
    #[arg(id = "host-network", long = "host-network", value_name = "CIDR", default_value_t = NETWORK, value_parser = parse_network)]
    pub network: Ipv4Net,

    /// What real hosts are made of, built by `make tools` [default: real-hosts in the cache directory]
    #[arg(id = "host-tools", long = "host-tools", value_name = "DIR")]
    pub tools: Option<PathBuf>,

    /// A `landfall-node` for real hosts to download [default: the one beside this program]
    #[arg(id = "host-agent", long = "host-agent", value_name = "FILE")]
    pub node_agent: Option<PathBuf>,

    /// Where the consoles of real hosts are kept [default: nowhere, once the simulator has ended]
    #[arg(id = "host-consoles", long = "host-consoles", value_name = "DIR")]
    pub consoles: Option<PathBuf>,
}

impl Default for RealOptions {
    fn default() -> Self {
        Self { network: NETWORK, tools: None, node_agent: None, consoles: None }
    }
}

impl RealOptions {
    /// The directory of tools: the one given, or where `make tools` puts it.
    pub(super) fn tools(&self) -> PathBuf {
        self.tools.clone().unwrap_or_else(|| cache().join("real-hosts"))
    }

    /// The node agent: the one given, or one beside this program.
    pub(super) fn node_agent(&self) -> Option<PathBuf> {
        let beside = || std::env::current_exe().ok().map(|program| program.with_file_name("landfall-node"));
        self.node_agent.clone().or_else(|| beside().filter(|path| path.exists()))
    }
}

/// The cache directory that the Makefile and the scripts use.
fn cache() -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("LANDFALL_CACHE").unwrap_or_else(|| {
        let caches = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
        caches.unwrap_or_default().join("landfall")
    })
}

fn parse_network(text: &str) -> Result<Ipv4Net, String> {
    let network: Ipv4Net = text.parse().map_err(|_| "a network is written like 198.51.100.0/24".to_owned())?;
    if network.network().is_loopback() {
        Err("real hosts have no loopback addresses: choose a network that is used nowhere else here".to_owned())
    } else if network.prefix_len() > 28 {
        Err("a cluster needs a network of at least 16 addresses".to_owned())
    } else {
        Ok(network.trunc())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_that_cannot_work_are_refused() {
        assert_eq!(parse_network("10.9.8.7/24").unwrap().to_string(), "10.9.8.0/24");
        for (text, reason) in [("127.1.0.0/16", "loopback"), ("10.0.0.0/29", "16 addresses"), ("x", "written like")] {
            assert!(parse_network(text).unwrap_err().contains(reason), "{text}");
        }
    }
}
