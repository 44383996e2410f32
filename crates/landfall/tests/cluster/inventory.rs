//! What is in an engine.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// What clients can make, and what limits what they can make.
const TABLES: [&str; 22] = [
    "affinity_groups",
    "affinity_labels",
    "bookmarks",
    "clusters",
    "cpu_profiles",
    "data_centers",
    "disk_profiles",
    "disks",
    "groups",
    "hosts",
    "instance_types",
    "networks",
    "permissions",
    "quotas",
    "roles",
    "storage_domains",
    "tags",
    "templates",
    "transfers",
    "users",
    "vms",
    "vnic_profiles",
];

/// What differs between two engines in which the same was done: ids, times, and what depends on the order of things that
/// happen side by side. What is used of MAC addresses and of the hosts' memory is kept as a sum.
const INCIDENTAL: [&str; 15] = [
    "id",
    "image",
    "mac",
    "created",
    "started",
    "stopped",
    "stop_reason",
    "host",
    "cdrom",
    "snapshots",
    "guest",
    "job",
    "requested",
    "slowdown",
    "serial",
];

/// Everything in an engine by kind and name, without what differs from run to run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Inventory(BTreeMap<String, Value>);

impl Inventory {
    /// From the state of an engine.
    pub(crate) fn of(state: &Value) -> Self {
        let state = with_names(state);
        let mut found: BTreeMap<String, Value> = BTreeMap::new();
        let mut memory = 0;
        for (table, row) in rows(&state) {
            let mut row = row.clone();
            if table == "hosts" {
                let vms = row.as_object_mut().and_then(|host| host.remove("vms")).unwrap_or_default();
                memory += vms.as_object().map(Map::values).into_iter().flatten().filter_map(Value::as_u64).sum::<u64>();
            }
            let name = format!("{table}/{}", row["name"].as_str().unwrap_or_default());
            // Two of the same name are two.
            let name = (1..).map(|count| if count == 1 { name.clone() } else { format!("{name} ({count})") });
            let name = name.into_iter().find(|name| !found.contains_key(name)).expect("there is always a next number");
            found.insert(name, essential(row));
        }
        let macs = state["mac_pool"]["used"].as_array().map_or(0, Vec::len);
        found.insert("use".to_owned(), json!({ "macs": macs, "memory": memory, "tagged": sorted(&state["tagged"]) }));
        Self(found)
    }

    /// The names of all objects of a kind, for example `vms`.
    pub(crate) fn names(&self, table: &str) -> BTreeSet<&str> {
        self.0.keys().filter_map(|key| key.strip_prefix(table)?.strip_prefix('/')).collect()
    }

    /// An object, for example `vms/demo-x7k2p-master-0`.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// What is in this one and not in the other, by kind and name.
    pub(crate) fn beyond(&self, other: &Self) -> BTreeSet<&str> {
        self.0.keys().filter(|key| !other.0.contains_key(*key)).map(String::as_str).collect()
    }
}

/// Compares what is with what should be.
pub(crate) fn assert_same(found: &Inventory, expected: &Inventory, when: &str) {
    let changed: Vec<String> = expected
        .0
        .iter()
        .filter_map(|(key, expected)| {
            let found = found.0.get(key).filter(|found| *found != expected)?;
            Some(format!("{key} is\n  {found}\nand not\n  {expected}"))
        })
        .collect();
    assert!(
        found == expected,
        "{when}\nmissing: {:?}\nnew: {:?}\n{}",
        expected.beyond(found),
        found.beyond(expected),
        changed.join("\n")
    );
}

fn rows(state: &Value) -> impl Iterator<Item = (&'static str, &Value)> {
    TABLES.into_iter().flat_map(|table| {
        let rows = state[table].as_array().unwrap_or_else(|| panic!("an engine has {table}"));
        rows.iter().map(move |row| (table, row))
    })
}

/// The same state with the kind and name of an object wherever its id was.
fn with_names(state: &Value) -> Value {
    let mut text = without_credentials(&state.to_string());
    for (table, row) in rows(state) {
        let (id, name) = (row["id"].as_str().unwrap_or_default(), row["name"].as_str().unwrap_or_default());
        // The nil id is that of several things, and known to everybody.
        if !id.is_empty() && !name.is_empty() && !id.starts_with("00000000-0000-0000-0000") {
            text = text.replace(id, &format!("{table}/{name}"));
        }
    }
    serde_json::from_str(&text).expect("names need no quoting")
}

/// Returns the text without the proofs of machines' credentials and the times of the runs that made them: each run gives its own.
fn without_credentials(text: &str) -> String {
    let mut parts = text.split("Bearer ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "-./~".contains(c);
        let (credential, rest) = part.split_at(part.find(|c| !is_part(c)).unwrap_or(part.len()));
        let name = credential.split(['~', '/']).next().unwrap_or_default();
        format!("{text}Bearer {name}{rest}")
    })
}

fn essential(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(name, _)| !INCIDENTAL.contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| (name, essential(value))).collect())
        }
        Value::Array(items) => sorted(&Value::Array(items.into_iter().map(essential).collect())),
        other => other,
    }
}

/// Lists of references are in the order of the ids, which is nobody's intention.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let items: BTreeSet<&str> = items.iter().filter_map(Value::as_str).collect();
            items.into_iter().collect()
        }
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), sorted(value))).collect(),
        other => other.clone(),
    }
}
