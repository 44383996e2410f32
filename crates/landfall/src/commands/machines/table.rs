//! Machines and sets as tables for people and as objects for programs.

use std::fmt;

use jiff::Timestamp;
use landfall_machines::{Machine, MachineSet};
use serde::Serialize;

use crate::printer::Report;

/// Machines and the sets that they belong to.
#[derive(Serialize)]
pub(super) struct Fleet {
    pub(super) machines: Vec<MachineRow>,
    pub(super) sets: Vec<SetRow>,
}

/// A machine.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MachineRow {
    name: String,
    role: String,
    phase: String,
    node: Option<String>,
    address: Option<String>,
    provider_id: Option<String>,
    age_seconds: i64,
}

/// A set of machines.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetRow {
    name: String,
    wanted: i32,
    current: i32,
    ready: i32,
}

impl MachineRow {
    pub(super) fn new(machine: &Machine, now: Timestamp) -> Self {
        let addresses = machine.status.iter().flat_map(|status| &status.addresses);
        let born = machine.metadata.creation_timestamp.as_ref().map_or(now, |time| time.0);
        Self {
            name: machine.name().to_owned(),
            role: machine.label(landfall_machine_api::ROLE_LABEL).unwrap_or("-").to_owned(),
            phase: machine.phase().map_or("Pending", |phase| phase.name()).to_owned(),
            node: machine.node_name().map(str::to_owned),
            address: addresses
                .into_iter()
                .find(|address| address.kind == "InternalIP")
                .map(|address| address.address.clone()),
            provider_id: machine.provider_id().map(str::to_owned),
            age_seconds: now.as_second() - born.as_second(),
        }
    }
}

impl SetRow {
    pub(super) fn new(set: &MachineSet) -> Self {
        let status = set.status.clone().unwrap_or_default();
        let (current, ready) = (status.replicas, status.ready_replicas);
        Self { name: set.name().to_owned(), wanted: set.spec.replicas, current, ready }
    }
}

impl fmt::Display for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let machines = self.machines.iter().map(|row| {
            let dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
            vec![
                row.name.clone(),
                row.role.clone(),
                row.phase.clone(),
                dash(&row.node),
                dash(&row.address),
                age(row.age_seconds),
            ]
        });
        if !self.machines.is_empty() || self.sets.is_empty() {
            write_table(f, &["machine", "role", "phase", "node", "address", "age"], machines)?;
        }
        if self.sets.is_empty() {
            return Ok(());
        }
        if !self.machines.is_empty() {
            writeln!(f)?;
        }
        let sets = self
            .sets
            .iter()
            .map(|row| vec![row.name.clone(), row.wanted.to_string(), row.current.to_string(), row.ready.to_string()]);
        write_table(f, &["set", "wanted", "current", "ready"], sets)
    }
}

impl Report for Fleet {}

fn write_table(f: &mut fmt::Formatter<'_>, head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> fmt::Result {
    let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    let widths: Vec<_> =
        (0..rows[0].len()).map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or_default()).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

/// An age in its largest unit, as people say it.
fn age(seconds: i64) -> String {
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7200 => format!("{}m", seconds / 60),
        7200..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_is_aligned() {
        let now = Timestamp::from_second(10_000).unwrap();
        let machine: Machine = serde_json::from_value(json!({
            "metadata": { "name": "demo-x7k2p-worker-b", "creationTimestamp": "1970-01-01T02:40:00Z",
                "labels": { "machine.openshift.io/cluster-api-machine-role": "worker" } },
            "spec": { "providerID": "ovirt://1" },
            "status": { "phase": "Running", "nodeRef": { "name": "demo-x7k2p-worker-b" },
                "addresses": [{ "type": "InternalIP", "address": "192.0.2.9" }] },
        }))
        .unwrap();
        let pending: Machine = serde_json::from_value(json!({ "metadata": { "name": "new" }, "spec": {} })).unwrap();
        let set: MachineSet = serde_json::from_value(json!({
            "metadata": { "name": "demo-x7k2p-worker" },
            "spec": { "replicas": 2, "selector": {}, "template": {} },
            "status": { "replicas": 2, "readyReplicas": 1 },
        }))
        .unwrap();
        let fleet = Fleet {
            machines: [machine, pending].iter().map(|machine| MachineRow::new(machine, now)).collect(),
            sets: vec![SetRow::new(&set)],
        };
        let expected = "\
machine              role    phase    node                 address    age
demo-x7k2p-worker-b  worker  Running  demo-x7k2p-worker-b  192.0.2.9  6m
new                  -       Pending  -                    -          0s

set                wanted  current  ready
demo-x7k2p-worker  2       2        1
";
        assert_eq!(fleet.to_string(), expected);
    }
}
