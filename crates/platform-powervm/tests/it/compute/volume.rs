//! Volumes of storage servers.

use landfall_platform_powervm::compute::{
    Blueprint, Fabric, OperationError, Volume, assign_fibre_ports, attach_volume, destroy, detach_volume, spawn,
};

use super::inventory;
use super::stage::{Stage, bare, id, run};

fn volume(number: u64) -> Volume {
    let targets = vec!["500507680B11AAAA".to_owned(), "500507680B22AAAA".to_owned()];
    Volume { id: format!("volume-{number}"), targets, lun: number, device: None }
}

#[tokio::test]
async fn a_volume_is_attached_over_every_vios_and_detached_without_a_trace() {
    let stage = Stage::new().await;
    spawn(&stage.host, &Blueprint { power_on: false, ..bare("node-0") }, &run()).await.unwrap();
    let before = inventory::list(&stage.scene.hosts);
    let device = attach_volume(&stage.host, &id("node-0"), &volume(1), &run()).await.unwrap();
    assert!(device.starts_with("01"), "{device}");
    let lines = inventory::list(&stage.scene.hosts);
    assert_eq!(lines.iter().filter(|line| line.ends_with("to node-0")).count(), 2, "{lines:#?}");
    // Again changes nothing.
    attach_volume(&stage.host, &id("node-0"), &volume(1), &run()).await.unwrap();
    assert_eq!(lines, inventory::list(&stage.scene.hosts));
    let known = Volume { device: Some(device), ..volume(1) };
    detach_volume(&stage.host, &id("node-0"), &known, &run()).await.unwrap();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
    detach_volume(&stage.host, &id("node-0"), &known, &run()).await.unwrap();
}

#[tokio::test]
async fn a_partition_without_a_connection_is_not_changed_while_it_runs() {
    let stage = Stage::new().await;
    spawn(&stage.host, &bare("node-0"), &run()).await.unwrap();
    stage.force("node-0", serde_json::json!({"ResourceMonitoringControlState": "inactive"})).await;
    let before = inventory::list(&stage.scene.hosts);
    let error = attach_volume(&stage.host, &id("node-0"), &volume(1), &run()).await.unwrap_err();
    assert!(matches!(error, OperationError::Refused { .. }), "{error}");
    assert!(landfall_platform::error_chain(&error).contains("RMC"), "{error}");
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

#[tokio::test]
async fn a_volume_that_nobody_sees_is_an_error_and_leaves_nothing() {
    let stage = Stage::new().await;
    let before = inventory::list(&stage.scene.hosts);
    let blueprint = Blueprint { volumes: vec![volume(9)], ..bare("node-0") };
    let error = spawn(&stage.host, &blueprint, &run()).await.unwrap_err();
    assert!(landfall_platform::error_chain(&error).contains("no VIOS sees it"), "{error:?}");
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

#[tokio::test]
async fn a_partition_boots_from_a_volume_which_outlives_it() {
    let stage = Stage::new().await;
    let before = inventory::list(&stage.scene.hosts);
    spawn(&stage.host, &Blueprint { volumes: vec![volume(2)], ..bare("node-0") }, &run()).await.unwrap();
    let lines = inventory::list(&stage.scene.hosts);
    assert!(lines.iter().any(|line| line.contains("partition node-0 running")), "{lines:#?}");
    assert_eq!(lines.iter().filter(|line| line.ends_with("to node-0")).count(), 2, "{lines:#?}");
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

#[tokio::test]
async fn virtual_fibre_channel_ports_are_spread_over_vioses() {
    let stage = Stage::new().await;
    let before = inventory::list(&stage.scene.hosts);
    let vioses = stage.host.vioses().await.unwrap();
    let fabrics: Vec<Fabric> = (0..2)
        .map(|number| Fabric { ports: vioses.iter().map(|vios| vios.ports[number].clone()).collect(), wanted: 2 })
        .collect();
    let ports = assign_fibre_ports(&stage.host, &fabrics).await.unwrap();
    assert_eq!(ports.len(), 4);
    assert_ne!(ports[0].vios, ports[1].vios);
    spawn(&stage.host, &Blueprint { fibre_ports: ports, ..bare("node-0") }, &run()).await.unwrap();
    let lines = inventory::list(&stage.scene.hosts);
    for (vios, port) in [("vios1", "fcs0"), ("vios1", "fcs1"), ("vios2", "fcs0"), ("vios2", "fcs1")] {
        let own =
            |line: &&String| line.contains(&format!("{vios} gives")) && line.ends_with(&format!("on {port} to node-0"));
        assert_eq!(lines.iter().filter(own).count(), 1, "{vios} {port}: {lines:#?}");
    }
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}
