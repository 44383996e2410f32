//! Clusters with similar names, and objects of other people.

use landfall_platform::{ErrorClass, MachineRef, Machines as _};
use serde_json::json;

use crate::scene::{CLUSTER, STORAGE, Scene, config, config_with_image};

#[tokio::test]
async fn removing_one_cluster_leaves_its_neighbours() {
    let scene = Scene::new().await;
    let empty = crate::inventory::list(&scene.engine);
    let mut clusters = Vec::new();
    for name in ["a-bcdfg", "ba-bcdfg", "a-bcdfg-hjklm", "a-bcdf"] {
        let cluster = scene.cluster(name, config(1, 0));
        let before = cluster.list();
        cluster.install().await.unwrap();
        let own: Vec<String> = cluster.list().into_iter().filter(|line| !before.contains(line)).collect();
        clusters.push((cluster, own));
    }
    for (cluster, own) in &clusters {
        let others: Vec<String> = cluster.list().into_iter().filter(|line| !own.contains(line)).collect();
        cluster.destroy_without_files().await.unwrap();
        assert_eq!(cluster.list(), others, "after removing {}", cluster.infra_id);
    }
    assert_eq!(crate::inventory::list(&scene.engine), empty);
}

#[tokio::test]
async fn an_interrupted_upload_is_found_and_removed_by_the_infra_id_alone() {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config_with_image(&scene.image(), 1));
    let empty = cluster.list();
    // The host refuses the bytes for good, so the disk is there and its transfer is open.
    scene.fault("PUT /images/* status=400");
    assert!(cluster.install().await.is_err());
    assert!(cluster.list().iter().any(|line| line.starts_with("disk demo-x7k2p-image")), "{:#?}", cluster.list());
    cluster.destroy_without_files().await.unwrap();
    assert_eq!(cluster.list(), empty);
}

#[tokio::test]
async fn foreign_objects_of_the_same_name_stop_the_installation_and_are_never_touched() {
    for (path, body, object) in [
        ("tags", json!({ "name": "demo-x7k2p", "description": "mine" }), "tag demo-x7k2p"),
        (
            "clusters/7a5b0000-0000-4000-8000-0000000c1a01/affinitygroups",
            json!({ "name": "demo-x7k2p-controlplane", "vms_rule": { "enabled": "true" } }),
            "affinity group demo-x7k2p-controlplane",
        ),
        (
            "vms",
            json!({ "name": "demo-x7k2p-master-0", "cluster": { "id": CLUSTER }, "template": { "name": "Blank" },
                    "description": "not [landfall:demo-x7k2p] but somebody's" }),
            "machine demo-x7k2p-master-0",
        ),
    ] {
        let scene = Scene::new().await;
        let cluster = scene.cluster("demo-x7k2p", config(1, 0));
        scene.call("POST", path, body).await;
        let before = cluster.list();
        let error = cluster.install().await.unwrap_err();
        let text = landfall_platform::error_chain(&error);
        assert!(text.contains(object) && text.contains("does not belong to the cluster"), "{text}");
        cluster.destroy().await.unwrap();
        assert_eq!(cluster.list(), before, "{object}");
    }
}

#[tokio::test]
async fn a_volume_on_a_machine_survives_the_machine() {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config(1, 0));
    cluster.install().await.unwrap();
    let machine = cluster.binder().machines().get("demo-x7k2p-master-0".into()).await.unwrap().unwrap();
    let volume = json!({
        "bootable": "false", "interface": "virtio_scsi", "active": "true",
        "disk": { "alias": "pvc-1234", "description": "a volume", "format": "raw", "sparse": "true",
                  "provisioned_size": "1073741824", "storage_domains": { "storage_domain": [{ "id": STORAGE }] } },
    });
    scene.call("POST", &format!("vms/{}/diskattachments", machine.id), volume).await;
    cluster.destroy().await.unwrap();
    let disks: Vec<String> = cluster.list().into_iter().filter(|line| line.starts_with("disk ")).collect();
    assert_eq!(disks, ["disk fcos '' ok 10 GiB of []", "disk pvc-1234 'a volume' ok 1 GiB of []"]);
}

