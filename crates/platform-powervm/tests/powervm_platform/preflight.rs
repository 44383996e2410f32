//! Preflight: all that is wrong at once.

use std::{
    io,
    net::{IpAddr, SocketAddr},
};

use async_trait::async_trait;
use landfall_platform_powervm::{Preflight, Site, preflight};
use landfall_wire::Surroundings;
use serde_json::json;

use crate::cluster::Cluster;

/// A network where nobody answers except at one address.
struct Quiet(Option<SocketAddr>);

#[async_trait]
impl Surroundings for Quiet {
    async fn answers(&self, address: SocketAddr) -> bool {
        self.0 == Some(address)
    }

    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(vec![if name.contains("apps") { [192, 0, 2, 6] } else { [192, 0, 2, 5] }.into()])
    }
}

fn lines(found: &Preflight) -> String {
    let lines = found.findings.iter().map(|finding| format!("{:?} {finding}", finding.verdict));
    lines.collect::<Vec<_>>().join("\n")
}

async fn look(cluster: &Cluster, site: &Site, network: Quiet) -> String {
    lines(&preflight(site, &cluster.config, &network).await)
}

#[tokio::test]
async fn servers_that_are_ready() {
    let cluster = Cluster::new(3, json!({})).await;
    insta::assert_snapshot!(look(&cluster, &cluster.site(), Quiet(None)).await);
}

#[tokio::test]
async fn everything_that_is_wrong_is_said_at_once() {
    let platform = json!({
        "storage": { "sharedStoragePool": { "name": "pool1", "tier": "slow" } },
        "image": { "logicalUnit": "rhcos" },
        "network": { "sharedEthernet": { "vlan": 200 } },
        "defaultMachinePlatform": { "memoryGiB": 600, "compatibilityMode": "default" },
    });
    let cluster = Cluster::new(3, platform).await;
    let busy = Quiet(Some("192.0.2.6:443".parse().unwrap()));
    insta::assert_snapshot!(look(&cluster, &cluster.site(), busy).await);
}

#[tokio::test]
async fn a_wrong_password_is_one_problem_for_each_server() {
    let cluster = Cluster::new(1, json!({})).await;
    let shown = look(&cluster, &cluster.site_with("wrong"), Quiet(None)).await;
    assert_eq!(shown.matches("Problem server:").count(), 3, "{shown}");
    assert!(shown.contains("check user and password"), "{shown}");
}

#[tokio::test]
async fn a_volume_group_and_a_vios_are_looked_at() {
    let platform = json!({
        "storage": { "volumeGroup": { "name": "datavg" } },
        "image": { "disk": "https://example.com/fcos.raw" },
    });
    let cluster = Cluster::new(3, platform).await;
    let shown = look(&cluster, &cluster.site(), Quiet(None)).await;
    assert!(
        shown.contains("Ok storage: power-a: datavg of vios1, 290 GiB free, 240 GiB for masters and bootstrap"),
        "{shown}"
    );
    let platform = json!({
        "storage": { "volumeGroup": { "name": "nothere" } },
        "image": { "disk": "https://example.com/fcos.raw" },
    });
    let cluster = Cluster::new(1, platform).await;
    let shown = look(&cluster, &cluster.site(), Quiet(None)).await;
    assert!(shown.contains("Problem storage: power-a has no volume group nothere"), "{shown}");
}

#[tokio::test]
async fn an_address_that_a_partition_has_is_not_free() {
    let cluster = Cluster::new(1, json!({})).await;
    let told = serde_json::json!({ "ResourceMonitoringIPAddress": "192.0.2.5" });
    let url = format!("{}/powervm/hosts/0/partitions/web1", cluster.scene.hosts.admin_url());
    let client = landfall_wire::Client::new(&landfall_wire::Trust::System, landfall_wire::Limits::default()).unwrap();
    let set = landfall_wire::Request::post(url.parse().unwrap(), told.to_string().into());
    assert_eq!(client.send(set).await.unwrap().status(), 200);
    let shown = look(&cluster, &cluster.site(), Quiet(None)).await;
    assert!(shown.contains("192.0.2.5 is an address of machine web1 on power-a"), "{shown}");
}

#[tokio::test]
async fn a_pool_that_the_disks_could_fill_is_told() {
    let platform = json!({ "defaultMachinePlatform": { "diskGiB": 700 } });
    let cluster = Cluster::new(3, platform).await;
    let shown = look(&cluster, &cluster.site(), Quiet(None)).await;
    assert!(
        shown.contains("Notice storage: power-a: pool pool1, 1999 GiB free, 4200 GiB if all disks fill up"),
        "{shown}"
    );
}
