//! The machines of a cluster after its installation, which a controller in the cluster looks after.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::json;

use crate::cluster::Cluster;
use crate::waiting::until;

const PATIENCE: Duration = Duration::from_mins(4);
const MACHINES: &str = "machines.machine.openshift.io";

/// Asks for one more worker, and for one less.
pub(crate) async fn scale(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    let sets = cluster.list(&["machinesets.machine.openshift.io", "--all-namespaces"]).await?;
    let set = sets.first().and_then(|set| set["metadata"]["name"].as_str()).context("there is no set of machines")?;
    let began = Instant::now();
    cluster.landfall(&["machines", "scale", set, "--replicas=2"]).await?;
    until("a second worker", PATIENCE, || workers(cluster, 2)).await?;
    let up = began.elapsed().as_secs_f64();
    cluster.landfall(&["machines", "scale", set, "--replicas=1"]).await?;
    until("one worker less", PATIENCE, || workers(cluster, 1)).await?;
    let down = began.elapsed().as_secs_f64() - up;
    Ok(format!("one more worker was ready after {up:.1} s, one less was left after {down:.1} s"))
}

/// Deletes the only worker, as an administrator who wants another one does.
pub(crate) async fn replace(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    let machines = cluster.list(&[MACHINES, "--all-namespaces"]).await?;
    let is_worker = |name: &str| name.contains("-worker-");
    let name = machines.iter().filter_map(|machine| machine["metadata"]["name"].as_str()).find(|name| is_worker(name));
    let name = name.context("there is no worker")?.to_owned();
    let began = Instant::now();
    cluster.kubectl(&["delete", MACHINES, &name, "--namespace=landfall-system", "--wait=false"]).await?;
    until("another worker", PATIENCE, || async {
        let names = workers(cluster, 1).await?;
        ensure!(!names.contains(&name), "{name} is still there");
        Ok(())
    })
    .await?;
    Ok(format!("deleted and replaced within {:.1} s", began.elapsed().as_secs_f64()))
}

/// Deletes a master and applies a copy of its object with another name: the old one leaves etcd, the new one joins.
pub(crate) async fn replace_master(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    let began = Instant::now();
    let replacement = Replacement::begin(cluster).await?;
    replacement.end(cluster, PATIENCE).await?;
    let Replacement { old, new } = &replacement;
    Ok(format!("{new} took the place of {old}, in etcd too, within {:.1} s", began.elapsed().as_secs_f64()))
}

/// A master that takes the place of another one.
pub(super) struct Replacement {
    pub(super) old: String,
    pub(super) new: String,
}

impl Replacement {
    /// Deletes a master and applies a copy of its object with another name.
    pub(super) async fn begin(cluster: &Cluster<'_>) -> anyhow::Result<Self> {
        let machines = cluster.list(&[MACHINES, "--all-namespaces"]).await?;
        let mut machine = machines
            .into_iter()
            .rfind(|machine| machine["metadata"]["name"].as_str().is_some_and(|name| name.contains("-master-")))
            .context("there is no master")?;
        let old = machine["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let new = format!("{old}-next");
        machine["metadata"] = json!({
            "name": new,
            "namespace": machine["metadata"]["namespace"],
            "labels": machine["metadata"]["labels"],
        });
        if let Some(fields) = machine.as_object_mut() {
            fields.remove("status");
        }
        if let Some(spec) = machine["spec"].as_object_mut() {
            spec.remove("providerID");
        }
        cluster.kubectl(&["delete", MACHINES, &old, "--namespace=landfall-system", "--wait=false"]).await?;
        cluster.apply(&machine.to_string()).await?;
        Ok(Self { old, new })
    }

    /// Waits until the old one is gone and the new one is a healthy part of the cluster.
    pub(super) async fn end(&self, cluster: &Cluster<'_>, limit: Duration) -> anyhow::Result<()> {
        until("another master", limit, || async {
            let nodes = cluster.ready_nodes().await?;
            ensure!(nodes.contains(&self.new) && !nodes.contains(&self.old), "nodes that are ready: {nodes:?}");
            let masters: Vec<String> = cluster.masters().await?.into_iter().map(|host| host.name).collect();
            ensure!(masters.len() == 3 && !masters.contains(&self.old), "masters that are on: {masters:?}");
            super::etcd::members(cluster).await.map(drop)
        })
        .await
    }
}

/// So many workers are ready nodes, and just their hosts are on; their names.
async fn workers(cluster: &Cluster<'_>, count: usize) -> anyhow::Result<Vec<String>> {
    let of = |names: Vec<String>| -> Vec<String> {
        let mut names: Vec<String> = names.into_iter().filter(|name| name.contains("-worker-")).collect();
        names.sort();
        names
    };
    let nodes = of(cluster.ready_nodes().await?);
    let hosts = of(cluster.lab.hosts().await?.into_iter().map(|host| host.name).collect());
    ensure!(nodes == hosts && nodes.len() == count, "nodes that are ready: {nodes:?}, hosts: {hosts:?}");
    Ok(nodes)
}
