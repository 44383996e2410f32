//! The masters, each with an API server and a balancer that work.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use landfall_assets::MachineRole;
use landfall_platform::{Context, error_chain};
use tokio::time::sleep;

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
        let mut last = String::new();
        loop {
            let seen = match access::local(&self.0).nodes().await {
                Ok(nodes) => match missing(&self.0, &nodes, wanted, &ports).await {
                    None => return Ok(()),
                    Some(missing) => missing,
                },
                Err(error) => error_chain(&error),
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
async fn missing(machine: &Machine, nodes: &[ClusterNode], wanted: usize, ports: &[u16]) -> Option<String> {
    let masters: Vec<&ClusterNode> = nodes.iter().filter(|node| node.role == MachineRole::Master).collect();
    if masters.len() < wanted {
        return Some(format!("{} of {wanted} masters have joined", masters.len()));
    }
    for master in masters {
        for &port in ports {
            // Who answers must be a server of this cluster: a forged word would give the address away too early.
            let server = access::server(machine, SocketAddr::new(*master.addresses.first()?, port));
            match server.is_ready().await {
                Ok(true) => {}
                Ok(false) => return Some(format!("{} is not ready on port {port} yet", master.name)),
                Err(error) => {
                    tracing::debug!(error = error_chain(&error), master = master.name, port, "no API");
                    return Some(format!("{} does not serve the API on port {port} yet", master.name));
                }
            }
        }
    }
    None
}
