//! What programs left that died, and whose journals are lost.

use std::sync::Arc;
use std::time::Duration;

use landfall_platform_powervm::client::LogicalUnitSpec;
use landfall_platform_powervm::compute::{Blueprint, Host, Patience, destroy, spawn};

use super::inventory;
use super::stage::{IMAGE, Stage, id, run};
use crate::scene::JOBS;

fn has_image(stage: &Stage) -> bool {
    inventory::list(&stage.scene.hosts).iter().any(|line| line.contains(&format!("unit {IMAGE} ")))
}

#[tokio::test]
async fn an_image_whose_last_clone_is_gone_goes_with_the_partition() {
    let stage = Stage::new().await;
    let before = inventory::list(&stage.scene.hosts);
    spawn(&stage.host, &Blueprint { power_on: false, ..stage.blueprint("node-0") }, &run()).await.unwrap();
    stage.scene.fault("DELETE /rest/api/uom/Tier/*/LogicalUnit/* nth=2 status=400 body=platform");
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap_err();
    let lines = inventory::list(&stage.scene.hosts);
    assert!(has_image(&stage) && !lines.iter().any(|line| line.contains("unit boot_node-0")), "{lines:#?}");
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

const SENDING: &str = "PUT /rest/api/web/File/contents/{id}";
const MAKING: &str = "PUT /rest/api/uom/Tier/{id}/LogicalUnit";

#[tokio::test]
async fn what_was_uploaded_goes_with_the_partition() {
    // Of an image, of the unit that it goes into, and of a config drive.
    for (call, with_disk) in [(SENDING, true), (MAKING, true), (SENDING, false)] {
        let stage = Stage::new().await;
        let before = inventory::list(&stage.scene.hosts);
        let (mut blueprint, run) = (stage.blueprint("node-0"), run());
        if with_disk {
            blueprint.config_drive = None;
        } else {
            blueprint.disks.clear();
        }
        stage.dies_at(call, spawn(&stage.host, &blueprint, &run)).await;
        assert_ne!(before, inventory::list(&stage.scene.hosts), "{call}");
        destroy(&stage.host, &id("node-0"), &run).await.unwrap();
        assert_eq!(before, inventory::list(&stage.scene.hosts), "{call}");
    }
}

#[tokio::test]
async fn an_image_that_somebody_else_uses_or_uploads_stays() {
    let stage = Stage::new().await;
    let with_disk = |name| Blueprint { power_on: false, config_drive: None, ..stage.blueprint(name) };
    let without = |name| Blueprint { disks: Vec::new(), ..with_disk(name) };
    spawn(&stage.host, &with_disk("node-0"), &run()).await.unwrap();
    spawn(&stage.host, &without("node-1"), &run()).await.unwrap();
    destroy(&stage.host, &id("node-1"), &run()).await.unwrap();
    assert!(has_image(&stage));
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap();
    assert!(!has_image(&stage));

    spawn(&stage.host, &without("node-1"), &run()).await.unwrap();
    let (blueprint, patience) = (with_disk("node-0"), run());
    stage.dies_at(SENDING, spawn(&stage.host, &blueprint, &patience)).await;
    destroy(&stage.host, &id("node-1"), &run()).await.unwrap();
    assert!(has_image(&stage));
}

/// What somebody leaves in the pool who dies while an image is uploaded: a marker, and perhaps a part of the image.
async fn dead_upload(stage: &Stage, with_part: bool) {
    let client = stage.scene.client();
    let pools = client.pools().await.unwrap();
    let tiers = client.tiers(&pools[0].id).await.unwrap();
    let tier = &tiers.iter().find(|tier| tier.is_default).unwrap().id;
    let marker = format!("part0000dead{IMAGE}");
    let unit = |name, gib, is_image| LogicalUnitSpec { name, gib, is_image, clone_of: None };
    client.create_logical_unit(tier, &unit(&marker, 0.001, false)).await.unwrap();
    if with_part {
        client.create_logical_unit(tier, &unit(IMAGE, 0.5, true)).await.unwrap();
    }
}

/// A connection that gives others next to no time.
async fn hasty(stage: &Stage) -> Arc<Host> {
    let at_once = Patience { before: Duration::from_millis(1), during: Duration::from_millis(1) };
    let host = Host::connect(Arc::new(stage.scene.client()), None, JOBS).await.unwrap();
    Arc::new(host.with_patience(at_once))
}

#[tokio::test]
async fn an_upload_that_came_to_a_halt_is_taken_over() {
    let expected = {
        let stage = Stage::new().await;
        spawn(&stage.host, &stage.blueprint("node-0"), &run()).await.unwrap();
        inventory::list(&stage.scene.hosts)
    };
    for with_part in [false, true] {
        let stage = Stage::new().await;
        dead_upload(&stage, with_part).await;
        spawn(&hasty(&stage).await, &stage.blueprint("node-0"), &run()).await.unwrap();
        assert_eq!(expected, inventory::list(&stage.scene.hosts), "the image is whole, and no marker is left");
    }
}

#[tokio::test]
async fn a_part_of_an_image_is_never_without_a_marker() {
    let stage = Stage::new().await;
    dead_upload(&stage, true).await;
    stage.scene.fault("DELETE /rest/api/uom/Tier/*/LogicalUnit/* nth=2 status=400 body=platform");
    spawn(&hasty(&stage).await, &stage.blueprint("node-0"), &run()).await.unwrap_err();
    let units: Vec<String> = inventory::list(&stage.scene.hosts);
    let units: Vec<&String> = units.iter().filter(|line| line.contains(IMAGE)).collect();
    assert!(units.len() == 1 && units[0].contains("unit part0000dead"), "the part goes first: {units:#?}");
}
