//! The generic suites over all steps of a cluster's DNS.

use async_trait::async_trait;
use landfall_testkit::{Fixture, World, fail_at_every_step, kill_at_every_step, kill_every_removal, repeat_every_step};

use crate::scene::{OneCluster, Scene};

/// A zone on BIND in which another cluster and other people have records already.
struct OnBind;

#[async_trait]
impl Fixture for OnBind {
    async fn world(&self) -> Box<dyn World> {
        let scene = Scene::with("www A 192.0.2.80\n*.pages A 192.0.2.81\n", "");
        let cluster = scene.cluster("demo", "demo-x7k2p").with_etcd(2);
        Box::new(OneCluster { cluster, inventory: move || scene.inventory() })
    }
}

#[tokio::test]
async fn every_step_can_be_repeated() {
    repeat_every_step(&OnBind).await;
}

#[tokio::test]
async fn a_failure_at_any_step_can_be_unwound() {
    fail_at_every_step(&OnBind).await;
}

#[tokio::test]
async fn a_run_that_died_at_any_step_can_be_resumed() {
    kill_at_every_step(&OnBind).await;
}

#[tokio::test]
async fn a_removal_that_died_at_any_step_can_be_resumed() {
    kill_every_removal(&OnBind).await;
}
