//! A machine and its node: each knows of the other, and the node is as the machine's spec says.

use k8s_openapi::api::core::v1::Node;
use kube::Api;
use landfall_machine_api::MACHINE_ANNOTATION;
use serde_json::{Map, Value, json};

use crate::{Error, Machine, nodes, patch, world::World};

/// Makes a node carry its machine's name, id, labels, annotations and taints.
pub(super) async fn link(world: &World, machine: &Machine, node: &Node) -> Result<(), Error> {
    let Some(change) = change(&world.options.namespace, machine, node) else { return Ok(()) };
    let nodes: Api<Node> = Api::all(world.client.clone());
    patch::change(&nodes, node, change).await.map(drop)
}

/// What is to be changed of a node; none if nothing is. Labels of others are kept.
fn change(namespace: &str, machine: &Machine, node: &Node) -> Option<Value> {
    let wanted = &machine.spec.metadata;
    let reference = (MACHINE_ANNOTATION.to_owned(), format!("{namespace}/{}", machine.name()));
    let annotations = wanted.annotations.iter().map(|(key, value)| (key.clone(), value.clone())).chain([reference]);
    let known = node.metadata.annotations.clone().unwrap_or_default();
    let annotations: Map<String, Value> = annotations
        .filter(|(key, value)| known.get(key) != Some(value))
        .map(|(key, value)| (key, value.into()))
        .collect();
    let known = node.metadata.labels.clone().unwrap_or_default();
    let labels = wanted.labels.iter().filter(|(key, value)| known.get(*key) != Some(value));
    let labels: Map<String, Value> = labels.map(|(key, value)| (key.clone(), value.as_str().into())).collect();
    let mut change = json!({});
    if !annotations.is_empty() {
        change["metadata"]["annotations"] = annotations.into();
    }
    if !labels.is_empty() {
        change["metadata"]["labels"] = labels.into();
    }
    if nodes::provider_id(node).is_none() {
        change["spec"]["providerID"] = json!(machine.provider_id());
    }
    let known = node.spec.as_ref().and_then(|spec| spec.taints.clone()).unwrap_or_default();
    let lacking: Vec<Value> = machine
        .spec
        .taints
        .iter()
        .filter(|wanted| !known.iter().any(|taint| taint.key == wanted.key && taint.effect == wanted.effect))
        .map(|taint| json!(taint))
        .collect();
    if !lacking.is_empty() {
        let all = known.iter().map(|taint| json!(taint)).chain(lacking);
        change["spec"]["taints"] = all.collect();
    }
    (change != json!({})).then_some(change)
}

#[cfg(test)]
mod tests {
    use landfall_machine_api::{MachineSpec, Taint};

    use super::*;

    #[test]
    fn a_node_gets_what_it_lacks_and_keeps_the_rest() {
        let spec: MachineSpec = serde_json::from_value(json!({
            "providerID": "ovirt://1", "metadata": { "labels": { "disk": "fast" } },
        }))
        .unwrap();
        let mut machine = Machine::new(Default::default(), spec);
        machine.metadata.name = Some("m".to_owned());
        let taint =
            |key: &str| Taint { key: key.to_owned(), value: None, effect: "NoSchedule".to_owned(), time_added: None };
        machine.spec.taints = vec![taint("gpu")];
        let node: Node = serde_json::from_value(json!({
            "metadata": { "name": "m", "labels": { "zone": "a" } },
            "spec": { "taints": [{ "key": "other", "effect": "NoExecute" }] },
        }))
        .unwrap();
        let change = change("ns", &machine, &node).unwrap();
        let expected = json!({
            "metadata": { "annotations": { "machine.openshift.io/machine": "ns/m" }, "labels": { "disk": "fast" } },
            "spec": {
                "providerID": "ovirt://1",
                "taints": [{ "key": "other", "effect": "NoExecute" }, { "key": "gpu", "effect": "NoSchedule" }],
            },
        });
        assert_eq!(change, expected);
        let linked: Node = serde_json::from_value(json!({
            "metadata": { "name": "m", "labels": { "disk": "fast" }, "annotations": { "machine.openshift.io/machine": "ns/m" } },
            "spec": { "providerID": "ovirt://1", "taints": [{ "key": "gpu", "effect": "NoSchedule" }] },
        }))
        .unwrap();
        assert_eq!(super::change("ns", &machine, &linked), None);
    }
}
