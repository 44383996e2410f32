//! Partitions that move, are made anew, and are copied.

use std::time::Duration;

use landfall_platform::error_chain;
use landfall_platform_powervm::client::{Parameter, Path};
use landfall_platform_powervm::compute::{
    Devices, OperationError, confirm_migration, live_migrate, migrate, rebuild, revert_migration, snapshot, spawn,
};

use landfall_simulator::core::Simulation as _;

use super::inventory;
use super::stage::{Stage, administer, id, run, second};
use crate::scene::JOBS;

/// A partition that runs, whose guest is connected.
async fn connected(stage: &Stage) {
    spawn(&stage.host, &stage.blueprint("node-0"), &run()).await.unwrap();
    stage.force("node-0", serde_json::json!({"ResourceMonitoringControlState": "active"})).await;
}

fn has(lines: &[String], begin: &str) -> bool {
    lines.iter().any(|line| line.starts_with(begin))
}

#[tokio::test]
async fn a_partition_moves_while_it_runs() {
    let stage = Stage::new().await;
    let target = second(&stage).await;
    connected(&stage).await;
    live_migrate(&stage.host, &target, &id("node-0"), &[], &[], None, &run()).await.unwrap();
    let lines = inventory::list(&stage.scene.hosts);
    assert!(has(&lines, "power-b: partition node-0 running"), "{lines:#?}");
    assert!(!has(&lines, "power-a: partition node-0"), "{lines:#?}");
    assert!(has(&lines, "power-b: vios2 shows 'boot_node-0"), "{lines:#?}");
    // What could not move is gone.
    assert!(!lines.iter().any(|line| line.contains("cfg_")), "{lines:#?}");
    // Again: it has moved, which is what is wanted.
    live_migrate(&stage.host, &target, &id("node-0"), &[], &[], None, &run()).await.unwrap();
}

#[tokio::test]
async fn a_migration_that_takes_too_long_is_stopped_and_the_partition_runs_on() {
    let stage = Stage::impatient().await;
    let target = second(&stage).await;
    connected(&stage).await;
    stage.scene.fault("PUT /rest/api/uom/LogicalPartition/*/do/Migrate slow-state=100000");
    let error = live_migrate(&stage.host, &target, &id("node-0"), &[], &[], None, &run()).await.unwrap_err();
    assert!(matches!(error, OperationError::Failed { .. }), "{}", error_chain(&error));
    let lines = inventory::list(&stage.scene.hosts);
    assert!(has(&lines, "power-a: partition node-0 running"), "{lines:#?}");
    assert!(!has(&lines, "power-b: partition node-0"), "{lines:#?}");
}

#[tokio::test]
async fn a_partition_without_a_connection_does_not_move_while_it_runs() {
    let stage = Stage::new().await;
    let target = second(&stage).await;
    connected(&stage).await;
    stage.force("node-0", serde_json::json!({"ResourceMonitoringControlState": "inactive"})).await;
    let error = live_migrate(&stage.host, &target, &id("node-0"), &[], &[], None, &run()).await.unwrap_err();
    assert!(matches!(error, OperationError::Refused { .. }), "{}", error_chain(&error));
}

#[tokio::test]
async fn a_partition_that_is_off_moves_and_is_confirmed() {
    let stage = Stage::new().await;
    let target = second(&stage).await;
    let blueprint = stage.blueprint("node-0");
    spawn(&stage.host, &blueprint, &run()).await.unwrap();
    migrate(&stage.host, &target, &blueprint, &run()).await.unwrap();
    let lines = inventory::list(&stage.scene.hosts);
    assert!(has(&lines, "power-b: partition node-0 running"), "{lines:#?}");
    assert!(has(&lines, "power-a: partition node-0 not activated"), "{lines:#?}");
    assert!(!has(&lines, "power-a: vios1 shows 'boot_node-0"), "{lines:#?}");
    confirm_migration(&stage.host, &id("node-0"), &run()).await.unwrap();
    let lines = inventory::list(&stage.scene.hosts);
    assert!(
        !lines
            .iter()
            .any(|line| line.starts_with("power-a") && line.contains("node-0") && !line.contains("unit boot_")),
        "{lines:#?}"
    );
    assert!(has(&lines, "power-b: vios1 shows 'boot_node-0"), "{lines:#?}");
}