#[tokio::test]
async fn what_a_user_may_not_touch_is_not_found_by_the_verbs() {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config(1, 0));
    let body = json!({ "name": "demo-x7k2p-worker-9", "cluster": { "id": CLUSTER }, "template": { "name": "Blank" } });
    scene.call("POST", "vms", body).await;
    let machines = cluster.binder().machines();
    assert_eq!(machines.list().await.unwrap().machines, []);
    assert_eq!(machines.get("demo-x7k2p-worker-9".into()).await.unwrap(), None);
    machines.delete("demo-x7k2p-worker-9".into(), &|_| ()).await.unwrap();
    let error = machines.power("demo-x7k2p-worker-9".into(), landfall_platform::Power::Off).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::NotFound);
    assert!(cluster.list().iter().any(|line| line.starts_with("vm demo-x7k2p-worker-9")));
}

/// Gives a machine another name, as its owner's colleague might in the portal.
async fn rename(scene: &Scene, kind: &str, id: &str, name: &str) {
    scene.call("PUT", &format!("{kind}/{id}"), json!({ "name": name })).await;
}

fn blank(name: &str) -> serde_json::Value {
    json!({ "name": name, "cluster": { "id": CLUSTER }, "template": { "name": "Blank" } })
}

#[tokio::test]
async fn a_master_that_was_renamed_goes_with_the_cluster_and_its_double_stays() {
    for with_files in [true, false] {
        let scene = Scene::new().await;
        let cluster = scene.cluster("demo-x7k2p", config(1, 0));
        let before = cluster.list();
        cluster.install().await.unwrap();
        let machines = cluster.binder().machines();
        let master = machines.get("demo-x7k2p-master-0".into()).await.unwrap().unwrap();
        rename(&scene, "vms", &master.id, "old-master").await;
        scene.call("POST", "vms", blank("demo-x7k2p-master-0")).await;
        let known = MachineRef { name: &master.name, id: Some(&master.id) };
        assert_eq!(machines.get(known).await.unwrap().unwrap().name, "old-master");
        if with_files {
            cluster.destroy().await.unwrap();
        } else {
            cluster.destroy_without_files().await.unwrap();
        }
        let mut after = cluster.list();
        after.retain(|line| !line.starts_with("vm demo-x7k2p-master-0 ''"));
        assert_eq!(after, before, "with files: {with_files}");
    }
}

#[tokio::test]
async fn what_lost_its_name_and_its_mark_goes_by_its_recorded_id() {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config_with_image(&scene.image(), 1));
    let before = cluster.list();
    cluster.install().await.unwrap();
    for (kind, element) in [("vms", "vm"), ("templates", "template")] {
        let all = scene.call("GET", kind, json!(null)).await;
        let is_own = |one: &&serde_json::Value| one["name"].as_str().unwrap_or_default().starts_with("demo-x7k2p-");
        for (number, own) in all[element].as_array().unwrap().iter().filter(is_own).enumerate() {
            let change = json!({ "name": format!("other-{number}"), "description": "mine" });
            scene.call("PUT", &format!("{kind}/{}", own["id"].as_str().unwrap()), change).await;
        }
    }
    cluster.destroy().await.unwrap();
    assert_eq!(cluster.list(), before);
}

#[tokio::test]
async fn a_template_and_a_tag_that_were_renamed_go_with_the_cluster() {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config_with_image(&scene.image(), 1));
    let before = cluster.list();
    cluster.install().await.unwrap();
    for (kind, element) in [("templates", "template"), ("tags", "tag")] {
        let all = scene.call("GET", kind, json!(null)).await;
        let is_own = |one: &&serde_json::Value| one["name"].as_str().unwrap_or_default().starts_with("demo-x7k2p");
        let own = all[element].as_array().unwrap().iter().find(is_own).unwrap();
        rename(&scene, kind, own["id"].as_str().unwrap(), "other").await;
    }
    cluster.destroy_without_files().await.unwrap();
    assert_eq!(cluster.list(), before);
}

