//! What tests of several rooms share.

use std::time::{Duration, Instant};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use landfall_assets::NodeFacts;
use landfall_machine_api::{CONTROLLER, GROUP, Kind, NAMESPACE, ROLE_LABEL, VERSION, definition};
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

async fn make_namespace(access: &Access) {
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } });
    access.apply("making a namespace", &format!("api/v1/namespaces/{NAMESPACE}"), &namespace).await.unwrap();
}

/// Gives a cluster the kinds of machine objects, and their namespace.
pub(crate) async fn define_machines(access: &Access) {
    make_namespace(access).await;
    for kind in Kind::ALL {
        let definition = definition(kind, None);
        let name = definition["metadata"]["name"].as_str().unwrap().to_owned();
        let path = format!("apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
        access.apply("defining machines", &path, &definition).await.unwrap();
    }
}

/// Makes a machine's object; returns its uid.
pub(crate) async fn make_machine(access: &Access, name: &str, role: &str) -> String {
    let path = format!("apis/{GROUP}/{VERSION}/namespaces/{NAMESPACE}/machines/{name}");
    let machine = json!({
        "apiVersion": format!("{GROUP}/{VERSION}"), "kind": "Machine",
        "metadata": { "name": name, "namespace": NAMESPACE, "labels": { ROLE_LABEL: role } },
        "spec": { "providerSpec": { "value": { "kind": "Any" } } },
    });
    let deadline = Instant::now() + Duration::from_secs(30);
    // New definitions are served after a moment.
    while let Err(error) = access.apply("making a machine", &path, &machine).await {
        assert!(Instant::now() < deadline, "machines are not served: {error:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let made = access.get("reading a machine", &path).await.unwrap().unwrap();
    made["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// Gives a cluster the Deployment by which it is known to have a machine controller.
pub(crate) async fn make_controller(access: &Access) {
    make_namespace(access).await;
    let labels = json!({ "app": CONTROLLER });
    let controller = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": CONTROLLER, "namespace": NAMESPACE },
        "spec": { "selector": { "matchLabels": labels }, "template": {
            "metadata": { "labels": labels }, "spec": { "containers": [{ "name": "controller", "image": "pause" }] },
        } },
    });
    let path = format!("apis/apps/v1/namespaces/{NAMESPACE}/deployments/{CONTROLLER}");
    access.apply("making the controller", &path, &controller).await.unwrap();
}