#[tokio::test]
async fn a_migration_is_reverted() {
    let stage = Stage::new().await;
    let target = second(&stage).await;
    let blueprint = stage.blueprint("node-0");
    spawn(&stage.host, &blueprint, &run()).await.unwrap();
    let before = inventory::list(&stage.scene.hosts);
    let mut run = run();
    run.journal = Some(stage.scene.home.path().join("migration.sqlite"));
    migrate(&stage.host, &target, &blueprint, &run).await.unwrap();
    revert_migration(&stage.host, &target, &id("node-0"), &run).await.unwrap();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

#[tokio::test]
async fn a_partition_is_made_anew() {
    let stage = Stage::new().await;
    let blueprint = stage.blueprint("node-0");
    spawn(&stage.host, &blueprint, &run()).await.unwrap();
    let before = inventory::list(&stage.scene.hosts);
    rebuild(&stage.host, &blueprint, &run()).await.unwrap();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

#[tokio::test]
async fn a_disk_is_copied_through_the_management_partition() {
    let stage = Stage::new().await;
    spawn(&stage.host, &stage.blueprint("node-0"), &run()).await.unwrap();
    let before = inventory::list(&stage.scene.hosts);
    let unit =
        stage.scene.client().vioses(&[landfall_platform_powervm::client::Group::ViosScsiMappings]).await.unwrap();
    let device = unit.iter().flat_map(|vios| &vios.mappings).find_map(|mapping| match &mapping.storage {
        Some(landfall_platform_powervm::client::Storage::LogicalUnit(device)) => Some(device.clone()),
        _ => None,
    });
    let device = device.unwrap();
    // What the kernel would show.
    let directory = stage.scene.home.path().join("by-id");
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join(format!("scsi-SAIX_VDASD_{}", &device[device.len() - 32..])), b"contents").unwrap();
    let devices = Devices { directory, scans: Vec::new(), interval: Duration::from_millis(5) };
    let copy = stage.scene.home.path().join("copy.img");
    let mut run = run();
    run.journal = Some(stage.scene.home.path().join("snapshot.sqlite"));
    snapshot(&stage.host, &id("node-0"), &devices, &copy, &run).await.unwrap();
    assert_eq!(std::fs::read(&copy).unwrap(), b"contents");
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

/// How many keys each console lets in.
fn keys(stage: &Stage) -> Vec<usize> {
    let world = stage.scene.hosts.world().view(|hosts, _| hosts.snapshot());
    let hosts = world["hosts"].as_array().unwrap();
    let list = |host: &serde_json::Value| {
        let mut objects = host["objects"].as_object().unwrap().values();
        let console = objects.find(|object| object["element"]["n"] == "ManagementConsole").unwrap();
        let mut fields = console["element"]["c"].as_array().unwrap().iter();
        let keys = fields.find(|field| field["n"] == "AuthorizedKeys");
        keys.and_then(|keys| keys["c"].as_array()).map_or(0, Vec::len)
    };
    hosts.iter().map(list).collect()
}

#[tokio::test]
async fn the_source_is_let_in_at_the_target_once_and_nobody_else() {
    let stage = Stage::new().await;
    let target = second(&stage).await;
    connected(&stage).await;
    assert_eq!(keys(&stage), [0, 0, 0]);
    // Without the key the platform refuses, and it is not the core that says so.
    let parameters = [("TargetManagedSystemName", Parameter::Text("power-b"))];
    let path = Path::entry("LogicalPartition", id("node-0").as_str());
    let error = stage.scene.client().run_job(&path, "MigrateValidate", &parameters, JOBS).await.unwrap_err();
    assert!(error_chain(&error).contains("not authorized at power-b"), "{}", error_chain(&error));
    live_migrate(&stage.host, &target, &id("node-0"), &[], &[], None, &run()).await.unwrap();
    assert_eq!(keys(&stage), [0, 1, 0]);
    live_migrate(&target, &stage.host, &id("node-0"), &[], &[], None, &run()).await.unwrap();
    live_migrate(&stage.host, &target, &id("node-0"), &[], &[], None, &run()).await.unwrap();
    assert_eq!(keys(&stage), [1, 1, 0], "once each");
}

#[tokio::test]
async fn keys_that_others_authorise_meanwhile_are_kept() {
    let stage = Stage::new().await;
    let clients: Vec<_> = (0..8).map(|_| stage.scene.client()).collect();
    let names: Vec<String> = (0..8).map(|number| format!("ssh-rsa AAAA{number} wlp@other")).collect();
    let all = clients.iter().zip(&names).map(|(client, key)| client.authorise_key(key));
    futures::future::try_join_all(all).await.unwrap();
    assert_eq!(keys(&stage), [8, 0, 0]);
}

#[tokio::test]
async fn a_console_that_is_open_is_closed_before_a_partition_moves() {
    let stage = Stage::new().await;
    let target = second(&stage).await;
    connected(&stage).await;
    let path = Path::entry("LogicalPartition", id("node-0").as_str());
    let number = stage.scene.client().quick(&path, "PartitionID").await.unwrap();
    let url = format!("{}/powervm/hosts/0/consoles/{number}", stage.scene.hosts.admin_url());
    administer(&url, String::new()).await;
    live_migrate(&stage.host, &target, &id("node-0"), &[], &[], None, &run()).await.unwrap();
    assert!(has(&inventory::list(&stage.scene.hosts), "power-b: partition node-0 running"));
}
