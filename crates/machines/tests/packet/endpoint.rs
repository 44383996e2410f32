//! The elastic addresses of API and ingress, which the controllers keep on healthy machines.

use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use landfall_machine_api::Phase;
use serde_json::json;

use crate::{
    cluster::{Cluster, eventually, in_time},
    worlds::Packet,
};

type Account = Cluster<Packet>;

/// Waits until an address leads to one of the machines; returns which.
async fn led(cluster: &Account, block: &str, machines: &[String]) -> String {
    eventually("the address leads to a healthy machine", || async {
        match cluster.world.holder(block).await {
            Some(holder) if machines.contains(&holder) => Ok(holder),
            other => Err(format!("{other:?} has it, not one of {machines:?}")),
        }
    })
    .await
}

async fn running(cluster: &Account, suffixes: &[&str], role: &str) -> Vec<String> {
    let mut names = Vec::new();
    for suffix in suffixes {
        names.push(cluster.machine(suffix, role, |_| ()).await);
    }
    for machine in cluster.settled(cluster.list().await.len()).await {
        if names.contains(&machine.name().to_owned()) {
            cluster.join(&machine).await;
            cluster.phase(machine.name(), Phase::Running).await;
        }
    }
    names
}

fn others(machines: &[String], holder: &str) -> Vec<String> {
    machines.iter().filter(|name| *name != holder).cloned().collect()
}

async fn dies(cluster: &Account, machine: &str) {
    cluster.ready(machine, "Unknown", Duration::from_secs(999)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_leave_machines_that_died() {
    in_time(async {
        let cluster = Account::new().await;
        let api = cluster.world.reserve(&cluster.infra_id, "api").await;
        let ingress = cluster.world.reserve(&cluster.infra_id, "ingress").await;
        let secrets: Api<Secret> = Api::namespaced(cluster.client.clone(), &cluster.namespace);
        let change = Patch::Merge(json!({ "stringData": { "endpoint": "eip" } }));
        secrets.patch("credentials", &PatchParams::default(), &change).await.unwrap();
        let controllers = cluster.run();
        // Without workers, masters serve applications.
        let masters = running(&cluster, &["master-0", "master-1"], "master").await;
        let first = led(&cluster, &api, &masters).await;
        led(&cluster, &ingress, &masters).await;
        // Where there are workers, they do.
        let workers = running(&cluster, &["worker-a", "worker-b"], "worker").await;
        let serving = led(&cluster, &ingress, &workers).await;
        dies(&cluster, &serving).await;
        let next = led(&cluster, &ingress, &others(&workers, &serving)).await;
        assert_eq!(cluster.world.holder(&api).await.as_ref(), Some(&first), "the API's stays where it is");
        dies(&cluster, &first).await;
        led(&cluster, &api, &others(&masters, &first)).await;
        assert_eq!(cluster.world.holder(&ingress).await.as_ref(), Some(&next), "the ingress' stays where it is");
        // A machine that is to go gives it up before.
        cluster.ready(&serving, "True", Duration::ZERO).await;
        cluster.delete(&next).await;
        led(&cluster, &ingress, &[serving]).await;
        controllers.stop().await.unwrap();
    })
    .await;
}
