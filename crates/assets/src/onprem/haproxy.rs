//! haproxy's configuration.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use askama::Template;

use super::Member;
use crate::{MachineRole, NodeFacts, VipFacts, template};

/// haproxy's configuration on a master, for the API servers of all masters that are known.
///
/// As long as none is known it sends everything to the local one, so that there is never a moment without a backend that may
/// become healthy.
pub fn haproxy_config(facts: &NodeFacts, vips: &VipFacts, members: &[Member]) -> String {
    let mut servers: Vec<Server> = members
        .iter()
        .filter(|member| member.role == MachineRole::Master)
        .filter_map(|member| Some(Server::new(&member.name, *member.addresses.first()?, facts.api.port)))
        .collect();
    servers.sort();
    if servers.is_empty() {
        servers.push(Server::new("local", Ipv4Addr::LOCALHOST.into(), facts.api.port));
    }
    // A machine may have IPv6 turned off, and then refuses to listen on its addresses.
    let listen = if vips.api.iter().any(IpAddr::is_ipv6) {
        format!(":::{} v4v6", vips.balancer_port)
    } else {
        format!("*:{}", vips.balancer_port)
    };
    template::text(&Configuration { vips, listen, servers })
}

#[derive(Template)]
#[template(path = "haproxy.cfg", escape = "none")]
struct Configuration<'a> {
    vips: &'a VipFacts,
    listen: String,
    servers: Vec<Server>,
}

/// An API server, in the order of names so that the same members give the same text.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Server {
    name: String,
    endpoint: String,
}

impl Server {
    fn new(name: &str, address: IpAddr, port: u16) -> Self {
        Self { name: name.to_owned(), endpoint: SocketAddr::new(address, port).to_string() }
    }
}
