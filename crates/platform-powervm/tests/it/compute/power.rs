//! How partitions are switched off: the operating system first, the plug last.

use landfall_platform_powervm::compute::{OperatingSystem, Power, power, spawn};
use landfall_simulator::core::Simulation as _;
use serde_json::json;

use super::stage::{Stage, id, run};

const OFF: &str = "PUT /rest/api/uom/LogicalPartition/*/do/PowerOff";

/// A partition of a system that runs.
async fn running(stage: &Stage, system: OperatingSystem, connection: &str) {
    let mut blueprint = stage.blueprint("node-0");
    blueprint.partition.system = system;
    spawn(&stage.host, &blueprint, &run()).await.unwrap();
    stage.force("node-0", json!({ "ResourceMonitoringControlState": connection })).await;
    // Jobs stay to be read: nobody minds that they cannot be deleted.
    stage.scene.fault("DELETE /rest/api/uom/jobs/* status=400 body=platform");
}

/// The ways in which the platform was told to switch it off, one after the other.
fn ways(stage: &Stage) -> Vec<String> {
    let world = stage.scene.hosts.world().view(|hosts, _| hosts.snapshot());
    let jobs = world["hosts"][0]["jobs"].as_object().unwrap();
    let mut found: Vec<(u64, String)> = Vec::new();
    for job in jobs.values().filter(|job| job["operation"] == "PowerOff") {
        let given = |name: &str| {
            let list = job["parameters"].as_array().unwrap();
            list.iter().find(|pair| pair[0] == name).map_or("", |pair| pair[1].as_str().unwrap())
        };
        let now = if given("immediate") == "true" { " now" } else { "" };
        found.push((job["id"].as_u64().unwrap(), format!("{}{now}", given("operation"))));
    }
    found.sort();
    found.into_iter().map(|(_, way)| way).collect()
}

#[tokio::test]
async fn the_operating_system_is_asked_if_it_can_be() {
    for (system, connection, expected) in [
        (OperatingSystem::AixLinux, "active", "osshutdown now"),
        (OperatingSystem::AixLinux, "inactive", "shutdown"),
        // It needs no connection, and has something to end.
        (OperatingSystem::IbmI, "inactive", "osshutdown"),
    ] {
        let stage = Stage::new().await;
        running(&stage, system, connection).await;
        power(&stage.host, &id("node-0"), Power::ShutDown).await.unwrap();
        assert_eq!(ways(&stage), [expected]);
    }
}

#[tokio::test]
async fn what_does_not_end_is_switched_off_in_harder_ways() {
    for (system, expected) in [
        // Who hangs once hangs again.
        (OperatingSystem::AixLinux, &["osshutdown now", "shutdown now"][..]),
        (OperatingSystem::IbmI, &["osshutdown", "osshutdown now", "shutdown", "shutdown now"][..]),
    ] {
        let stage = Stage::impatient().await;
        running(&stage, system, "active").await;
        stage.scene.fault(&format!("{OFF} first={} slow-state=100000", expected.len() - 1));
        power(&stage.host, &id("node-0"), Power::ShutDown).await.unwrap();
        assert_eq!(ways(&stage), expected);
    }
}
