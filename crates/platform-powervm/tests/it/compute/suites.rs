//! The generic suites over the plan of a partition.

use std::sync::Arc;

use async_trait::async_trait;
use landfall_engine::{Plan, PlanBuilder};
use landfall_platform::{Bind, Discover, InfraId, StepError, StepSpec};
use landfall_platform_powervm::compute::{Binder, Blueprint, DiskPlace, Host, PartitionId, belongings, steps};
use landfall_testkit::{Fixture, World, fail_at_every_step, kill_at_every_step, kill_every_removal, repeat_every_step};

use super::inventory;
use super::stage::Stage;

/// A partition with a disk in a pool.
struct InPool;
/// A partition with a disk in a volume group.
struct InGroup;

struct Partition {
    stage: Stage,
    blueprint: Blueprint,
}

#[async_trait]
impl Fixture for InPool {
    async fn world(&self) -> Box<dyn World> {
        let stage = Stage::new().await;
        let blueprint = stage.blueprint("node-0");
        Box::new(Partition { stage, blueprint })
    }
}

#[async_trait]
impl Fixture for InGroup {
    async fn world(&self) -> Box<dyn World> {
        let stage = Stage::new().await;
        let mut blueprint = stage.blueprint("node-0");
        blueprint.disks[0].place = DiskPlace::VolumeGroup { vios: "vios1".to_owned(), group: "datavg".to_owned() };
        Box::new(Partition { stage, blueprint })
    }
}

struct Found {
    host: Arc<Host>,
    partition: PartitionId,
}

#[async_trait]
impl Discover for Found {
    async fn discover(&self) -> Result<Vec<StepSpec>, StepError> {
        Ok(belongings(&self.host, &self.partition, "").await?)
    }
}

#[async_trait]
impl World for Partition {
    fn infra_id(&self) -> InfraId {
        "demo-x7k2p".parse().unwrap()
    }

    fn plan(&self) -> Plan {
        let mut builder = PlanBuilder::default();
        for step in steps(self.stage.host.name(), &self.blueprint, "") {
            builder.step(step);
        }
        builder.build().unwrap()
    }

    fn binder(&self) -> Arc<dyn Bind> {
        let drive = self.blueprint.config_drive.as_ref().unwrap();
        Arc::new(Binder::new([self.stage.host.clone()]).with_drive(&self.blueprint.partition.id, drive))
    }

    fn discoverer(&self) -> Arc<dyn Discover> {
        Arc::new(Found { host: self.stage.host.clone(), partition: self.blueprint.partition.id.clone() })
    }

    async fn inventory(&self) -> Vec<String> {
        inventory::list(&self.stage.scene.hosts)
    }
}

#[tokio::test]
async fn every_step_can_be_repeated() {
    repeat_every_step(&InPool).await;
    repeat_every_step(&InGroup).await;
}

#[tokio::test]
async fn a_failure_at_any_step_can_be_unwound() {
    fail_at_every_step(&InPool).await;
    fail_at_every_step(&InGroup).await;
}

#[tokio::test]
async fn a_run_that_died_at_any_step_can_be_resumed() {
    kill_at_every_step(&InPool).await;
}

#[tokio::test]
async fn a_removal_that_died_at_any_step_can_be_resumed() {
    kill_every_removal(&InPool).await;
}
