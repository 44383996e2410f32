//! Records for people to make. Pure.

use std::fmt;

use landfall_config::{Dns, InstallConfig};
use serde::Serialize;

use crate::{Entry, Error, Type, plan};

/// The records of a cluster, whoever makes them.
pub fn records(config: &InstallConfig, service: &Dns) -> Result<Records, Error> {
    Ok(Records::of(&plan::entries(config, service)?))
}

/// Records, one per line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Records(Vec<Row>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Row {
    name: String,
    #[serde(rename = "type")]
    kind: Type,
    ttl: u32,
    value: String,
}

impl Records {
    /// The records of entries, without marks: those are for records that are made by program.
    pub fn of(entries: &[Entry]) -> Self {
        let row = |entry: &Entry, data: &crate::Data| Row {
            name: entry.name.absolute(),
            kind: data.kind(),
            ttl: entry.ttl,
            value: data.to_string(),
        };
        Self(entries.iter().flat_map(|entry| entry.data.iter().map(move |data| row(entry, data))).collect())
    }

    /// As lines of a zone file. Names are absolute, so they can stand anywhere in it.
    pub fn zone_snippet(&self) -> String {
        let width = self.0.iter().map(|row| row.name.len()).max().unwrap_or_default();
        let line = |row: &Row| format!("{:<width$} {} IN {:<5} {}\n", row.name, row.ttl, row.kind.as_str(), row.value);
        self.0.iter().map(line).collect()
    }
}

/// As a table, for those who type them into a form.
impl fmt::Display for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.iter().map(|row| row.name.len() - 1).max().unwrap_or_default().max(4);
        writeln!(f, "{:<width$}  {:<5}  {:>5}  value", "name", "type", "ttl")?;
        for Row { name, kind, ttl, value } in &self.0 {
            let name = name.trim_end_matches('.');
            writeln!(f, "{name:<width$}  {:<5}  {ttl:>5}  {}", kind.as_str(), value.trim_end_matches('.'))?;
        }
        Ok(())
    }
}