#[tokio::test]
async fn an_installation_that_died_goes_on_with_the_machine_that_was_renamed() {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config(1, 0));
    let before = cluster.list();
    // The engine refuses to start machines, so that they are there and their steps are not done.
    scene.fault("POST /ovirt-engine/api/vms/*/start status=400");
    assert!(cluster.install().await.is_err());
    scene.engine.with_faults(landfall_simulator::core::faults::FaultPlan::clear);
    let all = scene.call("GET", "vms", json!(null)).await;
    let own = all["vm"].as_array().unwrap().iter().find(|vm| vm["name"] == "demo-x7k2p-bootstrap").unwrap();
    rename(&scene, "vms", own["id"].as_str().unwrap(), "old-bootstrap").await;
    cluster.install().await.unwrap();
    let count = |prefix: &str| cluster.list().iter().filter(|line| line.starts_with(prefix)).count();
    assert_eq!((count("vm old-bootstrap"), count("vm demo-x7k2p-bootstrap")), (1, 0), "{:#?}", cluster.list());
    cluster.destroy().await.unwrap();
    assert_eq!(cluster.list(), before);
}

#[tokio::test]
async fn a_loose_disk_with_such_a_name_is_not_taken_for_a_machines_own() {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config(1, 0));
    cluster.install().await.unwrap();
    let disk = json!({
        "name": "demo-x7k2p-master-0-disk7", "format": "cow", "sparse": "true", "provisioned_size": "1073741824",
        "storage_domains": { "storage_domain": [{ "id": STORAGE }] },
    });
    scene.call("POST", "disks", disk).await;
    cluster.destroy().await.unwrap();
    let disks: Vec<String> = cluster.list().into_iter().filter(|line| line.contains("disk7")).collect();
    assert_eq!(disks.len(), 1, "{:#?}", cluster.list());
}

#[tokio::test]
async fn a_volume_that_is_attached_while_a_machine_is_deleted_survives() {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config(1, 0));
    cluster.install().await.unwrap();
    // Attached right before the engine is asked to delete the machine: whoever does it has looked at its disks before.
    let attached = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (world, done) = (scene.engine.world().clone(), std::sync::Arc::clone(&attached));
    let attach = move |call: landfall_simulator::core::Call| -> futures::future::BoxFuture<'static, ()> {
        let parts: Vec<&str> = call.path.split('/').collect();
        let is_deletion = call.method == "DELETE" && parts.len() == 5 && parts[3] == "vms";
        if is_deletion && !done.swap(true, std::sync::atomic::Ordering::Relaxed) {
            let volume = json!({
                "bootable": "false", "interface": "virtio_scsi", "active": "true",
                "disk": { "alias": "pvc-1234", "description": "a volume", "format": "raw", "sparse": "true",
                          "provisioned_size": "1073741824", "storage_domains": { "storage_domain": [{ "id": STORAGE }] } },
            });
            let headers = [
                ("authorization", "Basic YWRtaW5AaW50ZXJuYWw6bGFuZGZhbGw="),
                ("content-type", "application/json"),
                ("accept", "application/json"),
            ];
            let target = format!("{}/diskattachments", call.path);
            let request = landfall_simulator::core::Request::direct("POST", &target, &headers, volume.to_string());
            assert_eq!(world.handle(&request).status, 201);
        }
        Box::pin(std::future::ready(()))
    };
    scene.engine.before_each_call(Some(std::sync::Arc::new(attach)));
    cluster.destroy().await.unwrap();
    assert!(attached.load(std::sync::atomic::Ordering::Relaxed), "no machine was deleted");
    let disks: Vec<String> = cluster.list().into_iter().filter(|line| line.starts_with("disk ")).collect();
    assert_eq!(disks, ["disk fcos '' ok 10 GiB of []", "disk pvc-1234 'a volume' ok 1 GiB of []"]);
}
