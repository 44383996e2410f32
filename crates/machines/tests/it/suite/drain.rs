//! Draining nodes.

use std::time::Duration;

use k8s_openapi::api::{core::v1::Pod, policy::v1::PodDisruptionBudget};
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use landfall_machine_api::Phase;
use serde_json::json;

use crate::{
    cluster::{Cluster, eventually},
    worlds::World,
};

/// A machine with a node on which a pod runs that a budget protects, another that nobody does, and one of a daemon set.
async fn scene<W: World>(cluster: &Cluster<W>) -> (String, Api<Pod>) {
    let name = cluster.machine("one", "worker", |_| ()).await;
    let machine = cluster.phase(&name, Phase::Provisioned).await;
    cluster.join(&machine).await;
    cluster.phase(&name, Phase::Running).await;
    let pods: Api<Pod> = Api::namespaced(cluster.client.clone(), &cluster.namespace);
    for (pod, owner) in [("web", None), ("plain", None), ("agent", Some("DaemonSet"))] {
        let owners = owner.map(
            |kind| json!([{ "apiVersion": "apps/v1", "kind": kind, "name": "agent", "uid": "1", "controller": true }]),
        );
        let pod: Pod = serde_json::from_value(json!({
            "metadata": { "name": pod, "labels": { "app": pod }, "ownerReferences": owners.unwrap_or(json!([])) },
            "spec": { "nodeName": name, "containers": [{ "name": "c", "image": "i" }], "terminationGracePeriodSeconds": 0,
                "tolerations": [{ "operator": "Exists" }] },
        }))
        .unwrap();
        pods.create(&PostParams::default(), &pod).await.unwrap();
        let ready = json!({ "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] } });
        pods.patch_status(pod.metadata.name.as_deref().unwrap(), &PatchParams::default(), &Patch::Strategic(ready))
            .await
            .unwrap();
    }
    let budget: PodDisruptionBudget = serde_json::from_value(json!({
        "metadata": { "name": "web" }, "spec": { "minAvailable": 1, "selector": { "matchLabels": { "app": "web" } } },
    }))
    .unwrap();
    let budgets: Api<PodDisruptionBudget> = Api::namespaced(cluster.client.clone(), &cluster.namespace);
    budgets.create(&PostParams::default(), &budget).await.unwrap();
    (name, pods)
}

pub(crate) async fn pods_leave_before_their_machine_and_budgets_are_respected<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let controllers = cluster.run();
    let (name, pods) = scene(&cluster).await;
    cluster.delete(&name).await;
    eventually("the budget is told of", || async {
        let machine = cluster.machines().get(&name).await.unwrap();
        let conditions = machine.status.unwrap().conditions;
        let held = conditions
            .iter()
            .any(|known| known.kind == "Drained" && known.status == "False" && known.message.contains("/web on node"));
        if held { Ok(()) } else { Err(format!("{conditions:?}")) }
    })
    .await;
    assert!(pods.get_opt("plain").await.unwrap().is_none(), "what nobody protects has left");
    assert!(pods.get_opt("web").await.unwrap().is_some() && pods.get_opt("agent").await.unwrap().is_some());
    assert_eq!(cluster.nodes().get(&name).await.unwrap().spec.unwrap().unschedulable, Some(true));
    assert_eq!(cluster.world.instances(&cluster.infra_id).await, std::slice::from_ref(&name));
    pods.delete("web", &DeleteParams::default()).await.unwrap();
    cluster.gone(&name).await;
    cluster.nothing_left().await;
    controllers.stop().await.unwrap();
}

pub(crate) async fn a_drain_that_takes_too_long_is_cut_short<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let mut options = cluster.options();
    options.pace.drain_timeout = Duration::from_secs(1);
    let controllers = cluster.run_with(options);
    let (name, pods) = scene(&cluster).await;
    cluster.delete(&name).await;
    cluster.gone(&name).await;
    assert!(pods.get_opt("web").await.unwrap().is_some(), "the budget was never broken by an eviction");
    let events = cluster.events(&name).await;
    assert!(events.iter().any(|event| event.starts_with("DrainTimeout")), "{events:?}");
    controllers.stop().await.unwrap();
}
