//! The masters, each with an API server and a balancer that work.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use landfall_assets::MachineRole;
use landfall_platform::Context;
use landfall_wire::{Client, Limits, Request, Trust};
use tokio::time::sleep;
use url::Url;

use crate::{Error, bootstrap::access, kube::ClusterNode, machine::Machine};

/// Waits for the masters.
pub(in crate::bootstrap) struct Masters(pub(in crate::bootstrap) Arc<Machine>);

super::step!(Masters);

impl Masters {
    async fn act(&self, context: &Context) -> Result<(), Error> {
        let facts = &self.0.facts;
        let wanted = facts.bootstrap.as_ref().ok_or(Error::NoSuchFact("bootstrap"))?.masters;
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        // The balancer of a master is what the address will be moved to.
        let balancer = facts.vips.as_ref().map(|vips| vips.balancer_port);
        let ports: Vec<u16> = [facts.api.port].into_iter().chain(balancer).collect();
        let client = probe_client()?;
        let mut last = String::new();
        loop {
            let seen = match access::local(&self.0).nodes().await {
                Ok(nodes) => match missing(&client, &nodes, wanted, &ports).await {
                    None => return Ok(()),
                    Some(missing) => missing,
                },
                Err(error) => landfall_platform::error_chain(&error),
            };
            if seen != last {
                context.report(seen.as_str());
                last = seen;
            }
            sleep(Duration::from_secs(1)).await;
        }
    }
}

/// What is missing still, if anything is.
async fn missing(client: &Client, nodes: &[ClusterNode], wanted: usize, ports: &[u16]) -> Option<String> {
    let masters: Vec<&ClusterNode> = nodes.iter().filter(|node| node.role == MachineRole::Master).collect();
    if masters.len() < wanted {
        return Some(format!("{} of {wanted} masters have joined", masters.len()));
    }
    for master in masters {
        for &port in ports {
            let address = master.addresses.first()?;
            if !is_ready(client, *address, port).await {
                return Some(format!("{} does not serve the API on port {port} yet", master.name));
            }
        }
    }
    None
}

/// Only whether it answers matters here; nothing secret is sent, so nobody's identity is checked.
fn probe_client() -> Result<Client, Error> {
    let limits = Limits { connect: Duration::from_secs(2), exchange: Duration::from_secs(5), answer: 1 << 20 };
    Client::new(&Trust::Unverified, limits)
        .map_err(|source| Error::Request { attempt: "preparing to call masters".into(), source: Box::new(source) })
}

async fn is_ready(client: &Client, address: IpAddr, port: u16) -> bool {
    let url = format!("https://{}/readyz", SocketAddr::new(address, port));
    let url = Url::parse(&url).expect("an address and a port make a URL");
    client.send(Request::get(url)).await.is_ok_and(|reply| reply.status() == 200)
}
