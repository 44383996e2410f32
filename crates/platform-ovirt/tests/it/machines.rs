//! The machine verbs.

use std::time::Duration;

use landfall_platform::{MachineSpec, Machines as _, Power, PowerState};
use serde_json::json;

use crate::scene::{CLUSTER, PROFILE, STORAGE, Scene, config};

/// A worker that is a copy of the template, which takes the engine a while.
fn worker() -> MachineSpec {
    worker_called("demo-x7k2p-worker-a1")
}

pub(crate) fn worker_called(name: &str) -> MachineSpec {
    MachineSpec {
        name: name.to_owned(),
        user_data: r#"{"ignition":{"version":"3.4.0"}}"#.into(),
        platform: json!({
            "name": "", "role": "worker", "cluster_id": CLUSTER, "template": "fcos", "storage_domain_id": STORAGE,
            "vnic_profile_id": PROFILE, "os_disk_gib": 20, "kind": "server", "clone": true, "sparse": null, "format": null,
            "size": { "custom": { "sockets": 1, "cores": 2, "threads": 1, "memory_mib": 4096, "guaranteed_memory_mib": 4096 } },
            "hugepages": null, "pinned": false, "high_availability": false,
            "affinity_groups": ["demo-x7k2p-compute"], "tag": "demo-x7k2p", "ignition": "",
        }),
    }
}

#[tokio::test]
async fn a_worker_is_made_switched_and_deleted() {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config(1, 0));
    cluster.install().await.unwrap();
    let before = cluster.list();
    let machines = cluster.binder().machines();
    let spec = worker();
    let made = machines.ensure(&spec, &|_| ()).await.unwrap();
    assert_eq!((made.name.as_str(), made.power), ("demo-x7k2p-worker-a1", PowerState::On));
    assert_eq!(made.provider_id, format!("ovirt://{}", made.id));
    assert_eq!(machines.ensure(&spec, &|_| ()).await.unwrap().id, made.id);
    assert_eq!(machines.list().await.unwrap().machines.len(), 3);
    for (wish, expected) in [
        (Power::Off, PowerState::Off),
        (Power::Off, PowerState::Off),
        (Power::On, PowerState::On),
        (Power::On, PowerState::On),
        (Power::Reset, PowerState::On),
        (Power::ShutDown, PowerState::Off),
        (Power::Reset, PowerState::On),
    ] {
        machines.power(made.name.as_str().into(), wish).await.unwrap_or_else(|error| panic!("{wish:?}: {error}"));
        assert_eq!(machines.get(made.name.as_str().into()).await.unwrap().unwrap().power, expected, "{wish:?}");
    }
    machines.delete(made.name.as_str().into(), &|_| ()).await.unwrap();
    machines.delete(made.name.as_str().into(), &|_| ()).await.unwrap();
    assert_eq!(cluster.list(), before);
}

#[tokio::test]
async fn a_machine_that_is_started_while_it_is_deleted_is_deleted_all_the_same() {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config(1, 0));
    cluster.install().await.unwrap();
    let before = cluster.list();
    // Who deletes it looks so seldom that it sees it while it is copied, when there is nothing to stop, and then when it runs.
    let (maker, stranger) =
        (cluster.binder().machines(), cluster.binder_that_looks_every(Duration::from_secs(2)).machines());
    let spec = worker();
    let deletion = async {
        while maker.get(spec.name.as_str().into()).await.unwrap().is_none() {}
        stranger.delete(spec.name.as_str().into(), &|_| ()).await.unwrap();
    };
    let deletion = tokio::time::timeout(Duration::from_mins(1), deletion);
    // Who makes it may find that it is gone before it runs.
    let (_made_or_gone, deleted) = tokio::join!(maker.ensure(&spec, &|_| ()), deletion);
    deleted.unwrap();
    assert_eq!(cluster.list(), before);
}
