//! Nodes, as far as machines must know each other.

use std::net::IpAddr;

use ipnet::IpNet;
use landfall_assets::{MachineRole, Member};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A machine of the cluster, as its API knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterNode {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub role: MachineRole,
    /// Its own addresses, the main one first.
    pub addresses: Vec<IpAddr>,
    /// The addresses that its pods get.
    pub pod_networks: Vec<IpNet>,
}

impl ClusterNode {
    /// Reads a `Node` object. Virtual addresses that it may list are not its own.
    pub fn read(object: &Value, virtual_addresses: &[IpAddr]) -> Option<Self> {
        let list = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
        let mut pod_networks: Vec<IpNet> =
            list(&object["spec"]["podCIDRs"]).iter().filter_map(|cidr| cidr.as_str()?.parse().ok()).collect();
        if pod_networks.is_empty() {
            pod_networks.extend(object["spec"]["podCIDR"].as_str().and_then(|cidr| cidr.parse::<IpNet>().ok()));
        }
        let addresses = list(&object["status"]["addresses"])
            .iter()
            .filter(|address| address["type"] == "InternalIP")
            .filter_map(|address| address["address"].as_str()?.parse().ok())
            .filter(|address| !virtual_addresses.contains(address))
            .collect();
        Some(Self {
            name: object["metadata"]["name"].as_str()?.to_owned(),
            role: role(object),
            addresses,
            pod_networks,
        })
    }

    /// All nodes of a list, by name.
    pub fn read_list(list: &Value, virtual_addresses: &[IpAddr]) -> Vec<Self> {
        let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut nodes: Vec<Self> = items.iter().filter_map(|item| Self::read(item, virtual_addresses)).collect();
        nodes.sort();
        nodes
    }

    /// The node as one that may hold virtual addresses.
    pub fn member(&self) -> Member {
        Member { name: self.name.clone(), role: self.role, addresses: self.addresses.clone() }
    }
}

/// The bootstrap machine is a control-plane node too, and told apart by the taint that its kubeadm configuration sets.
fn role(object: &Value) -> MachineRole {
    let taints = object["spec"]["taints"].as_array().map(Vec::as_slice).unwrap_or_default();
    if taints.iter().any(|taint| taint["key"] == "node-role.kubernetes.io/bootstrap") {
        MachineRole::Bootstrap
    } else if object["metadata"]["labels"].get("node-role.kubernetes.io/control-plane").is_some() {
        MachineRole::Master
    } else {
        MachineRole::Worker
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn roles_addresses_and_pod_networks_are_read() {
        let control_plane = json!({ "node-role.kubernetes.io/control-plane": "" });
        let node = |name: &str, labels: &Value, taint: &str, address: &str| {
            json!({
                "metadata": { "name": name, "labels": labels },
                "spec": { "podCIDRs": ["10.128.2.0/23"], "taints": [{ "key": taint, "effect": "NoSchedule" }] },
                "status": { "addresses": [
                    { "type": "Hostname", "address": name },
                    { "type": "InternalIP", "address": "192.0.2.5" },
                    { "type": "InternalIP", "address": address },
                ] },
            })
        };
        let list = json!({ "items": [
            node("w", &json!({}), "x", "192.0.2.31"),
            node("m", &control_plane, "node-role.kubernetes.io/control-plane", "192.0.2.21"),
            node("b", &control_plane, "node-role.kubernetes.io/bootstrap", "192.0.2.20"),
        ] });
        let nodes = ClusterNode::read_list(&list, &["192.0.2.5".parse().unwrap()]);
        let seen: Vec<_> = nodes.iter().map(|node| (node.name.as_str(), node.role, node.addresses.len())).collect();
        assert_eq!(
            seen,
            [("b", MachineRole::Bootstrap, 1), ("m", MachineRole::Master, 1), ("w", MachineRole::Worker, 1)]
        );
        assert_eq!(nodes[1].pod_networks, ["10.128.2.0/23".parse::<IpNet>().unwrap()]);
    }
}
