//! Sets of machines.

use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::{
    cluster::{Cluster, eventually, names},
    worlds::World,
};

pub(crate) async fn a_set_scales_up_and_down<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let controllers = cluster.run();
    let set = cluster.set("worker", 0).await;
    for number in [10, 3, 0] {
        cluster.scale(&set, i32::try_from(number).unwrap()).await;
        cluster.settled(number).await;
        eventually("the status says so", || async {
            let status = cluster.sets().get(&set).await.unwrap().status.unwrap_or_default();
            if status.replicas == i32::try_from(number).unwrap() { Ok(()) } else { Err(format!("{status:?}")) }
        })
        .await;
    }
    cluster.nothing_left().await;
    controllers.stop().await.unwrap();
}

pub(crate) async fn policies_and_annotations_choose<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let controllers = cluster.run();
    let set = cluster.set("worker", 3).await;
    let machines = cluster.settled(3).await;
    for machine in &machines {
        cluster.join(machine).await;
    }
    eventually("all are ready", || async {
        let status = cluster.sets().get(&set).await.unwrap().status.unwrap_or_default();
        if status.ready_replicas == 3 && status.available_replicas == 3 { Ok(()) } else { Err(format!("{status:?}")) }
    })
    .await;
    let chosen = machines[1].name().to_owned();
    let change = json!({ "metadata": { "annotations": { "machine.openshift.io/delete-machine": "yes" } } });
    cluster.machines().patch(&chosen, &PatchParams::default(), &Patch::Merge(change)).await.unwrap();
    cluster.scale(&set, 2).await;
    let left = names(&cluster.settled(2).await);
    assert!(!left.contains(&chosen), "{left:?}");
    controllers.stop().await.unwrap();
}

pub(crate) async fn orphans_are_adopted<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let set = cluster.name("worker");
    for number in 0..2 {
        cluster
            .machine(&format!("worker-{number}"), "worker", |machine| {
                machine["metadata"]["labels"]["machine.openshift.io/cluster-api-machineset"] = json!(set);
            })
            .await;
    }
    let before = names(&cluster.list().await);
    cluster.set("worker", 2).await;
    let controllers = cluster.run();
    let machines = cluster.settled(2).await;
    assert_eq!(names(&machines), before, "no others were made");
    eventually("both belong to the set", || async {
        let machines = cluster.list().await;
        let owned = |machine: &landfall_machines::Machine| {
            machine
                .metadata
                .owner_references
                .iter()
                .flatten()
                .any(|owner| owner.name == set && owner.controller == Some(true))
        };
        if machines.len() == 2 && machines.iter().all(owned) { Ok(()) } else { Err(format!("{machines:?}")) }
    })
    .await;
    controllers.stop().await.unwrap();
}
