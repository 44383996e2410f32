//! Following who is in the cluster, with what was known last while the API cannot be asked.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use landfall_platform::error_chain;
use tokio::{sync::watch, time::sleep};

use super::{Access, ClusterNode};
use crate::{Error, machine::Machine, stored};

/// What each node adds to the pause between two questions: with a thousand of them, the API hears 25 a second.
const PER_NODE: Duration = Duration::from_millis(40);

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
    fs::read(file(machine)).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

/// Follows the nodes for as long as somebody listens. Everybody gets what was known last at once.
///
/// A list without any node is not believed: it comes from an API server without data, and acting on it would take away the
/// last address and the last route.
///
/// Several commands of a machine follow the nodes, and all machines do. So whoever asks the API leaves the answer in a file for
/// the others of the machine, and the more machines there are the less often each asks.
pub fn follow(machine: &Machine, interval: Duration) -> watch::Receiver<Known> {
    let (sender, receiver) = watch::channel(Known { nodes: remembered(machine), fresh: false });
    let machine = machine.clone();
    tokio::spawn(async move {
        let access = Access::of(&machine);
        let mut failing = false;
        while !sender.is_closed() {
            let wait = wait(interval, sender.borrow().nodes.len());
            let asked = match just_remembered(&machine, wait) {
                Some(nodes) => Ok(nodes),
                None => access.nodes().await.inspect(|nodes| remember(&machine, nodes)),
            };
            match asked {
                Ok(nodes) if !nodes.is_empty() => {
                    failing = false;
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
            sleep(wait).await;
        }
    });
    receiver
}

/// The pause between two questions, longer where there are many machines to ask them.
fn wait(interval: Duration, nodes: usize) -> Duration {
    interval.max(PER_NODE.saturating_mul(u32::try_from(nodes).unwrap_or(u32::MAX)))
}

/// What another command of this machine has asked for within this time.
fn just_remembered(machine: &Machine, within: Duration) -> Option<Vec<ClusterNode>> {
    let asked = fs::metadata(file(machine)).and_then(|file| file.modified()).ok()?;
    // A time in the future is from before somebody set the clock.
    let age = SystemTime::now().duration_since(asked).ok()?;
    (age < within).then(|| remembered(machine)).filter(|nodes| !nodes.is_empty())
}

/// Keeps an answer. Nothing depends on it now, so what goes wrong is only logged.
fn remember(machine: &Machine, nodes: &[ClusterNode]) {
    if nodes.is_empty() {
        return;
    }
    let path = file(machine);
    let text = serde_json::to_vec_pretty(nodes).expect("names and addresses can be written as JSON");
    let kept = stored::write(&path, text).and_then(|_| {
        let touched =
            fs::File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        touched.map_err(Error::file("touch", &path))
    });
    if let Err(error) = kept {
        tracing::warn!(error = error_chain(&error), "cannot keep what is known of the nodes");
    }
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
        remember(&machine, std::slice::from_ref(&node));
        assert_eq!(remembered(&machine), std::slice::from_ref(&node));
        remember(&machine, &[]);
        assert_eq!(remembered(&machine), [node], "nobody forgets everything");
        fs::write(file(&machine), "{broken").unwrap();
        assert_eq!(remembered(&machine), [], "a damaged file is as good as none");
    }

    #[test]
    fn one_command_of_a_machine_asks_for_all() {
        let dir = tempfile::tempdir().unwrap();
        let machine = testing::machine("worker", "demo-x7k2p-worker-0", dir.path());
        let within = Duration::from_mins(1);
        assert_eq!(just_remembered(&machine, within), None);
        let node = ClusterNode {
            name: "demo-x7k2p-worker-0".to_owned(),
            role: MachineRole::Worker,
            addresses: Vec::new(),
            pod_networks: Vec::new(),
        };
        remember(&machine, std::slice::from_ref(&node));
        assert_eq!(just_remembered(&machine, within), Some(vec![node.clone()]));
        for time in [SystemTime::UNIX_EPOCH, SystemTime::now() + within] {
            fs::File::options().append(true).open(file(&machine)).unwrap().set_modified(time).unwrap();
            assert_eq!(just_remembered(&machine, within), None, "{time:?}");
        }
        remember(&machine, std::slice::from_ref(&node));
        assert!(just_remembered(&machine, within).is_some(), "the same answer is fresh again");
    }

    #[test]
    fn the_more_machines_the_fewer_questions_of_each() {
        let interval = Duration::from_secs(2);
        assert_eq!(wait(interval, 5), interval);
        assert_eq!(wait(interval, 1000), Duration::from_secs(40));
    }
}
