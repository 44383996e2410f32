//! The generic suites over whole plans.

use async_trait::async_trait;
use landfall_testkit::{Fixture, World, fail_at_every_step, kill_at_every_step, kill_every_removal, repeat_every_step};
use serde_json::json;

use crate::scene::{Scene, config};

/// Everything that a plan can hold.
struct Everything;

#[async_trait]
impl Fixture for Everything {
    async fn world(&self) -> Box<dyn World> {
        let scene = Scene::new(&[]).await;
        Box::new(scene.cluster(config(json!({}), 1, 1)))
    }
}

#[tokio::test]
async fn every_step_can_be_repeated() {
    repeat_every_step(&Everything).await;
}

#[tokio::test]
async fn a_failure_at_any_step_can_be_unwound() {
    fail_at_every_step(&Everything).await;
}

#[tokio::test]
async fn a_run_that_died_at_any_step_can_be_resumed() {
    kill_at_every_step(&Everything).await;
}

#[tokio::test]
async fn a_removal_that_died_at_any_step_can_be_resumed() {
    kill_every_removal(&Everything).await;
}
