//! Several controllers with one Lease.

use landfall_machines::{Error, Options};

use crate::{
    cluster::{Cluster, eventually},
    worlds::World,
};

fn options<W: World>(cluster: &Cluster<W>, identity: &str) -> Options {
    Options { lease: Some(Cluster::<W>::lease(identity)), ..cluster.options() }
}

fn leads(running: &crate::cluster::Running) -> bool {
    running.metrics.text().contains("landfall_machines_leads 1")
}

pub(crate) async fn one_of_two_leads_and_the_other_takes_over<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let first = cluster.run_with(options(&cluster, "first"));
    eventually("the first leads", || async { leads(&first).then_some(()).ok_or_else(String::new) }).await;
    let second = cluster.run_with(options(&cluster, "second"));
    let set = cluster.set("worker", 4).await;
    cluster.settled(4).await;
    assert_eq!(cluster.world.creations(), 4, "only one of them made machines");
    assert!(!leads(&second));
    // A crash: the other waits until the lease has run out.
    first.kill().await;
    cluster.scale(&set, 5).await;
    cluster.settled(5).await;
    assert!(leads(&second));
    // An orderly end: the next one need not wait.
    let third = cluster.run_with(options(&cluster, "third"));
    second.stop().await.unwrap();
    cluster.scale(&set, 0).await;
    cluster.settled(0).await;
    assert!(leads(&third));
    third.stop().await.unwrap();
}

pub(crate) async fn a_leader_that_cannot_renew_stops<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let first = cluster.run_with(options(&cluster, "first"));
    eventually("the first leads", || async { leads(&first).then_some(()).ok_or_else(String::new) }).await;
    // Somebody takes the lease away.
    let leases: kube::Api<k8s_openapi::api::coordination::v1::Lease> =
        kube::Api::namespaced(cluster.client.clone(), &cluster.namespace);
    let change =
        serde_json::json!({ "spec": { "holderIdentity": "thief", "renewTime": "2100-01-01T00:00:00.000000Z" } });
    leases.patch("machines", &Default::default(), &kube::api::Patch::Merge(change)).await.unwrap();
    let ended = first.ended().await;
    assert!(matches!(ended, Err(Error::LeaseLost(_))), "{ended:?}");
}
