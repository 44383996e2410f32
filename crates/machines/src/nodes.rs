//! The nodes of the cluster, and to which machine each belongs.

use std::{
    collections::HashMap,
    sync::{Arc, RwLock},
};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Node;
use landfall_platform::{MachineProvider, same_provider_id};

use crate::{Machine, cache::Cache, follow::Change};

/// Keys of the taints that keep applications away from masters, the second of them of old clusters.
const MASTER_TAINTS: [&str; 2] = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

/// The nodes of the cluster.
#[derive(Default)]
pub(crate) struct Nodes {
    pub(crate) cache: Cache<Node>,
    /// Names of nodes, by the part of their provider id that follows the scheme.
    by_id: RwLock<HashMap<String, String>>,
}

impl Nodes {
    /// Takes note of a change.
    pub(crate) fn changed(&self, change: &Change<Node>) {
        let id = |node: &Arc<Node>| Some((bare(provider_id(node)?).to_owned(), name(node).to_owned()));
        let mut by_id = self.by_id.write().expect("nobody panics while holding it");
        if let Some((id, _)) = change.before.as_ref().and_then(id) {
            by_id.remove(&id);
        }
        if let Some((id, name)) = change.after.as_ref().and_then(id) {
            by_id.insert(id, name);
        }
    }

    /// The node that runs on a machine: the one with its provider id, or one with its name that has no provider id yet.
    pub(crate) fn of(&self, machine: &Machine, provider: &dyn MachineProvider) -> Option<Arc<Node>> {
        let machine_id = machine.provider_id()?;
        let by_id = self.by_id.read().expect("nobody panics while holding it").get(bare(machine_id)).cloned();
        let named = by_id.and_then(|name| self.cache.get(&name));
        let same =
            |node: &Arc<Node>| provider_id(node).is_some_and(|id| same_provider_id(provider.schemes(), id, machine_id));
        named.filter(same).or_else(|| self.cache.get(machine.name()).filter(|node| provider_id(node).is_none()))
    }

    /// Whether a node is there and ready.
    pub(crate) fn is_ready(&self, name: &str) -> bool {
        self.cache.get(name).is_some_and(|node| readiness(&node).is_some_and(|(status, _)| status == "True"))
    }

    /// Whether a node is there and takes applications.
    pub(crate) fn serves(&self, name: &str) -> bool {
        self.cache.get(name).is_some_and(|node| takes_applications(&node))
    }
}

/// Whether applications may run on a node: masters keep them away with a taint, unless the cluster was made without workers.
fn takes_applications(node: &Node) -> bool {
    let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_deref()).unwrap_or_default();
    !taints.iter().any(|taint| MASTER_TAINTS.contains(&taint.key.as_str()) && taint.effect != "PreferNoSchedule")
}

/// A node's provider id, if it has one.
pub(crate) fn provider_id(node: &Node) -> Option<&str> {
    node.spec.as_ref()?.provider_id.as_deref().filter(|id| !id.is_empty())
}

/// A node's name.
pub(crate) fn name(node: &Node) -> &str {
    node.metadata.name.as_deref().unwrap_or_default()
}

/// Whether a node is ready, and since when.
pub(crate) fn readiness(node: &Node) -> Option<(&str, Timestamp)> {
    condition(node, "Ready")
}

/// A condition of a node, and since when.
pub(crate) fn condition<'a>(node: &'a Node, kind: &str) -> Option<(&'a str, Timestamp)> {
    let conditions = node.status.as_ref()?.conditions.as_ref()?;
    let found = conditions.iter().find(|condition| condition.type_ == kind)?;
    let since = found.last_transition_time.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0);
    Some((&found.status, since))
}

fn bare(id: &str) -> &str {
    id.split_once("://").map_or(id, |(_, id)| id)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn masters_that_are_tainted_take_no_applications() {
        let key = "node-role.kubernetes.io/control-plane";
        for (taints, expected) in [
            (json!([]), true),
            (json!([{"key": key, "effect": "NoSchedule"}]), false),
            (json!([{"key": "node-role.kubernetes.io/master", "effect": "NoExecute"}]), false),
            (json!([{"key": key, "effect": "PreferNoSchedule"}]), true),
            (json!([{"key": "gpu", "effect": "NoSchedule"}]), true),
        ] {
            let node: Node = serde_json::from_value(json!({"metadata": {}, "spec": {"taints": taints}})).unwrap();
            assert_eq!(takes_applications(&node), expected, "{taints}");
        }
    }
}
