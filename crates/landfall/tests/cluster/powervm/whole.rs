//! From an install-config to nodes, more of them, others in their place, and back to nothing.

use std::process::Command;

use serde_json::{Value, json};

use super::{PASSWORD, Scene, Wish};
use crate::{packet::Install, waiting::until};

/// What an administrator sees with the kubeconfig that the installation wrote. Its name of the API is known to nobody here.
fn kubectl(scene: &Scene, install: &Install, arguments: &[&str]) -> String {
    let [api, _] = scene.place.vips(0);
    let mut command = Command::new("kubectl");
    command.arg("--kubeconfig").arg(install.context.path("auth/kubeconfig"));
    command
        .args([format!("--server=https://{api}:6443").as_str(), "--tls-server-name=api.demo.example.com"])
        .args(arguments);
    let output = command.output().expect("kubectl is there: scripts/setup test");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The workers that are nodes, at least so many.
fn worker_names(scene: &Scene, install: &Install, number: usize) -> Vec<String> {
    until(&format!("{number} workers that are nodes"), || {
        let list: Value = serde_json::from_str(&kubectl(scene, install, &["get", "nodes", "--output=json"])).unwrap();
        let names = list["items"].as_array().unwrap().iter().map(|node| node["metadata"]["name"].as_str().unwrap());
        let workers: Vec<String> = names.filter(|name| name.contains("-worker-")).map(str::to_owned).collect();
        if workers.len() >= number { Ok(workers) } else { Err(format!("{workers:?}")) }
    })
}

fn health_check(scene: &Scene, install: &Install) {
    let check = json!({
        "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineHealthCheck",
        "metadata": {"name": "workers", "namespace": "landfall-system"},
        "spec": {
            "selector": {"matchLabels": {"machine.openshift.io/cluster-api-machine-role": "worker"}},
            "unhealthyConditions": [{"type": "Ready", "status": "Unknown", "timeout": "300s"}],
            "maxUnhealthy": "40%",
        },
    });
    install.context.write("check.json", check.to_string());
    let file = install.context.path("check.json");
    kubectl(scene, install, &["create", "--validate=false", "--filename", file.to_str().unwrap()]);
}

fn one_on_each(mut places: Vec<String>) {
    places.sort();
    assert_eq!(places, ["power-a", "power-b", "power-c"]);
}

#[test]
fn a_cluster_on_three_servers_comes_up_grows_heals_and_goes() {
    let scene = Scene::new();
    let before = scene.holds();
    let install = scene.install(Wish { masters: 3, workers: 2, ..Wish::default() });
    let made = install.ok(&["create", "cluster"]).stdout;
    let id = install.context.infra_id();
    for node in ["master-0", "master-1", "master-2", "worker-"] {
        assert!(made.contains(&format!("{id}-{node}")), "{made}");
    }
    one_on_each(scene.places(&format!("{id}-master-")));
    assert_eq!(scene.places(&format!("{id}-bootstrap")), Vec::<String>::new());
    let standing = scene.holds();
    install.ok(&["create", "cluster"]);
    scene.still_holds(&standing);

    install.ok(&["machines", "scale", &format!("{id}-worker"), "--replicas", "3"]);
    let workers = format!("{id}-worker-");
    until("a third worker", || match scene.places(&workers) {
        places if places.len() == 3 => Ok(places),
        places => Err(format!("{places:?}")),
    });
    one_on_each(scene.places(&workers));

    let sick = worker_names(&scene, &install, 3).remove(0);
    health_check(&scene, &install);
    // As Kubernetes does when a kubelet is silent.
    let silent = json!([{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown",
        "lastTransitionTime": "2020-01-01T00:00:00Z", "lastHeartbeatTime": "2020-01-01T00:00:00Z"}]);
    let patch = json!({"status": {"conditions": silent}}).to_string();
    kubectl(&scene, &install, &["patch", "node", &sick, "--subresource=status", "--type=merge", "--patch", &patch]);
    until("another worker in the place of the one that was fenced", || {
        let names = worker_names(&scene, &install, 0);
        if names.len() == 3 && !names.contains(&sick) { Ok(()) } else { Err(format!("{names:?}, sick is {sick}")) }
    });
    let events = kubectl(&scene, &install, &["get", "events", "--all-namespaces", "--output=json"]);
    for reason in ["Unhealthy", "Fenced"] {
        assert!(events.contains(&format!("\"{reason}\"")), "{reason}: {events}");
    }
    until("three workers on three servers", || match scene.places(&workers) {
        places if places.len() == 3 => Ok(()),
        places => Err(format!("{places:?}")),
    });
    assert!(scene.places(&sick).is_empty(), "what was fenced is gone");

    install.ok(&["destroy", "cluster"]);
    assert_eq!(scene.holds(), before);
    install.ok(&["destroy", "cluster"]);
}

#[test]
fn a_cluster_is_found_by_its_mark_alone_and_its_neighbour_stays() {
    let scene = Scene::new();
    let (first, second) = (
        scene.install(Wish { name: "a", workers: 1, ..Wish::default() }),
        scene.install(Wish { name: "ba", number: 1, ..Wish::default() }),
    );
    second.ok(&["create", "cluster"]);
    let others = scene.holds();
    first.ok(&["create", "cluster"]);
    let infra_id = first.context.infra_id();
    for file in ["install-config.yaml", "metadata.json", ".landfall/journal.sqlite"] {
        std::fs::remove_file(first.context.path(file)).unwrap();
    }
    first.ok(&["destroy", "cluster", "--platform", "powervm", "--infra-id", &infra_id]);
    scene.still_holds(&others);
    for file in [".landfall/journal.sqlite", ".landfall/landfall.log"] {
        let bytes = std::fs::read(second.context.path(file)).unwrap();
        assert!(
            !bytes.windows(PASSWORD.len()).any(|window| window == PASSWORD.as_bytes()),
            "the password is in {file}"
        );
    }
}
