//! haproxy's configuration.

use std::net::IpAddr;

use askama::Template;

use super::Member;
use crate::{MachineRole, NodeFacts, VipFacts};

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
        let loopback = match vips.api.first() {
            Some(IpAddr::V6(_)) => IpAddr::from(std::net::Ipv6Addr::LOCALHOST),
            _ => IpAddr::from(std::net::Ipv4Addr::LOCALHOST),
        };
        servers.push(Server::new("local", loopback, facts.api.port));
    }
    Configuration { vips, servers }.render().expect("writing to memory cannot fail")
}

#[derive(Template)]
#[template(path = "haproxy.cfg", escape = "none")]
struct Configuration<'a> {
    vips: &'a VipFacts,
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
        Self { name: name.to_owned(), endpoint: std::net::SocketAddr::new(address, port).to_string() }
    }
}
