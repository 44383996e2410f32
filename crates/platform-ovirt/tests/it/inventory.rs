//! Everything that exists in an engine, as its own state shows it.

use std::collections::BTreeMap;

use landfall_simulator::{
    core::{Running, Simulation},
    ovirt,
};
use serde_json::Value;

/// One line per object, without ids and times.
pub(crate) fn list(engine: &Running<ovirt::Engine>) -> Vec<String> {
    let state = engine.world().view(|engine, _| engine.snapshot());
    let rows = |table: &str| state[table].as_array().cloned().unwrap_or_default();
    let names: BTreeMap<String, String> = ["vms", "disks", "templates", "tags", "vnic_profiles", "clusters"]
        .iter()
        .flat_map(|table| rows(table))
        .map(|row| (text(&row["id"]), text(&row["name"])))
        .collect();
    let resolved = |ids: &Value| -> Vec<String> {
        let ids = ids.as_array().cloned().unwrap_or_default();
        let mut found: Vec<String> =
            ids.iter().map(|id| names.get(&text(id)).cloned().unwrap_or_else(|| text(id))).collect();
        found.sort();
        found
    };
    let mut lines = Vec::new();
    for vm in rows("vms") {
        let disks = vm["disks"].as_array().cloned().unwrap_or_default();
        let disks: Vec<Value> = disks.iter().map(|attachment| attachment["disk"].clone()).collect();
        let nics: Vec<String> = vm["nics"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|nic| names.get(&text(&nic["profile"])).cloned().unwrap_or_default())
            .collect();
        lines.push(format!(
            "vm {} '{}' {} memory {} tags {:?} disks {:?} nics {nics:?} user data {}",
            text(&vm["name"]),
            text(&vm["description"]),
            text(&vm["status"]),
            vm["config"]["memory"],
            resolved(&vm["tags"]),
            resolved(&Value::Array(disks)),
            !vm["drive"].is_null(),
        ));
    }
    for disk in rows("disks") {
        let gib = disk["provisioned_bytes"].as_u64().unwrap_or_default() >> 30;
        lines.push(format!(
            "disk {} '{}' {} {gib} GiB of {:?}",
            text(&disk["name"]),
            text(&disk["description"]),
            text(&disk["status"]),
            resolved(&disk["vms"])
        ));
    }
    for template in rows("templates") {
        lines.push(format!(
            "template {} '{}' {}",
            text(&template["name"]),
            text(&template["description"]),
            text(&template["status"])
        ));
    }
    for group in rows("affinity_groups") {
        lines.push(format!(
            "affinity group {} '{}' {} {:?}",
            text(&group["name"]),
            text(&group["description"]),
            group["vms_rule"],
            resolved(&group["vms"])
        ));
    }
    for tag in rows("tags") {
        lines.push(format!("tag {} '{}'", text(&tag["name"]), text(&tag["description"])));
    }
    for transfer in rows("transfers") {
        if !text(&transfer["phase"]).starts_with("finished") {
            lines.push(format!("transfer {}", text(&transfer["phase"])));
        }
    }
    lines.sort();
    lines
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
