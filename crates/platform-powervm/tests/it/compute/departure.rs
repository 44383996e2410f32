//! Migrations whose program died on the server that the partition leaves.

use std::sync::Arc;
use std::time::Duration;

use landfall_platform::error_chain;
use landfall_platform_powervm::compute::{
    Departure, Host, OperationError, await_arrival, depart, end_departure, public_key, spawn,
};

use super::fibre_migration::destination;
use super::inventory;
use super::journal::with_journal;
use super::stage::{Stage, bare, id, run, second};

const NAME: &str = "node-0";

/// A partition that runs, which the second host expects.
async fn expected(stage: &Stage, target: &Arc<Host>) {
    spawn(&stage.host, &bare(NAME), &run()).await.unwrap();
    stage.force(NAME, serde_json::json!({"ResourceMonitoringControlState": "active"})).await;
    let key = public_key(&stage.host).await.unwrap();
    await_arrival(target, &id(NAME), &[], &[], &[], key.as_deref(), &run()).await.unwrap();
}

/// Whether a host has the partition in a state.
fn is(stage: &Stage, host: &str, word: &str) -> bool {
    let begin = format!("{host}: partition {NAME} {word}");
    inventory::list(&stage.scene.hosts).iter().any(|line| line.starts_with(&begin))
}

#[tokio::test]
async fn one_that_had_not_begun_leaves_the_partition_where_it_is() {
    let stage = Stage::new().await;
    let target = second(&stage).await;
    expected(&stage, &target).await;
    let (run, there) = (with_journal(&stage, "departure"), destination(&target, Vec::new()));
    let before = inventory::list(&stage.scene.hosts);
    assert_eq!(end_departure(&stage.host, &id(NAME), &run).await.unwrap(), Departure::Stays, "nothing was begun");
    let node = id(NAME);
    let call = "PUT /rest/api/uom/LogicalPartition/{id}/do/Migrate";
    stage.dies_at(call, depart(&stage.host, &node, &there, &run)).await;
    assert_eq!(end_departure(&stage.host, &id(NAME), &run).await.unwrap(), Departure::Stays);
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

#[tokio::test]
async fn one_that_is_under_way_is_stopped() {
    let stage = Stage::new().await;
    let target = second(&stage).await;
    expected(&stage, &target).await;
    let (run, there) = (with_journal(&stage, "departure"), destination(&target, Vec::new()));
    let before = inventory::list(&stage.scene.hosts);
    stage.scene.fault("PUT /rest/api/uom/LogicalPartition/*/do/Migrate slow-state=100000");
    let moving = async {
        while !is(&stage, "power-a", "migrating") {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let node = id(NAME);
    tokio::select! {
        outcome = depart(&stage.host, &node, &there, &run) => panic!("{outcome:?}"),
        () = moving => {}
    }
    assert_eq!(end_departure(&stage.host, &id(NAME), &run).await.unwrap(), Departure::Stays);
    assert_eq!(before, inventory::list(&stage.scene.hosts));
}

#[tokio::test]
async fn one_that_has_ended_is_told_until_its_journal_is_forgotten() {
    let stage = Stage::new().await;
    let target = second(&stage).await;
    expected(&stage, &target).await;
    let (run, there) = (with_journal(&stage, "departure"), destination(&target, Vec::new()));
    depart(&stage.host, &id(NAME), &there, &run).await.unwrap();
    for _ in 0..2 {
        let gone = Departure::Gone { target: target.name().to_owned() };
        assert_eq!(end_departure(&stage.host, &id(NAME), &run).await.unwrap(), gone);
        assert!(is(&stage, "power-b", "running") && !is(&stage, "power-a", ""));
    }
}

#[tokio::test]
async fn one_that_goes_on_goes_where_it_was_going() {
    let stage = Stage::new().await;
    let target = second(&stage).await;
    expected(&stage, &target).await;
    let (run, there) = (with_journal(&stage, "departure"), destination(&target, Vec::new()));
    let node = id(NAME);
    let call = "PUT /rest/api/uom/LogicalPartition/{id}/do/Migrate";
    stage.dies_at(call, depart(&stage.host, &node, &there, &run)).await;
    let mut elsewhere = there.clone();
    elsewhere.name = "power-c".to_owned();
    let error = depart(&stage.host, &id(NAME), &elsewhere, &run).await.unwrap_err();
    assert!(matches!(error, OperationError::Refused { .. }), "{}", error_chain(&error));
    assert!(error_chain(&error).contains("a migration to power-b that is not finished"), "{}", error_chain(&error));
    depart(&stage.host, &id(NAME), &there, &run).await.unwrap();
    assert!(is(&stage, "power-b", "running") && !is(&stage, "power-a", ""));
}
