//! The generic suites over whole plans.

use async_trait::async_trait;
use landfall_testkit::{Fixture, World, fail_at_every_step, kill_at_every_step, kill_every_removal, repeat_every_step};
use serde_json::json;

use crate::scene::{Scene, config};

/// Everything that a plan can hold: elastic addresses, a virtual network, a block of addresses, a key, machines.
struct Everything;

/// A project of the cluster's own, and BGP in it.
struct OwnProject;

#[async_trait]
impl Fixture for Everything {
    async fn world(&self) -> Box<dyn World> {
        let scene = Scene::new(&[]).await;
        let section = json!({
            "project": scene.project(),
            "virtualNetworks": [{"name": "storage", "vxlan": 1200}],
            "addressBlocks": [{"name": "services", "quantity": 4}],
            "projectSshKeys": true,
        });
        let mut config = config(section, 1, 1);
        config.ssh_key =
            Some("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8mQf2cVsbLkQnT0WZcHl8mD8mCk0kq1rM4E3h9v6cK demo".to_owned());
        Box::new(scene.cluster(config))
    }
}

#[async_trait]
impl Fixture for OwnProject {
    async fn world(&self) -> Box<dyn World> {
        let scene = Scene::new(&[]).await;
        Box::new(scene.cluster(config(json!({"newProject": {}, "endpoint": "bgp"}), 1, 0)))
    }
}

#[tokio::test]
async fn every_step_can_be_repeated() {
    repeat_every_step(&Everything).await;
    repeat_every_step(&OwnProject).await;
}

#[tokio::test]
async fn a_failure_at_any_step_can_be_unwound() {
    fail_at_every_step(&Everything).await;
    fail_at_every_step(&OwnProject).await;
}

#[tokio::test]
async fn a_run_that_died_at_any_step_can_be_resumed() {
    kill_at_every_step(&Everything).await;
    kill_at_every_step(&OwnProject).await;
}

#[tokio::test]
async fn a_removal_that_died_at_any_step_can_be_resumed() {
    kill_every_removal(&Everything).await;
    kill_every_removal(&OwnProject).await;
}
