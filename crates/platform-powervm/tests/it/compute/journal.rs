//! Journals: what is in one belongs to one operation.

use std::path::PathBuf;

use landfall_platform::error_chain;
use landfall_platform_powervm::compute::{
    Blueprint, Memory, OperationError, Power, Run, Shape, Volume, attach_volume, confirm_migration, destroy, migrate,
    power, resize, revert_migration, spawn,
};

use super::inventory;
use super::stage::{Stage, bare, id, run, second, shape};

pub(super) fn with_journal(stage: &Stage, name: &str) -> Run {
    let journal: PathBuf = stage.scene.home.path().join(format!("{name}.sqlite"));
    Run { journal: Some(journal), ..run() }
}

fn of(mib: u64) -> Shape {
    Shape { memory: Memory::fixed(mib), ..shape() }
}

fn volume() -> Volume {
    let targets = vec!["500507680B11AAAA".to_owned()];
    Volume { id: "volume-1".to_owned(), targets, lun: 1, device: None }
}

fn line(stage: &Stage) -> String {
    let lines = inventory::list(&stage.scene.hosts);
    lines.into_iter().find(|line| line.contains("partition node-0")).unwrap_or_default()
}

#[tokio::test]
async fn a_finished_operation_is_not_gone_on_with() {
    let stage = Stage::new().await;
    spawn(&stage.host, &bare("node-0"), &run()).await.unwrap();
    let run = with_journal(&stage, "shape");
    resize(&stage.host, &id("node-0"), &of(4096), &[], &run).await.unwrap();
    resize(&stage.host, &id("node-0"), &of(1024), &[], &run).await.unwrap();
    assert!(line(&stage).contains("running 'demo-x7k2p' 1024 MB"), "{}", line(&stage));
    // It ran before the first, and does not before the third: then it does not after it either.
    power(&stage.host, &id("node-0"), Power::Off).await.unwrap();
    resize(&stage.host, &id("node-0"), &of(2048), &[], &run).await.unwrap();
    assert!(line(&stage).contains("not activated 'demo-x7k2p' 2048 MB"), "{}", line(&stage));
    // What fails goes back to what was before this one, not before another.
    resize(&stage.host, &id("node-0"), &of(1 << 30), &[], &run).await.unwrap_err();
    assert!(line(&stage).contains("not activated 'demo-x7k2p' 2048 MB"), "{}", line(&stage));
}

#[tokio::test]
async fn what_fails_takes_nothing_of_another_operation_with_it() {
    let stage = Stage::new().await;
    let run = with_journal(&stage, "all");
    spawn(&stage.host, &Blueprint { power_on: false, ..stage.blueprint("node-0") }, &run).await.unwrap();
    let made = inventory::list(&stage.scene.hosts);
    resize(&stage.host, &id("node-0"), &of(1 << 30), &[], &run).await.unwrap_err();
    assert_eq!(made, inventory::list(&stage.scene.hosts));
    stage.scene.fault("POST /rest/api/uom/VirtualIOServer/* nth=1 status=400 body=platform");
    attach_volume(&stage.host, &id("node-0"), &volume(), &run).await.unwrap_err();
    assert_eq!(made, inventory::list(&stage.scene.hosts));
    attach_volume(&stage.host, &id("node-0"), &volume(), &run).await.unwrap();
    destroy(&stage.host, &id("node-0"), &run).await.unwrap();
    assert!(!inventory::list(&stage.scene.hosts).iter().any(|line| line.contains("node-0")));
}

#[tokio::test]
async fn an_unfinished_operation_is_not_mistaken_for_another() {
    let stage = Stage::new().await;
    spawn(&stage.host, &bare("node-0"), &run()).await.unwrap();
    let run = with_journal(&stage, "shape");
    // The program dies while the partition is off.
    let (larger, node) = (of(4096), id("node-0"));
    stage.dies_at("POST /rest/api/uom/LogicalPartition/{id}", resize(&stage.host, &node, &larger, &[], &run)).await;
    let error = attach_volume(&stage.host, &id("node-0"), &volume(), &run).await.unwrap_err();
    assert!(matches!(error, OperationError::Refused { .. }), "{}", error_chain(&error));
    let words = error_chain(&error);
    assert!(words.contains("shape of partition node-0") && words.contains("not finished"), "{words}");
    // It goes on to what is wanted now, and the partition that ran at first runs again.
    resize(&stage.host, &id("node-0"), &of(1024), &[], &run).await.unwrap();
    assert!(line(&stage).contains("running 'demo-x7k2p' 1024 MB"), "{}", line(&stage));
    // The journal is free for another now. The guest may not be connected yet, and need not be while it is off.
    power(&stage.host, &id("node-0"), Power::Off).await.unwrap();
    attach_volume(&stage.host, &id("node-0"), &volume(), &run).await.unwrap();
}

#[tokio::test]
async fn a_migration_is_gone_back_on_only_with_its_journal() {
    let stage = Stage::new().await;
    let target = second(&stage).await;
    let blueprint = stage.blueprint("node-0");
    spawn(&stage.host, &blueprint, &run()).await.unwrap();
    let run = with_journal(&stage, "migration");
    let error = revert_migration(&stage.host, &target, &id("node-0"), &run).await.unwrap_err();
    assert!(matches!(error, OperationError::Refused { .. }), "{}", error_chain(&error));
    let before = inventory::list(&stage.scene.hosts);
    migrate(&stage.host, &target, &blueprint, &run).await.unwrap();
    let moved = inventory::list(&stage.scene.hosts);
    // Again: it has moved, and the way back is still known.
    migrate(&stage.host, &target, &blueprint, &run).await.unwrap();
    assert_eq!(moved, inventory::list(&stage.scene.hosts));
    revert_migration(&stage.host, &target, &id("node-0"), &run).await.unwrap();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
    // A second one with the same journal is another one.
    migrate(&stage.host, &target, &blueprint, &run).await.unwrap();
    confirm_migration(&stage.host, &id("node-0"), &run).await.unwrap();
    let lines = inventory::list(&stage.scene.hosts);
    assert!(lines.iter().any(|line| line.starts_with("power-b: partition node-0 running")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("power-b: vios1 shows 'boot_node-0")), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.starts_with("power-a") && line.contains("node-0")), "{lines:#?}");
}
