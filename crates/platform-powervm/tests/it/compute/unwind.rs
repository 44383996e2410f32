//! What is said about what cannot be undone.

use landfall_platform::error_chain;
use landfall_platform_powervm::compute::{OperationError, destroy, spawn};

use super::inventory;
use super::stage::{Stage, id, run};

#[tokio::test]
async fn what_cannot_be_undone_is_named() {
    let stage = Stage::new().await;
    stage.scene.fault("PUT /rest/api/uom/LogicalPartition/*/do/PowerOn status=400 body=platform");
    stage.scene.fault("DELETE /rest/api/uom/LogicalPartition/* status=400 body=platform");
    let error = spawn(&stage.host, &stage.blueprint("node-0"), &run()).await.unwrap_err();
    let OperationError::Stuck { remains, .. } = &error else { panic!("{error:?}") };
    // The adapters cannot be deleted either, and what they belong to goes after them.
    assert!(remains.contains(&"partition node-0".to_owned()), "{remains:?}");
    assert!(!remains.iter().any(|title| title.contains("mappings") || title.contains("disk")), "{remains:?}");
    assert!(error.to_string().contains("partition node-0"), "{error}");
    // Once the trouble is over, it can be removed.
    stage.scene.hosts.with_faults(landfall_simulator::core::faults::FaultPlan::clear);
    destroy(&stage.host, &id("node-0"), &run()).await.unwrap();
    assert!(!inventory::list(&stage.scene.hosts).iter().any(|line| line.contains("node-0")));
}

#[tokio::test]
async fn a_start_that_takes_too_long_is_undone() {
    let stage = Stage::impatient().await;
    let before = inventory::list(&stage.scene.hosts);
    stage.scene.fault("PUT /rest/api/uom/LogicalPartition/*/do/PowerOn slow-state=100000");
    let error = spawn(&stage.host, &stage.blueprint("node-0"), &run()).await.unwrap_err();
    assert!(matches!(error, OperationError::Failed { .. }), "{}", error_chain(&error));
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}
