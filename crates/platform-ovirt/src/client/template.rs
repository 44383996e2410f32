//! Templates of machines.

use std::collections::HashSet;

use serde::Deserialize;

use super::{Cluster, Reference};
use crate::{Client, Error};

/// The operating system type with which the engine hands a machine its Ignition config unchanged.
const IGNITION_OS: &str = "rhcos_x64";
/// The engine's built-in template without disks.
const BLANK: &str = "00000000-0000-0000-0000-000000000000";

/// A template that can be used in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Its name.
    pub name: String,
    /// Its operating system type, as the engine spells it.
    pub os: String,
}

impl Template {
    /// Whether the engine hands machines of this type their Ignition config unchanged.
    pub fn takes_ignition(&self) -> bool {
        self.os == IGNITION_OS
    }
}

#[derive(Deserialize)]
struct Templates {
    #[serde(default)]
    template: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    name: String,
    status: Option<String>,
    os: Option<Os>,
    cluster: Option<Reference>,
}

#[derive(Deserialize)]
struct Os {
    #[serde(default, rename = "type")]
    kind: String,
}

impl Client {
    /// The templates that can be used in a cluster: those that are ready and of its data centre. Those that take Ignition
    /// come first, then by name; of several versions of a template one is listed.
    pub async fn templates(&self, cluster: &Cluster) -> Result<Vec<Template>, Error> {
        let clusters = self.clusters().await?;
        let near = |id: &str| clusters.iter().any(|c| c.id == id && c.data_center_id == cluster.data_center_id);
        let Templates { template } = self.get("templates").await?;
        let mut templates: Vec<Template> = template
            .into_iter()
            .filter(|entry| entry.id != BLANK && entry.status.as_deref() == Some("ok"))
            .filter(|entry| entry.cluster.as_ref().is_none_or(|cluster| near(&cluster.id)))
            .map(|Entry { name, os, .. }| Template { name, os: os.map(|os| os.kind).unwrap_or_default() })
            .collect();
        templates.sort_by(|a, b| b.takes_ignition().cmp(&a.takes_ignition()).then_with(|| a.name.cmp(&b.name)));
        let mut listed = HashSet::new();
        templates.retain(|template| listed.insert(template.name.clone()));
        Ok(templates)
    }
}
