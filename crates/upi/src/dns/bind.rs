//! What BIND needs besides zone files.

use super::{Record, Value, zone::Zone};

/// Zone statements for `named.conf.local`; the files lie in BIND's own directory.
pub(super) fn configuration(zones: &[Zone]) -> String {
    let head = "// For named.conf.local; the files db.* lie in BIND's working directory.\n";
    let zone = |zone: &Zone| {
        format!("zone \"{name}\" {{\n    type primary;\n    file \"db.{name}\";\n}};\n", name = zone.name)
    };
    std::iter::once(head.to_owned()).chain(zones.iter().map(zone)).collect()
}

/// Lines for a zone that exists already; names are complete, so that they fit into any zone file.
pub(super) fn snippet(records: &[Record]) -> String {
    let is_forth = |record: &&Record| !matches!(record.value, Value::Pointer(_));
    let line = |record: &Record| format!("{}. 300 IN {} {}\n", record.name, record.value.kind(), record.value);
    let forth: String = records.iter().filter(is_forth).map(line).collect();
    let back: String = records.iter().filter(|record| !is_forth(record)).map(line).collect();
    format!("; Lines for the zone of your domain.\n{forth}\n; Lines for the zones of your addresses.\n{back}")
}
