//! Moving the pods of a node elsewhere before its machine goes.

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{
    Api,
    api::{EvictParams, ListParams},
};
use serde_json::json;

use crate::{Error, error::status_code, nodes, patch, world::World};

/// How far a drain has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Drain {
    /// Nothing is left that could go elsewhere.
    Done,
    /// Some pods are still there; why, for people.
    Waiting(String),
}

/// One round: lets nothing new come, and asks each pod to go. A disruption budget that is in the way is asked again at the next
/// round.
pub(super) async fn drain(world: &World, node: &Node) -> Result<Drain, Error> {
    let name = nodes::name(node);
    if node.spec.as_ref().is_none_or(|spec| spec.unschedulable != Some(true)) {
        let nodes: Api<Node> = Api::all(world.client.clone());
        patch::change(&nodes, node, json!({ "spec": { "unschedulable": true } })).await?;
    }
    let pods: Api<Pod> = Api::all(world.client.clone());
    let there = pods.list(&ListParams::default().fields(&format!("spec.nodeName={name}"))).await;
    let there = there.map_err(Error::api(format!("listing the pods of node {name}")))?;
    let (mut leaving, mut held) = (0, Vec::new());
    for pod in there.items.iter().filter(|pod| can_go(pod)) {
        leaving += 1;
        if pod.metadata.deletion_timestamp.is_some() {
            continue;
        }
        let (pod_name, namespace) =
            (pod.metadata.name.clone().unwrap_or_default(), pod.metadata.namespace.clone().unwrap_or_default());
        let own: Api<Pod> = Api::namespaced(world.client.clone(), &namespace);
        match own.evict(&pod_name, &EvictParams::default()).await {
            Ok(_) => {}
            Err(error) => match status_code(&error) {
                Some(404) => leaving -= 1,
                Some(429) => held.push(format!("{namespace}/{pod_name}")),
                _ => return Err(Error::api(format!("evicting pod {namespace}/{pod_name}"))(error)),
            },
        }
    }
    Ok(match (leaving, held.as_slice()) {
        (0, _) => Drain::Done,
        (leaving, []) => Drain::Waiting(format!("{leaving} pods are leaving node {name}")),
        (_, held) => Drain::Waiting(format!("disruption budgets hold {} on node {name}", held.join(", "))),
    })
}

/// Whether a pod is to go: not those that belong to the node itself, and not those that have ended.
fn can_go(pod: &Pod) -> bool {
    let mirror = pod.metadata.annotations.iter().flatten().any(|(key, _)| key == "kubernetes.io/config.mirror");
    let owners = pod.metadata.owner_references.iter().flatten();
    let of_node = owners.into_iter().any(|owner| owner.controller == Some(true) && owner.kind == "DaemonSet");
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    !mirror && !of_node && !matches!(phase, Some("Succeeded" | "Failed"))
}
