//! An installation with one bootstrap machine, three masters and a worker.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use crate::cluster::Cluster;
use crate::waiting::until;

/// Installs, and looks whether the cluster is what the installer says it is.
pub(crate) async fn run(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    configure(cluster).await?;
    let began = Instant::now();
    let create = ["create", "cluster"];
    let (created, seen) = futures::join!(cluster.landfall(&create), from_outside(cluster));
    created?;
    let took = began.elapsed().as_secs_f64();
    let seen = seen?;
    let holder = judge(cluster).await?;
    Ok(format!("cluster ready after {took:.1} s; {holder} has the API's address; seen from outside: {seen}"))
}

/// What `landfall status` says about the bootstrap machine while it is at work: the first word, before there is an API, and
/// one from later.
async fn from_outside(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    let first = steps_beyond(cluster, "").await?;
    ensure!(first.ends_with("/10"), "the bootstrap machine has {first} steps");
    let later = steps_beyond(cluster, &first).await?;
    Ok(format!("{first} steps, then {later}"))
}

/// How many steps the bootstrap machine has done, once it is another number than `past`.
async fn steps_beyond(cluster: &Cluster<'_>, past: &str) -> anyhow::Result<String> {
    until("word from the bootstrap machine", Duration::from_mins(3), || async {
        let status = cluster.status().await?;
        let steps = status["bootstrap"]["steps"].as_str().filter(|steps| *steps != past);
        steps.map(str::to_owned).with_context(|| format!("it says {}", status["bootstrap"]))
    })
    .await
}

/// Installs another cluster, whose bootstrap machine is rebooted as soon as its API has answered, and destroys it.
pub(crate) async fn with_a_reboot(first: &Cluster<'_>) -> anyhow::Result<String> {
    let cluster = Cluster::new(first.lab, "rebooted");
    configure(&cluster).await?;
    let began = Instant::now();
    let reboot = async {
        until("the first API", Duration::from_mins(3), || async {
            ensure!(cluster.api()?.send("GET", "/readyz", &[], "").await?.status == 200, "the API is not ready");
            Ok(())
        })
        .await?;
        let hosts = cluster.lab.hosts().await?;
        let bootstrap =
            hosts.iter().find(|host| host.name.contains("bootstrap")).context("there is no bootstrap machine")?;
        bootstrap.run(&["systemctl", "reboot"]).await.map(drop)?;
        anyhow::Ok(began.elapsed().as_secs_f64())
    };
    let create = ["create", "cluster"];
    let (created, rebooted) = futures::join!(cluster.landfall(&create), reboot);
    let rebooted = rebooted?;
    created?;
    let took = began.elapsed().as_secs_f64();
    judge(&cluster).await?;
    super::remove::run(&cluster).await?;
    Ok(format!("rebooted after {rebooted:.1} s, cluster ready after {took:.1} s"))
}

/// Writes the install-config: the simulator's, with one worker.
pub(super) async fn configure(cluster: &Cluster<'_>) -> anyhow::Result<()> {
    let example = cluster.lab.home().join("example.yaml").display().to_string();
    cluster.landfall(&["create", "install-config", "--from", &example, "--set", "compute[0].replicas=1"]).await
}

/// Looks whether a cluster is there and its bootstrap machine is not; returns who has the API's address.
pub(super) async fn judge(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    let nodes = cluster.ready_nodes().await?;
    let of = |role: &str| nodes.iter().filter(|name| name.contains(role)).count();
    ensure!((of("-master-"), of("-worker-"), nodes.len()) == (3, 1, 4), "nodes that are ready: {nodes:?}");
    let hosts = cluster.lab.hosts().await?;
    let names: Vec<_> = hosts.iter().map(|host| &host.name).collect();
    ensure!(hosts.len() == 4 && !names.iter().any(|name| name.contains("bootstrap")), "hosts that are on: {names:?}");
    // Through the kubelet, whose certificate may have to be approved first.
    until("etcd's members", Duration::from_mins(1), || super::etcd::members(cluster)).await?;
    Ok(cluster.holder().await?.name)
}
