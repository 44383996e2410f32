//! The cluster, as its API shows it.

use landfall_platform::{Finding, error_chain};

use crate::{kube::Access, machine::Machine};

pub(super) async fn nodes(machine: &Machine) -> Finding {
    match Access::of(machine).nodes().await {
        Ok(nodes) if nodes.iter().any(|node| node.name == machine.name) => {
            Finding::ok("cluster", format!("{} nodes, this one among them", nodes.len()))
        }
        Ok(nodes) => Finding::problem(
            "cluster",
            format!("{} nodes, and {} is not among them", nodes.len(), machine.name),
            "journalctl -u landfall-join says how far it has come; a node that was deleted must be made anew",
        ),
        Err(error) => Finding::problem(
            "cluster",
            error_chain(&error),
            "until the machine has joined there is no kubeconfig; later, look at the virtual address of the API",
        ),
    }
}
