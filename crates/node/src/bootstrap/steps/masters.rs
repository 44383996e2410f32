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
        // waits: the engine ends the step at its limit
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
        let Some(&address) = master.addresses.first() else {
            return Some(format!("{} has no address yet", master.name));
        };
        for &port in ports {
            // Who answers must be a server of this cluster: a forged word would give the address away too early.
            let server = access::server(machine, SocketAddr::new(address, port));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[tokio::test]
    async fn a_master_without_an_address_is_missing() {
        let dir = tempfile::tempdir().unwrap();
        let machine = testing::machine("bootstrap", "demo-x7k2p-bootstrap", dir.path());
        let master = |name: &str| ClusterNode {
            name: name.into(),
            role: MachineRole::Master,
            addresses: vec![],
            pod_networks: vec![],
        };
        let nodes = [master("m0"), master("m1")];
        assert_eq!(missing(&machine, &nodes, 3, &[6443]).await.unwrap(), "2 of 3 masters have joined");
        let seen = missing(&machine, &nodes, 2, &[6443]).await.expect("the address would be given away to nobody");
        assert_eq!(seen, "m0 has no address yet");
    }
}
