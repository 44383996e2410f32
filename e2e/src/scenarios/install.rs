//! An installation with one bootstrap machine, three masters and a worker.

use std::time::{Duration, Instant};

use anyhow::ensure;

use crate::cluster::Cluster;
use crate::waiting::until;

/// Installs, and looks whether the cluster is what the installer says it is.
pub(crate) async fn run(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    let example = cluster.lab.home().join("example.yaml").display().to_string();
    let config = ["create", "install-config", "--from", &example, "--set", "compute[0].replicas=1"];
    cluster.landfall(&config).await?;
    let began = Instant::now();
    cluster.landfall(&["create", "cluster"]).await?;
    let took = began.elapsed();

    let nodes = cluster.ready_nodes().await?;
    let of = |role: &str| nodes.iter().filter(|name| name.contains(role)).count();
    ensure!((of("-master-"), of("-worker-"), nodes.len()) == (3, 1, 4), "nodes that are ready: {nodes:?}");
    let hosts = cluster.lab.hosts().await?;
    let names: Vec<_> = hosts.iter().map(|host| &host.name).collect();
    ensure!(hosts.len() == 4 && !names.iter().any(|name| name.contains("bootstrap")), "hosts that are on: {names:?}");
    let holder = cluster.holder().await?;
    // Through the kubelet, whose certificate may have to be approved first.
    until("etcd's members", Duration::from_mins(1), || members(cluster)).await?;
    Ok(format!("cluster ready after {:.1} s; {} has the API's address", seconds(took), holder.name))
}

/// etcd has the three masters as voting members, and nobody else.
async fn members(cluster: &Cluster<'_>) -> anyhow::Result<()> {
    let master = &cluster.masters().await?[0];
    let pki = "/etc/kubernetes/pki/etcd";
    let (ca, certificate, key) = (
        format!("--cacert={pki}/ca.crt"),
        format!("--cert={pki}/healthcheck-client.crt"),
        format!("--key={pki}/healthcheck-client.key"),
    );
    let pod = format!("etcd-{}", master.name);
    let command = ["etcdctl", "--endpoints=https://127.0.0.1:2379", &ca, &certificate, &key, "member", "list"];
    let list = cluster.kubectl(&[&["exec", "--namespace=kube-system", &pod, "--"], &command[..]].concat()).await?;
    let members: Vec<&str> = list.lines().collect();
    let is_voter = |line: &&&str| line.contains("-master-") && line.contains(", started,") && line.ends_with("false");
    ensure!(members.len() == 3 && members.iter().filter(is_voter).count() == 3, "etcd's members: {members:?}");
    Ok(())
}

fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}
