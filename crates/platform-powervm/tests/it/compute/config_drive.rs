//! Config drives, read back by a reader that others wrote, and on the host.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use landfall_platform_powervm::compute::{
    Blueprint, Power, config_drive_image, destroy, eject_config_drive, power, spawn,
};

use super::inventory;
use super::stage::{Stage, drive, id, run};

/// What `isoinfo` of genisoimage says.
fn isoinfo(image: &Path, arguments: &[&str]) -> String {
    let output = Command::new("isoinfo").arg("-i").arg(image).args(arguments).output();
    let output = output.expect("isoinfo is there: scripts/setup test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn another_reader_finds_label_names_and_contents() {
    let home = tempfile::TempDir::new().unwrap();
    let path = home.path().join("drive.iso");
    std::fs::write(&path, config_drive_image(&drive("node-0"))).unwrap();
    let about = isoinfo(&path, &["-d"]);
    assert!(about.contains("Volume id: config-2"), "{about}");
    assert!(about.contains("Joliet with UCS level 3 found"), "{about}");
    let names = isoinfo(&path, &["-J", "-f"]);
    for name in ["meta_data.json", "network_data.json", "user_data"] {
        assert!(names.contains(&format!("/openstack/latest/{name}")), "{names}");
    }
    assert!(isoinfo(&path, &["-f"]).contains("/OPENSTACK/LATEST/META_DATA.JSON;1"));
    let user_data = isoinfo(&path, &["-J", "-x", "/openstack/latest/user_data"]);
    assert_eq!(user_data, r#"{"ignition":{"version":"3.4.0"}}"#);
    let plain = isoinfo(&path, &["-x", "/OPENSTACK/LATEST/META_DATA.JSON;1"]);
    let meta_data: serde_json::Value = serde_json::from_str(&plain).unwrap();
    assert_eq!(meta_data["hostname"], "node-0");
}

#[tokio::test]
async fn the_medium_is_made_once_and_leaves_no_note() {
    let stage = Stage::new().await;
    spawn(&stage.host, &stage.blueprint("node-0"), &run()).await.unwrap();
    let lines = inventory::list(&stage.scene.hosts);
    assert_eq!(lines.iter().filter(|line| line.contains("medium cfg_")).count(), 1, "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("notes of uploads")), "{lines:#?}");
}

#[tokio::test]
async fn a_repository_is_made_if_there_is_none() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let world = "hosts:\n  - name: power-a\n    serial: 78A0001\n    vlans: [100]\n    vioses:\n      - name: vios1\n        disks_gb: [300]\n        volume_groups: [{ name: rootvg, size_gb: 280 }]\nshared_storage_pool: { name: pool1, cluster: cluster1, capacity_gb: 2000 }\n";
    std::fs::write(file.path(), world).unwrap();
    let stage = Stage::with(&["--inventory", file.path().to_str().unwrap()]).await;
    spawn(&stage.host, &stage.blueprint("node-0"), &run()).await.unwrap();
    assert!(inventory::list(&stage.scene.hosts).iter().any(|line| line.contains("shows 'cfg_")));
}

#[tokio::test]
async fn the_platform_takes_it_out_after_an_hour() {
    let stage = Stage::with(&["--media", "eject", "--time-scale", "50"]).await;
    let before = inventory::list(&stage.scene.hosts);
    spawn(&stage.host, &stage.blueprint("node-0"), &run()).await.unwrap();
    let of_drive = || {
        let lines = inventory::list(&stage.scene.hosts);
        lines.into_iter().filter(|line| line.contains("cfg_")).collect::<Vec<_>>()
    };
    assert_eq!(of_drive().len(), 2, "the medium, and that it is shown: {:#?}", of_drive());
    stage.scene.hosts.step(Duration::from_mins(61));
    assert!(of_drive().is_empty(), "{:#?}", of_drive());
    // Another start asks for nothing, and nothing is missed when it goes.
    power(&stage.host, &id("node-0"), Power::Reset).await.unwrap();
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

#[tokio::test]
async fn a_drive_that_was_taken_out_but_not_deleted_is_deleted() {
    let stage = Stage::new().await;
    spawn(&stage.host, &Blueprint { power_on: false, ..stage.blueprint("node-0") }, &run()).await.unwrap();
    // Whoever ejects it is cut off before it is deleted.
    stage.scene.fault("POST /rest/api/uom/VirtualIOServer/*/VolumeGroup/* nth=1 status=400 body=platform");
    eject_config_drive(&stage.host, &id("node-0")).await.unwrap_err();
    let lines = inventory::list(&stage.scene.hosts);
    assert!(lines.iter().any(|line| line.contains("medium cfg_")), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("shows 'cfg_")), "{lines:#?}");
    eject_config_drive(&stage.host, &id("node-0")).await.unwrap();
    let lines = inventory::list(&stage.scene.hosts);
    assert!(!lines.iter().any(|line| line.contains("cfg_")), "{lines:#?}");
}
