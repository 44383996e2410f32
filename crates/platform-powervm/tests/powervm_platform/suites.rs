//! The generic suites over whole plans.

use std::sync::LazyLock;

use async_trait::async_trait;
use landfall_testkit::{
    Fixture, WebServer, World, fail_at_every_step, kill_at_every_step, kill_every_removal, repeat_every_step,
};
use serde_json::{Value, json};

use crate::cluster::Cluster;

/// What a cluster is made of.
enum Kind {
    /// Clones of an image that is in the pool.
    Clones,
    /// Clones of an image that is uploaded.
    Uploaded,
    /// Clones, on a bridge of Open vSwitch.
    Switched,
    /// Disks of volume groups, written one by one.
    Grouped,
}

#[async_trait]
impl Fixture for Kind {
    async fn world(&self) -> Box<dyn World> {
        let platform: Value = match self {
            Self::Clones => json!({}),
            Self::Switched => json!({ "network": { "openVswitch": { "bridge": "br-int" } } }),
            Self::Uploaded => json!({ "image": { "disk": image() } }),
            Self::Grouped => {
                static SERVER: LazyLock<WebServer> = LazyLock::new(|| WebServer::start(vec![7; 3 << 20]));
                json!({ "image": { "disk": SERVER.url() }, "storage": { "volumeGroup": { "name": "datavg" } } })
            }
        };
        Box::new(Cluster::new(1, platform).await)
    }
}

/// A small raw image, the same for all tests.
fn image() -> String {
    let path = std::env::temp_dir().join(format!("landfall-powervm-{}.raw", std::process::id()));
    if !path.exists() {
        std::fs::write(&path, vec![7; 3 << 20]).unwrap();
    }
    path.display().to_string()
}

#[tokio::test]
async fn every_step_can_be_repeated() {
    repeat_every_step(&Kind::Clones).await;
    repeat_every_step(&Kind::Switched).await;
    repeat_every_step(&Kind::Uploaded).await;
    repeat_every_step(&Kind::Grouped).await;
}

#[tokio::test]
async fn a_failure_at_any_step_can_be_unwound() {
    fail_at_every_step(&Kind::Uploaded).await;
    fail_at_every_step(&Kind::Switched).await;
    fail_at_every_step(&Kind::Grouped).await;
}

#[tokio::test]
async fn a_run_that_died_at_any_step_can_be_resumed() {
    kill_at_every_step(&Kind::Uploaded).await;
    kill_at_every_step(&Kind::Switched).await;
    kill_at_every_step(&Kind::Grouped).await;
}

#[tokio::test]
async fn a_removal_that_died_at_any_step_can_be_resumed() {
    kill_every_removal(&Kind::Uploaded).await;
    kill_every_removal(&Kind::Switched).await;
    kill_every_removal(&Kind::Grouped).await;
}

#[tokio::test]
async fn nothing_is_left_on_a_bridge() {
    let cluster = Cluster::new(1, json!({ "network": { "openVswitch": { "bridge": "br-int" } } })).await;
    let before = cluster.list();
    cluster.install().await.unwrap();
    assert_ne!(cluster.list(), before);
    cluster.destroy_without_files().await.unwrap();
    assert_eq!(cluster.list(), before);
}
