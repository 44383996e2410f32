//! Templates of machines.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Cluster, Disk, Reference, Vm, number, search};
use crate::{Client, Error, mark::Mark};

/// The operating system type with which the engine hands a machine its Ignition config unchanged.
pub(crate) const IGNITION_OS: &str = "rhcos_x64";
/// The engine's built-in template without disks.
pub(crate) const BLANK: &str = "00000000-0000-0000-0000-000000000000";

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

/// A template, with its disks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateDetails {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// `ok`, `locked` or `illegal`.
    pub status: String,
    /// Its operating system type, as the engine spells it.
    pub os: String,
    /// Its disks.
    pub disks: Vec<Disk>,
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
    #[serde(default)]
    description: String,
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
    disk_attachment: Vec<DiskAttachment>,
}

#[derive(Deserialize)]
struct DiskAttachment {
    disk: Disk,
}

#[derive(Deserialize)]
struct Os {
    #[serde(default, rename = "type")]
    kind: String,
}

/// What of a template is read together with it.
const DISKS: &str = "disk_attachments.disk";

impl From<Entry> for TemplateDetails {
    fn from(entry: Entry) -> Self {
        Self {
            id: entry.id,
            name: entry.name,
            description: entry.description,
            status: entry.status.unwrap_or_else(|| "in an unknown state".to_owned()),
            os: entry.os.map(|os| os.kind).unwrap_or_default(),
            disks: entry.disk_attachments.disk_attachment.into_iter().map(|attachment| attachment.disk).collect(),
        }
    }
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

    /// The newest version of the template with a name, with its disks.
    pub async fn template(&self, name: &str) -> Result<Option<TemplateDetails>, Error> {
        let path = format!("{}&follow={DISKS}", search("templates", &format!("name=\"{name}\"")));
        let Templates { template } = self.get(&path).await?;
        let versions = template.into_iter().filter(|entry| entry.name == name);
        Ok(versions.max_by_key(|entry| entry.version.version_number).map(TemplateDetails::from))
    }

    /// The template with an id, with its disks.
    pub async fn template_with_id(&self, id: &str) -> Result<Option<TemplateDetails>, Error> {
        let entry: Option<Entry> = self.get_existing(&format!("templates/{id}?follow={DISKS}")).await?;
        Ok(entry.map(TemplateDetails::from))
    }

    /// Templates whose description carries a mark, whatever their names are, with their disks.
    pub async fn templates_marked(&self, mark: &Mark) -> Result<Vec<TemplateDetails>, Error> {
        let path = format!("{}&follow={DISKS}", search("templates", &format!("description={}", mark.pattern())));
        let Templates { template } = self.get(&path).await?;
        Ok(template.into_iter().filter(|entry| mark.is_on(&entry.description)).map(TemplateDetails::from).collect())
    }

    /// The template with a name, if machines can be made from it now. One that is still being made is
    /// [locked](landfall_platform::ErrorClass::Locked).
    pub async fn usable_template(&self, name: &str) -> Result<TemplateDetails, Error> {
        let object = || format!("template {name}");
        match self.template(name).await? {
            Some(template) if template.status == "ok" => Ok(template),
            Some(template) => {
                Err(Error::State { object: object(), engine: self.engine().host(), state: template.status })
            }
            None => Err(Error::Missing { object: object(), engine: self.engine().host() }),
        }
    }

    /// Makes a template from a machine that is off and has one disk, and returns its id. The copy of the disk gets the template's name, so that
    /// it is never taken for the original.
    pub async fn create_template(&self, name: &str, description: &str, vm: &Vm) -> Result<String, Error> {
        let disks: Vec<Value> = vm
            .boot_disk()
            .map(|disk| json!({ "disk": { "id": disk.id, "name": name, "alias": name } }))
            .into_iter()
            .collect();
        let body = json!({
            "name": name,
            "description": description,
            "vm": { "id": vm.id, "disk_attachments": { "disk_attachment": disks } },
        });
        let made: Reference = self.post(&format!("creating template {name}"), "templates", &body).await?;
        Ok(made.id)
    }

    /// Deletes a template.
    pub async fn delete_template(&self, template: &TemplateDetails) -> Result<(), Error> {
        self.delete(&format!("deleting template {}", template.name), &format!("templates/{}", template.id)).await
    }
}
