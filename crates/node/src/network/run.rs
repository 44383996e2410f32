//! Keeping the pod network as the cluster says.

use std::{path::Path, time::Duration};

use landfall_assets::node::{paths, routed_cni_config};
use landfall_platform::error_chain;
use tokio_util::sync::CancellationToken;

use super::{Outside, masquerade_rules, pod_routes, routes};
use crate::{
    Error,
    kube::{ClusterNode, follow},
    machine::Machine,
    program::Program,
    stored,
};

/// A node is not Ready before this has seen it, so it looks often.
const INTERVAL: Duration = Duration::from_secs(2);
/// What did not work is tried again, also if nothing changes.
const REPEAT: Duration = Duration::from_secs(10);

/// Keeps the pod network until `stop`.
pub async fn run(machine: &Machine, stop: CancellationToken) -> Result<(), Error> {
    let mut known = follow(machine, INTERVAL);
    let mut rules = String::new();
    // waits: a service, which ends when it is stopped
    loop {
        let nodes = known.borrow_and_update().nodes.clone();
        if !nodes.is_empty()
            && let Err(error) = apply(machine, &nodes, &mut rules).await
        {
            tracing::warn!(error = error_chain(&error), "the pod network is not as it should be");
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            _ = known.changed() => {}
            () = tokio::time::sleep(REPEAT) => {}
        }
    }
}

async fn apply(machine: &Machine, nodes: &[ClusterNode], rules: &mut String) -> Result<(), Error> {
    routes::ensure(&pod_routes(&machine.name, nodes)).await?;
    let wanted = masquerade_rules(&outside(machine, nodes));
    if *rules != wanted {
        Program::new("nft", ["-f", "-"]).input(wanted.as_str()).run().await?;
        *rules = wanted;
    }
    let own = nodes.iter().find(|node| node.name == machine.name).filter(|node| !node.pod_networks.is_empty());
    // Last, because it is what makes the node Ready.
    if let Some(own) = own
        && stored::write(
            &Path::new(paths::CNI_CONFIG).join("10-landfall.conflist"),
            routed_cni_config(&own.pod_networks),
        )?
    {
        tracing::info!(networks = ?own.pod_networks, "pods get addresses");
    }
    Ok(())
}

fn outside(machine: &Machine, nodes: &[ClusterNode]) -> Outside {
    let mut addresses: Vec<_> = nodes.iter().flat_map(|node| node.addresses.clone()).collect();
    addresses.extend(machine.virtual_addresses());
    addresses.sort();
    addresses.dedup();
    Outside { pods: machine.facts.networks.cluster.iter().map(|network| network.cidr).collect(), nodes: addresses }
}
