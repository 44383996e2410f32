//! How nodes are listed.

use std::fmt;

use landfall_cluster::Node;
use serde::{Serialize, Serializer, ser::SerializeSeq as _};

use crate::printer::Report;

/// Nodes, as a table for people and as objects for programs.
pub(crate) struct Nodes<'a>(pub(crate) &'a [Node]);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    name: &'a str,
    role: &'static str,
    ready: bool,
    address: &'a str,
    version: &'a str,
}

impl<'a> From<&'a Node> for Row<'a> {
    fn from(node: &'a Node) -> Self {
        Self {
            name: &node.name,
            role: if node.control_plane { "master" } else { "worker" },
            ready: node.ready,
            address: &node.address,
            version: &node.version,
        }
    }
}

impl Serialize for Nodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.0.len()))?;
        for node in self.0 {
            rows.serialize_element(&Row::from(node))?;
        }
        rows.end()
    }
}

impl fmt::Display for Nodes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.iter().map(|node| node.name.len()).max().unwrap_or_default().max(4);
        writeln!(f, "{:<width$}  {:<6}  {:<9}  {:<15}  version", "node", "role", "state", "address")?;
        for row in self.0.iter().map(Row::from) {
            let state = if row.ready { "ready" } else { "not ready" };
            writeln!(f, "{:<width$}  {:<6}  {state:<9}  {:<15}  {}", row.name, row.role, row.address, row.version)?;
        }
        Ok(())
    }
}

impl Report for Nodes<'_> {}
