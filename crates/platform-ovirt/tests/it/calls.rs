//! How many calls an installation takes.

use std::collections::BTreeMap;

use crate::scene::{Scene, config};

const API: &str = "/ovirt-engine/api/";

/// Calls by kind, without looks at things under way, whose number depends on how long the engine takes.
async fn calls(workers: u32) -> BTreeMap<String, u64> {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config(1, workers));
    cluster.install().await.unwrap();
    let counts = scene.engine.request_counts();
    counts.into_iter().filter(|(kind, _)| kind != &format!("GET {API}vms")).collect()
}

#[tokio::test]
async fn a_machine_costs_seven_calls_and_a_share_of_the_looks() {
    let (few, many) = (calls(2).await, calls(7).await);
    let per_machine: BTreeMap<&str, u64> = many
        .iter()
        .map(|(kind, count)| (kind.as_str(), count - few.get(kind).copied().unwrap_or_default()))
        .filter(|(_, more)| *more > 0)
        .map(|(kind, more)| (kind, more / 5))
        .collect();
    let expected: BTreeMap<&str, u64> = [
        // The template that it is made from.
        ("GET /ovirt-engine/api/templates", 1),
        ("POST /ovirt-engine/api/vms", 1),
        ("POST /ovirt-engine/api/vms/{id}/tags", 1),
        // Which groups it is in already.
        ("GET /ovirt-engine/api/clusters/{id}/affinitygroups", 1),
        ("POST /ovirt-engine/api/clusters/{id}/affinitygroups/{id}/vms", 1),
        ("PUT /ovirt-engine/api/disks/{id}", 1),
        ("POST /ovirt-engine/api/vms/{id}/start", 1),
    ]
    .into();
    assert_eq!(per_machine, expected);
}

/// However many machines are waited for, each look is one call for all.
#[tokio::test]
async fn looks_are_shared() {
    let scene = Scene::new().await;
    scene.cluster("demo-x7k2p", config(3, 7)).install().await.unwrap();
    let looks = scene.engine.request_counts()[&format!("GET {API}vms")];
    // Eleven machines that each look for themselves would need five looks each: before they are made, while they are
    // copied, while they grow, and while they start twice.
    assert!(looks < 55, "{looks} looks for eleven machines");
}
