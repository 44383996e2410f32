//! What partitions that are gone have left.

use landfall_platform_powervm::compute::{Blueprint, DiskPlace, scrub, spawn};

use super::inventory;
use super::stage::{Stage, bare, id, run};

/// A partition with a local disk and a config drive that was deleted, and nothing else with it.
async fn torn_out(stage: &Stage) {
    let mut blueprint = stage.blueprint("gone");
    blueprint.disks[0].place = DiskPlace::VolumeGroup { vios: "vios1".to_owned(), group: "datavg".to_owned() };
    blueprint.power_on = false;
    spawn(&stage.host, &blueprint, &run()).await.unwrap();
    stage.scene.client().delete_partition(id("gone").as_str()).await.unwrap();
}

#[tokio::test]
async fn a_new_partition_does_not_inherit_what_was_shown_to_one_of_its_number() {
    let stage = Stage::new().await;
    torn_out(&stage).await;
    let lines = inventory::list(&stage.scene.hosts);
    assert!(lines.iter().any(|line| line.ends_with("to nobody")), "{lines:#?}");
    spawn(&stage.host, &Blueprint { power_on: false, ..bare("node-0") }, &run()).await.unwrap();
    let lines = inventory::list(&stage.scene.hosts);
    assert!(!lines.iter().any(|line| line.ends_with("to nobody")), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("medium cfg_") || line.contains("virtual disk d00")), "{lines:#?}");
}

#[tokio::test]
async fn a_whole_server_is_scrubbed() {
    let stage = Stage::new().await;
    let before = inventory::list(&stage.scene.hosts);
    assert_eq!(scrub(&stage.host).await.unwrap(), 0);
    torn_out(&stage).await;
    assert_eq!(scrub(&stage.host).await.unwrap(), 2);
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}
