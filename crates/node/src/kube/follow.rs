//! Following who is in the cluster, with what was known last while the API cannot be asked.

use std::{path::PathBuf, time::Duration};

use landfall_platform::error_chain;
use tokio::{sync::watch, time::sleep};

use super::{Access, ClusterNode};
use crate::{Error, machine::Machine, stored};

/// What is known of the cluster's machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The nodes; empty if the cluster was never heard of.
    pub nodes: Vec<ClusterNode>,
    /// Whether they come from the API, and not from the file of an earlier time.
    pub fresh: bool,
}

/// What was known last, also before a reboot.
pub fn remembered(machine: &Machine) -> Vec<ClusterNode> {
    std::fs::read(file(machine)).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

/// Follows the nodes for as long as somebody listens. Everybody gets what was known last at once.
///
/// A list without any node is not believed: it comes from an API server without data, and acting on it would take away the
/// last address and the last route.
pub fn follow(machine: &Machine, interval: Duration) -> watch::Receiver<Known> {
    let (sender, receiver) = watch::channel(Known { nodes: remembered(machine), fresh: false });
    let machine = machine.clone();
    tokio::spawn(async move {
        let access = Access::of(&machine);
        let mut failing = false;
        while !sender.is_closed() {
            match access.nodes().await {
                Ok(nodes) if !nodes.is_empty() => {
                    failing = false;
                    if let Err(error) = remember(&machine, &nodes) {
                        tracing::warn!(error = error_chain(&error), "cannot keep what is known of the nodes");
                    }
                    let known = Known { nodes, fresh: true };
                    sender.send_if_modified(|last| std::mem::replace(last, known.clone()) != known);
                }
                Ok(_) => tracing::debug!("the API lists no nodes"),
                Err(error) if !failing => {
                    failing = true;
                    tracing::info!(reason = error_chain(&error), "the API cannot be asked; what was known last holds");
                }
                Err(_) => {}
            }
            sleep(interval).await;
        }
    });
    receiver
}

fn remember(machine: &Machine, nodes: &[ClusterNode]) -> Result<(), Error> {
    let text = serde_json::to_vec_pretty(nodes).expect("names and addresses can be written as JSON");
    stored::write(&file(machine), text).map(drop)
}

fn file(machine: &Machine) -> PathBuf {
    machine.state.join("nodes.json")
}

#[cfg(test)]
mod tests {
    use landfall_assets::MachineRole;

    use super::*;
    use crate::testing;

    #[test]
    fn what_was_known_last_survives_a_reboot() {
        let dir = tempfile::tempdir().unwrap();
        let machine = testing::machine("master", "demo-x7k2p-master-0", dir.path());
        assert_eq!(remembered(&machine), []);
        let node = ClusterNode {
            name: "demo-x7k2p-master-0".to_owned(),
            role: MachineRole::Master,
            addresses: vec!["198.51.100.21".parse().unwrap()],
            pod_networks: vec!["10.128.0.0/23".parse().unwrap()],
        };
        remember(&machine, std::slice::from_ref(&node)).unwrap();
        assert_eq!(remembered(&machine), [node]);
        std::fs::write(file(&machine), "{broken").unwrap();
        assert_eq!(remembered(&machine), [], "a damaged file is as good as none");
    }
}
