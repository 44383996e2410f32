//! What tests of several rooms share.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use landfall_assets::NodeFacts;
use landfall_testkit::ControlPlane;
use serde_json::json;

use crate::{kube::Access, machine::Machine};

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

/// A real API server, and the administrator's way to it. Blocks until it serves; it ends with the thread that calls.
pub(crate) fn real_api(directory: &std::path::Path) -> (ControlPlane, Access) {
    let _installed = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let plane = ControlPlane::start();
    // The authority inside, as kubeadm writes it.
    let kubeconfig = plane.kubeconfig_for("admin", Some("system:masters"));
    let data = format!("certificate-authority-data: {}", STANDARD.encode(plane.authority()));
    let lines = kubeconfig.lines().map(|line| match line.find("certificate-authority:") {
        Some(at) => format!("{}{data}\n", &line[..at]),
        None => format!("{line}\n"),
    });
    let path = directory.join("admin.conf");
    std::fs::write(&path, lines.collect::<String>()).unwrap();
    let access = Access::only(&machine("master", "demo-x7k2p-master-0", directory), &path, false);
    (plane, access)
}
