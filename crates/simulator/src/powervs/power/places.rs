//! Datacenters: what they can do, and how much room is left in them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::workspace;
use crate::powervs::cloud::Cloud;
use crate::powervs::places::{ZONES, Zone, find, region_of};
use crate::powervs::reply::{Answer, Refusal, json_reply};

pub(super) fn has_router(zone: &str) -> bool {
    find(zone).is_some_and(|zone| zone.router)
}

/// What workspaces of a zone can do.
pub(super) fn capabilities(zone: &str) -> BTreeMap<&'static str, bool> {
    let router = has_router(zone);
    BTreeMap::from([
        ("cloud-connections", !router),
        ("dedicated-hosts", false),
        ("dhcp", true),
        ("disaster-recovery-site", false),
        ("import-image", true),
        ("metrics", true),
        ("network-security-groups", false),
        ("power-edge-router", router),
        ("power-vpn-connections", false),
        ("shared-processor-pool", true),
        ("snapshot", true),
        ("transit-gateway", router),
    ])
}

fn show(zone: &Zone) -> Value {
    json!({
        "type": "off-premises",
        "status": "active",
        "href": format!("/v1/datacenters/{}", zone.name),
        "capabilities": capabilities(zone.name),
        "capabilitiesDetails": {
            "disasterRecovery": { "asynchronousReplication": { "enabled": false, "targetLocations": [] } },
            "supportedSystems": { "general": zone.systems, "dedicated": [] },
        },
        "location": {
            "region": zone.name,
            "regionDisplayName": zone.display,
            "type": "data-center",
            "url": format!("https://{}.power-iaas.cloud.ibm.com", region_of(zone.name)),
        },
    })
}

pub(super) fn list(_: &Cloud) -> Answer {
    Ok(json_reply(200, &json!({ "datacenters": ZONES.iter().map(show).collect::<Vec<_>>() })))
}

pub(super) fn get(_: &Cloud, zone: &str) -> Answer {
    let found = find(zone).ok_or_else(|| Refusal::not_found("datacenter", zone))?;
    Ok(json_reply(200, &show(found)))
}

/// Memory in GiB and cores of a machine of a type, and how many machines of it a zone has.
fn machine(system: &str) -> (f64, f64, usize) {
    match system {
        "e980" | "e1080" => (15_307.0, 143.0, 2),
        _ => (942.0, 15.0, 8),
    }
}

/// How much room there is on the machines of a zone, by their type.
pub(super) fn system_pools(cloud: &Cloud, ws: &str) -> Answer {
    let zone = workspace(cloud, ws)?.zone.as_str();
    let systems = find(zone).map(|zone| zone.systems).unwrap_or_default();
    let there =
        || cloud.state.workspaces.values().filter(|own| own.zone == zone).flat_map(|own| own.instances.values());
    let mut pools = serde_json::Map::new();
    for system in systems {
        let (memory, cores, machines) = machine(system);
        #[allow(clippy::cast_precision_loss, reason = "there are less than ten")]
        let share = machines as f64;
        let used = |value: fn(&super::Instance) -> f64| {
            there().filter(|one| one.system == *system).map(value).sum::<f64>() / share
        };
        let (free_memory, free_cores) =
            ((memory - used(|one| one.memory_gib)).max(0.0), (cores - used(|one| one.processors)).max(0.0));
        let one = json!({
            "cores": free_cores,
            "memory": whole(free_memory),
            "availableCores": free_cores,
            "availableMemory": whole(free_memory),
            "totalCores": cores,
            "totalMemory": whole(memory),
        });
        let all: Vec<Value> = (1..=machines)
            .map(|number| {
                let mut one = one.clone();
                one["id"] = json!(number);
                one
            })
            .collect();
        pools.insert(
            (*system).to_owned(),
            json!({
                "type": system,
                "capacity": { "cores": cores, "memory": whole(memory) },
                "maxAvailable": one,
                "maxCoresAvailable": one,
                "maxMemoryAvailable": one,
                "coreMemoryRatio": (memory / cores).round(),
                "coreIncrement": 1,
                "sharedCoreRatio": { "min": 0.25, "max": 1, "default": 0.25 },
                "systems": all,
            }),
        );
    }
    Ok(json_reply(200, &Value::Object(pools)))
}

#[allow(clippy::cast_possible_truncation, reason = "machines have some thousand GiB")]
fn whole(value: f64) -> i64 {
    value.floor() as i64
}
