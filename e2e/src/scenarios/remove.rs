//! The end of the cluster.

use anyhow::ensure;

use crate::cluster::Cluster;

/// Destroys the cluster; no host of it is on afterwards.
pub(crate) async fn run(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    cluster.landfall(&["destroy", "cluster"]).await?;
    let hosts = cluster.lab.hosts().await?;
    ensure!(hosts.is_empty(), "hosts that are still on: {:?}", hosts.iter().map(|host| &host.name).collect::<Vec<_>>());
    Ok("no host is on; what else hosts need is looked for when the simulator has ended".to_owned())
}
