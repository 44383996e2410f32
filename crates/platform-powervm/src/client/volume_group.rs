//! Volume groups of a VIOS, with their virtual disks and media repositories.

use serde::Serialize;

use super::{atom::Entry, edit::Edit, logical_partition::record, path::Path, session::Client};
use crate::Error;
use crate::xml::Element;

/// A volume group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VolumeGroup {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its size.
    pub capacity_gib: f64,
    /// What is left of it.
    pub free_gib: f64,
    /// Virtual disks in it.
    pub disks: Vec<VirtualDisk>,
    /// Media in its repository; none if it has no repository.
    pub media: Option<Vec<OpticalMedium>>,
}

/// A virtual disk.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VirtualDisk {
    /// Its name: at most 15 characters.
    pub name: String,
    /// Its device id.
    pub device: String,
    /// Its size.
    pub capacity_gib: f64,
}

/// An optical medium.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpticalMedium {
    /// Its name: at most 37 characters.
    pub name: String,
    /// Its size.
    pub size_gib: f64,
}

fn number(element: &Element, name: &str) -> f64 {
    element.text_at(name).and_then(|text| text.parse().ok()).unwrap_or_default()
}

impl VolumeGroup {
    pub(crate) fn read(entry: &Entry) -> Self {
        let object = &entry.object;
        let disks = object.child("VirtualDisks").into_iter().flat_map(|list| list.all("VirtualDisk"));
        let repository = object.at("MediaRepositories/VirtualMediaRepository");
        let media = |repository: &Element| {
            let list = repository.child("OpticalMedia").into_iter().flat_map(|list| list.all("VirtualOpticalMedia"));
            let medium = |medium: &Element| OpticalMedium {
                name: medium.text_at("MediaName").unwrap_or_default(),
                size_gib: number(medium, "Size"),
            };
            list.map(medium).collect()
        };
        let disk = |disk: &Element| VirtualDisk {
            name: disk.text_at("DiskName").unwrap_or_default(),
            device: disk.text_at("UniqueDeviceID").unwrap_or_default(),
            capacity_gib: number(disk, "DiskCapacity"),
        };
        Self {
            id: entry.id.clone(),
            name: entry.text("GroupName"),
            capacity_gib: number(object, "GroupCapacity"),
            free_gib: number(object, "FreeSpace"),
            disks: disks.map(disk).collect(),
            media: repository.map(media),
        }
    }
}

impl Client {
    /// The volume groups of a VIOS.
    pub async fn volume_groups(&self, vios: &str) -> Result<Vec<VolumeGroup>, Error> {
        Ok(self.volume_group_entries(vios).await?.iter().map(VolumeGroup::read).collect())
    }

    /// The same, as the console shows them.
    pub(crate) async fn volume_group_entries(&self, vios: &str) -> Result<Vec<Entry>, Error> {
        self.feed(&Self::vios_path(vios).child("VolumeGroup")).await
    }

    /// Makes a virtual disk. One of the same name is as good.
    pub async fn create_disk(&self, vios: &str, group: &str, name: &str, gib: f64) -> Result<VolumeGroup, Error> {
        let path = Self::vios_path(vios).child("VolumeGroup").item(group);
        self.edit_group(&path, |object| {
            let list = list(object, "VirtualDisks");
            if list.all("VirtualDisk").any(|disk| disk.text_at("DiskName").as_deref() == Some(name)) {
                return Edit::Unchanged;
            }
            list.push(record("VirtualDisk", &[("DiskCapacity", &gib), ("DiskName", &name)]));
            Edit::Changed
        })
        .await
    }

    /// Makes a virtual disk larger. One that is as large is as good.
    pub async fn grow_disk(&self, vios: &str, group: &str, name: &str, gib: f64) -> Result<VolumeGroup, Error> {
        let path = Self::vios_path(vios).child("VolumeGroup").item(group);
        self.edit_group(&path, |object| {
            let mut disks = list(object, "VirtualDisks").elements_mut();
            let disk = disks.find(|disk| disk.text_at("DiskName").as_deref() == Some(name));
            let Some(size) = disk.and_then(|disk| disk.child_mut("DiskCapacity")) else { return Edit::Unchanged };
            if size.text().parse().is_ok_and(|present: f64| present >= gib) {
                return Edit::Unchanged;
            }
            size.set_text(&gib.to_string());
            Edit::Changed
        })
        .await
    }

    /// Removes a virtual disk. That there is none is as good.
    pub async fn delete_disk(&self, vios: &str, group: &str, name: &str) -> Result<VolumeGroup, Error> {
        let path = Self::vios_path(vios).child("VolumeGroup").item(group);
        self.edit_group(&path, |object| {
            let removed = list(object, "VirtualDisks").remove(|disk| disk.text_at("DiskName").as_deref() == Some(name));
            if removed == 0 { Edit::Unchanged } else { Edit::Changed }
        })
        .await
    }

    /// Removes a medium from the repository. That there is none is as good.
    pub async fn delete_medium(&self, vios: &str, group: &str, name: &str) -> Result<VolumeGroup, Error> {
        Ok(VolumeGroup::read(&self.delete_medium_from(vios, group, name, None).await?))
    }

    /// The same, beginning with what the group was when it was last seen.
    pub(crate) async fn delete_medium_from(
        &self,
        vios: &str,
        group: &str,
        name: &str,
        last: Option<Entry>,
    ) -> Result<Entry, Error> {
        let path = Self::vios_path(vios).child("VolumeGroup").item(group);
        self.edit_from(&path, last, |object| {
            let repository =
                object.child_mut("MediaRepositories").and_then(|list| list.child_mut("VirtualMediaRepository"));
            let media = repository.and_then(|repository| repository.child_mut("OpticalMedia"));
            let removed =
                media.map_or(0, |list| list.remove(|medium| medium.text_at("MediaName").as_deref() == Some(name)));
            Ok(if removed == 0 { Edit::Unchanged } else { Edit::Changed })
        })
        .await
    }

    /// Makes a media repository in a group. One that is there is as good.
    pub async fn create_repository(&self, vios: &str, group: &str, name: &str, gib: f64) -> Result<VolumeGroup, Error> {
        let path = Self::vios_path(vios).child("VolumeGroup").item(group);
        self.edit_group(&path, |object| {
            let list = list(object, "MediaRepositories");
            if list.child("VirtualMediaRepository").is_some() {
                return Edit::Unchanged;
            }
            list.push(record("VirtualMediaRepository", &[("RepositoryName", &name), ("RepositorySize", &gib)]));
            Edit::Changed
        })
        .await
    }

    async fn edit_group(&self, path: &Path, change: impl Fn(&mut Element) -> Edit) -> Result<VolumeGroup, Error> {
        let entry = self.edit(path, |object| Ok(change(object))).await?;
        Ok(VolumeGroup::read(&entry))
    }
}

/// The order of a volume group's elements, as far as lists go.
const ORDER: [&str; 13] = [
    "AvailableSize",
    "BackingDeviceCount",
    "FreeSpace",
    "GroupCapacity",
    "GroupName",
    "GroupSerialID",
    "GroupState",
    "MaximumLogicalVolumes",
    "MediaRepositories",
    "MinimumAllocationSize",
    "PhysicalVolumes",
    "UniqueDeviceID",
    "VirtualDisks",
];

/// A list of a group, which a console leaves out if it is empty.
fn list<'a>(object: &'a mut Element, name: &str) -> &'a mut Element {
    if object.child(name).is_none() {
        object.insert(record(name, &[]), &ORDER);
    }
    object.child_mut(name).expect("it was just put there")
}
