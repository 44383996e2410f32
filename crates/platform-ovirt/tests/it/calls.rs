//! How many calls an installation takes.

use std::collections::BTreeMap;

use futures::{StreamExt as _, stream};
use landfall_platform_ovirt::Mark;
use serde_json::json;

use crate::scene::{CLUSTER, PASSWORD, Scene, config};

const API: &str = "/ovirt-engine/api/";

/// Calls by kind, without looks at things under way, whose number depends on how long the engine takes.
async fn calls(masters: u32) -> BTreeMap<String, u64> {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config(masters, 0));
    cluster.install().await.unwrap();
    let counts = scene.engine.request_counts();
    counts.into_iter().filter(|(kind, _)| kind != &format!("GET {API}vms")).collect()
}

#[tokio::test]
async fn a_master_costs_eight_calls_and_a_share_of_the_looks() {
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
        // Machines for high performance have none.
        ("DELETE /ovirt-engine/api/vms/{id}/graphicsconsoles/766e63", 1),
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
    scene.cluster("demo-x7k2p", config(7, 0)).install().await.unwrap();
    let looks = scene.engine.request_counts()[&format!("GET {API}vms")];
    // Eight machines that each look for themselves would need five looks each: before they are made, while they are
    // copied, while they grow, and while they start twice.
    assert!(looks < 40, "{looks} looks for eight machines");
}

/// An engine answers with all machines at once, if it is let: a large fleet would be more than a client takes.
#[tokio::test]
async fn a_large_fleet_is_listed_page_by_page() {
    // A session ends after half an hour without a word, and a page would be asked for twice: a second of the usual clock.
    let scene = Scene::slow().await;
    let client = scene.client(PASSWORD);
    let names: Vec<String> = (0..1001).map(|number| format!("demo-x7k2p-{number:04}")).collect();
    let make = async |name: &String| {
        let description = "worker [landfall:demo-x7k2p]";
        let template = json!({ "name": "Blank" });
        let body =
            json!({ "name": name, "description": description, "cluster": { "id": CLUSTER }, "template": template });
        client.create_vm(name, &body, false).await.unwrap();
    };
    stream::iter(&names).for_each_concurrent(8, make).await;
    let listing = format!("GET {API}vms");
    let before = scene.engine.request_counts().get(&listing).copied().unwrap_or_default();
    let listed = client.vms_marked(&Mark::new("demo-x7k2p".parse().unwrap())).await.unwrap();
    assert_eq!(listed.iter().map(|vm| &vm.name).collect::<Vec<_>>(), names.iter().collect::<Vec<_>>());
    assert_eq!(scene.engine.request_counts()[&listing] - before, 2);
}
