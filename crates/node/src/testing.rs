//! What tests of several rooms share.

use landfall_assets::NodeFacts;
use serde_json::json;

use crate::machine::Machine;

/// Facts of a machine of a role, in the form in which assets write them.
pub(crate) fn facts(role: &str) -> NodeFacts {
    serde_json::from_value(json!({
        "format": 1,
        "role": role,
        "distribution": "kubernetes",
        "platform": "ovirt",
        "cluster": { "name": "demo", "domain": "demo.example.com", "infraId": "demo-x7k2p" },
        "api": {
            "name": "api.demo.example.com",
            "internalName": "api-int.demo.example.com",
            "endpoint": "198.51.100.5:6443",
            "port": 6443,
            "configServerPort": 22623,
        },
        "vips": {
            "api": ["198.51.100.5"],
            "ingress": ["198.51.100.6"],
            "apiRouterId": 96,
            "ingressRouterId": 115,
            "balancerPort": 9445,
            "balancerReadyPort": 9444,
            "balancerBackendsPort": 9454,
            "keepalivedConfig": "/etc/landfall/keepalived.conf",
            "haproxyConfig": "/etc/landfall/haproxy.cfg",
        },
        "networks": {
            "networkType": "Routed",
            "machine": ["198.51.100.0/24"],
            "cluster": [{ "cidr": "10.128.0.0/14", "hostPrefix": 23 }],
            "service": ["172.30.0.0/16"],
        },
        "kubeadm": "/etc/landfall/kubeadm.yaml",
        "bootstrap": if role == "bootstrap" { json!({ "manifests": "/etc/landfall/manifests", "masters": 3 }) } else { json!(null) },
    }))
    .unwrap()
}

/// A machine with its directories in a temporary one.
pub(crate) fn machine(role: &str, name: &str, directory: &std::path::Path) -> Machine {
    Machine {
        facts: facts(role),
        name: name.to_owned(),
        state: directory.join("state"),
        runtime: directory.join("run"),
    }
}
