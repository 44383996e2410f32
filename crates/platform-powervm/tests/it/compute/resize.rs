//! Another shape of a partition, and what a server has.

use landfall_platform_powervm::compute::{Memory, OperationError, Processors, Shape, resize, resources, spawn};

use super::inventory;
use super::stage::{Stage, bare, id, run, shape};

#[tokio::test]
async fn a_partition_gets_another_shape_and_runs_again() {
    let stage = Stage::new().await;
    let free = resources(&stage.host).await.unwrap();
    spawn(&stage.host, &bare("node-0"), &run()).await.unwrap();
    let larger = Shape { memory: Memory::fixed(4096), processors: Processors::dedicated(2), ..shape() };
    resize(&stage.host, &id("node-0"), &larger, &[], &run()).await.unwrap();
    let lines = inventory::list(&stage.scene.hosts);
    assert!(lines.contains(&"power-a: partition node-0 running 'demo-x7k2p' 4096 MB".to_owned()), "{lines:#?}");
    let used = resources(&stage.host).await.unwrap();
    assert_eq!(used.memory_used_mib - free.memory_used_mib, 4096);
    assert!((used.processors_used - free.processors_used - 2.0).abs() < 1e-6, "{used:?}");
    assert!(used.storage_gib > 0.0);
}

#[tokio::test]
async fn a_shape_that_does_not_fit_is_undone() {
    let stage = Stage::new().await;
    spawn(&stage.host, &bare("node-0"), &run()).await.unwrap();
    let before = inventory::list(&stage.scene.hosts);
    let huge = Shape { memory: Memory::fixed(1 << 30), ..shape() };
    let error = resize(&stage.host, &id("node-0"), &huge, &[], &run()).await.unwrap_err();
    assert!(matches!(error, OperationError::Failed { .. }), "{}", landfall_platform::error_chain(&error));
    assert_eq!(before, inventory::list(&stage.scene.hosts));
    // One that fits, but then it does not start.
    stage.scene.fault("PUT /rest/api/uom/LogicalPartition/*/do/PowerOn nth=1 status=400 body=platform");
    let larger = Shape { memory: Memory::fixed(4096), ..shape() };
    resize(&stage.host, &id("node-0"), &larger, &[], &run()).await.unwrap_err();
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}
