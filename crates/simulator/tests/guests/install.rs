//! A whole installation, as far as machines take part in it.

use std::collections::BTreeSet;

use landfall_machine_api::Subject;
use landfall_simulator::core::guest::GuestEvent;
use serde_json::{Value, json};

use crate::client::Client;
use crate::cluster::Assets;
use crate::network::Network;
use crate::rig::{Rig, until};

/// Starts a whole cluster and waits until its bootstrap is complete.
pub(crate) async fn install(rig: &mut Rig, assets: &Assets, workers: usize) -> Client {
    rig.start("bootstrap", &assets.bootstrap());
    for master in 0..3 {
        let name = format!("{}-master-{master}", assets.infra_id);
        rig.start(&name, &assets.pointer("master", &name));
    }
    for worker in 0..workers {
        let name = format!("{}-worker-{worker}", assets.infra_id);
        rig.start(&name, &assets.pointer("worker", &name));
    }
    let admin = Client::admin(assets);
    until("the end of the bootstrap", async || {
        match admin.get("/api/v1/namespaces/kube-system/configmaps/bootstrap").await {
            Ok((200, map)) if map["data"]["status"] == "complete" => Ok(()),
            other => Err(format!("{other:?}, bootstrap: {:#?}", rig.control.console("bootstrap"))),
        }
    })
    .await;
    admin
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_machines_become_a_cluster() {
    let network = Network::claim();
    let assets = Assets::render(&network);
    let mut rig = Rig::new(&network);
    let admin = install(&mut rig, &assets, 2).await;

    let expected: BTreeSet<String> = ["master-0", "master-1", "master-2", "worker-0", "worker-1"]
        .iter()
        .map(|name| format!("{}-{name}", assets.infra_id))
        .collect();
    until("all nodes", async || {
        let ready: BTreeSet<String> = admin.ready_nodes().await?.into_iter().collect();
        if ready == expected { Ok(()) } else { Err(format!("{ready:?}")) }
    })
    .await;

    let (_, node) = admin.get(&format!("/api/v1/nodes/{}-master-0", assets.infra_id)).await.unwrap();
    assert_eq!(node["status"]["nodeInfo"]["kubeletVersion"], "v1.36.4");
    assert_eq!(node["metadata"]["labels"]["node-role.kubernetes.io/control-plane"], "");
    assert_eq!(node["spec"]["taints"][0]["effect"], "NoSchedule");
    let (_, node) = admin.get(&format!("/api/v1/nodes/{}-worker-0", assets.infra_id)).await.unwrap();
    assert!(node["metadata"]["labels"].get("node-role.kubernetes.io/control-plane").is_none());

    // What the bootstrap machine applied can be read back, kinds of its own definitions included.
    for (path, field, value) in [
        ("/api/v1/namespaces/landfall-system", "/status/phase", None),
        ("/api/v1/namespaces/kube-system/configmaps/landfall", "/data/metadata.json", None),
        ("/api/v1/namespaces/landfall-system/secrets/ovirt-credentials", "/type", Some("Opaque")),
        (
            "/apis/machine.openshift.io/v1beta1/namespaces/landfall-system/machinesets/demo-x7k2p-worker",
            "/spec/selector/matchLabels/machine.openshift.io~1cluster-api-machineset",
            Some("demo-x7k2p-worker"),
        ),
        (
            "/apis/machine.openshift.io/v1beta1/namespaces/landfall-system/machines/demo-x7k2p-master-2",
            "/kind",
            Some("Machine"),
        ),
        (
            "/apis/apps/v1/namespaces/landfall-system/deployments/landfall-machine-controller",
            "/kind",
            Some("Deployment"),
        ),
    ] {
        let (status, object) = admin.get(path).await.unwrap();
        assert_eq!(status, 200, "{path}: {object}");
        if let Some(value) = value {
            assert_eq!(object.pointer(field).and_then(|found| found.as_str()), Some(value), "{path}");
        }
    }

    // The platform heard of everything, and no machine has a virtual address for its own.
    for name in expected.iter().map(String::as_str).chain(["bootstrap"]) {
        assert!(rig.has_booted(name), "{name}");
    }
    let vip = assets.vip;
    for event in rig.events() {
        let GuestEvent::Addresses { id, hostname, interfaces } = event else { continue };
        assert!(hostname.as_deref().is_some_and(|hostname| hostname.ends_with(id)), "{id} is called {hostname:?}");
        assert_eq!(interfaces.len(), 1);
        assert!(!interfaces[0].addresses.contains(&vip.into()));
    }
}

const MACHINES: &str = "/apis/machine.openshift.io/v1beta1/namespaces/landfall-system/machines";

/// Makes a machine's object, as a set does; returns who it is.
async fn machine(admin: &Client, name: &str) -> Subject {
    let object = json!({
        "apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine",
        "metadata": { "name": name, "labels": { "machine.openshift.io/cluster-api-machine-role": "worker" } },
        "spec": { "providerSpec": { "value": {} } },
    });
    let (status, made) = admin.send("POST", MACHINES, &object).await.unwrap();
    assert_eq!(status, 201, "{made}");
    Subject::of_object(name, made["metadata"]["uid"].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_masters_carry_on_without_the_bootstrap_machine() {
    let network = Network::claim();
    let assets = Assets::render(&network);
    let mut rig = Rig::new(&network);
    let admin = install(&mut rig, &assets, 0).await;
    rig.stop("bootstrap");
    until("the API at the virtual address", async || match admin.get("/readyz").await? {
        (200, _) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;

    // Masters serve workers, and no machine serves masters any more. As on real hosts they are not refused for good: one may be awaited.
    let config_server = |text: &str| Client::anonymous(&assets, Some(text)).at(22623);
    until("the config server of a master", async || config_server("").get("/healthz").await.map(drop)).await;
    let fetch = async |role: &str, subject: &Subject| {
        config_server(&assets.credential(role, subject)).get(&format!("/config/{role}")).await.unwrap().0
    };
    assert_eq!(fetch("master", &Subject::named("demo-x7k2p-master-0")).await, 503);
    let unknown = [Subject::of_run("late", 1_000_000_000), Subject::of_object("late", "6f1a")];
    for subject in &unknown {
        assert_eq!(fetch("worker", subject).await, 401, "{subject} is unknown or too old");
    }

    // A machine has been here before the one that the credential is for.
    let stolen = machine(&admin, "stolen").await;
    assert_eq!(fetch("worker", &stolen).await, 200);
    assert_eq!(fetch("worker", &stolen).await, 200, "its reply was lost");
    rig.start("stolen", &assets.pointer_with("worker", "stolen", &stolen));
    rig.until_printed("stolen", "was answered with 401").await;

    let late = machine(&admin, "late").await;
    rig.start("late", &assets.pointer_with("worker", "late", &late));
    until("a worker that comes late", async || {
        let ready = admin.ready_nodes().await?;
        if ready.contains(&"late".to_owned()) {
            Ok(())
        } else {
            Err(format!("{ready:?}, {:#?}", rig.control.console("late")))
        }
    })
    .await;

    assert_eq!(fetch("worker", &late).await, 401, "user data of a machine that runs opens nothing");
    let replaced = {
        let path = format!("{MACHINES}/stolen");
        let (status, answer) = admin.send("DELETE", &path, &Value::Null).await.unwrap();
        assert_eq!(status, 200, "{answer}");
        machine(&admin, "stolen").await
    };
    assert_eq!(fetch("worker", &stolen).await, 401, "it is another machine's now");
    assert_eq!(fetch("worker", &replaced).await, 200);

    // One master after the other goes, and the last one still answers.
    for master in 0..2 {
        rig.stop(&format!("{}-master-{master}", assets.infra_id));
        until("the API of the others", async || admin.get("/readyz").await.map(drop)).await;
    }
    until("the lost nodes", async || {
        let ready = admin.ready_nodes().await?;
        if ready == [format!("{}-master-2", assets.infra_id), "late".to_owned()] {
            Ok(())
        } else {
            Err(format!("{ready:?}"))
        }
    })
    .await;
}
