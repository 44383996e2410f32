//! Clusters with similar names, and objects of other people.

use landfall_platform::{ErrorClass, Machines as _};
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
    let machine = cluster.binder().machines().get("demo-x7k2p-master-0").await.unwrap().unwrap();
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
    assert_eq!(machines.get("demo-x7k2p-worker-9").await.unwrap(), None);
    machines.delete("demo-x7k2p-worker-9", &|_| ()).await.unwrap();
    let error = machines.power("demo-x7k2p-worker-9", landfall_platform::Power::Off).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::NotFound);
    assert!(cluster.list().iter().any(|line| line.starts_with("vm demo-x7k2p-worker-9")));
}
