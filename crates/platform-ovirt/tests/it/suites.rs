//! The generic suites over whole plans.

use async_trait::async_trait;
use landfall_testkit::{Fixture, World, fail_at_every_step, kill_at_every_step, kill_every_removal, repeat_every_step};

use crate::scene::{Scene, config, config_with_image};

/// Machines from a template that exists.
struct FromTemplate;

/// Machines from an image that is uploaded.
struct FromImage;

#[async_trait]
impl Fixture for FromTemplate {
    async fn world(&self) -> Box<dyn World> {
        Box::new(Scene::new().await.cluster("demo-x7k2p", config(1, 1)))
    }
}

#[async_trait]
impl Fixture for FromImage {
    async fn world(&self) -> Box<dyn World> {
        let scene = Scene::new().await;
        let config = config_with_image(&scene.image(), 1);
        Box::new(scene.cluster("demo-x7k2p", config))
    }
}

#[tokio::test]
async fn every_step_can_be_repeated() {
    repeat_every_step(&FromTemplate).await;
    repeat_every_step(&FromImage).await;
}

#[tokio::test]
async fn a_failure_at_any_step_can_be_unwound() {
    fail_at_every_step(&FromTemplate).await;
    fail_at_every_step(&FromImage).await;
}

#[tokio::test]
async fn a_run_that_died_at_any_step_can_be_resumed() {
    kill_at_every_step(&FromTemplate).await;
    kill_at_every_step(&FromImage).await;
}

#[tokio::test]
async fn a_removal_that_died_at_any_step_can_be_resumed() {
    kill_every_removal(&FromTemplate).await;
    kill_every_removal(&FromImage).await;
}
