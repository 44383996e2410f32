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
    follow_by(Access::of(machine), machine, interval)
}

fn follow_by(access: Access, machine: &Machine, interval: Duration) -> watch::Receiver<Known> {
    let (sender, receiver) = watch::channel(Known { nodes: remembered(machine), fresh: false });
    let machine = machine.clone();
    tokio::spawn(async move {
        let mut failing = false;
        // waits: a service, which goes on for as long as there is a listener
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
mod tests;
