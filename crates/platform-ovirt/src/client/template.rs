//! Templates of machines.

use std::collections::HashSet;

use serde::Deserialize;

use super::{Cluster, Reference, number, search};
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

/// A template that machines can be made from now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsableTemplate {
    /// Its id.
    pub id: String,
    /// Ids of its disks.
    pub disk_ids: Vec<String>,
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
    #[serde(default)]
    version: Version,
    #[serde(default)]
    disk_attachments: DiskAttachments,
}

#[derive(Default, Deserialize)]
struct Version {
    #[serde(default, deserialize_with = "number::required")]
    version_number: u64,
}

#[derive(Default, Deserialize)]
struct DiskAttachments {
    #[serde(default)]
    disk_attachment: Vec<Reference>,
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

    /// The newest version of the template with a name. One that is still being made is [locked](ErrorClass::Locked).
    pub async fn usable_template(&self, name: &str) -> Result<UsableTemplate, Error> {
        let path = format!("{}&follow=disk_attachments", search("templates", &format!("name=\"{name}\"")));
        let Templates { template } = self.get(&path).await?;
        let newest = template.into_iter().filter(|entry| entry.name == name).max_by_key(|entry| entry.version.version_number);
        let object = || format!("template {name}");
        let Some(entry) = newest else {
            return Err(Error::Missing { object: object(), engine: self.engine().host() });
        };
        match entry.status.as_deref() {
            Some("ok") => {
                let disk_ids = entry.disk_attachments.disk_attachment.into_iter().map(|disk| disk.id).collect();
                Ok(UsableTemplate { id: entry.id, disk_ids })
            }
            status => Err(Error::State {
                object: object(),
                engine: self.engine().host(),
                state: status.unwrap_or("in an unknown state").to_owned(),
            }),
        }
    }
}
