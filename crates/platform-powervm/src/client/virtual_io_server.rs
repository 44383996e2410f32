//! VIOSes, and what they map to partitions.

use serde::{Deserialize, Serialize};

use super::{
    atom::{Entry, linked_id},
    edit::Edit,
    logical_partition::{LogicalPartition, record},
    path::{Group, Path},
    session::Client,
};
use crate::Error;
use crate::xml::Element;

/// A VIOS.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VirtualIoServer {
    /// As a partition.
    #[serde(flatten)]
    pub partition: LogicalPartition,
    /// What it maps, if that was asked for.
    pub mappings: Vec<ScsiMapping>,
    /// Its disks, if they were asked for: names and sizes in MiB.
    pub disks: Vec<(String, u64)>,
    /// The world-wide names of its Fibre Channel ports.
    pub ports: Vec<String>,
}

/// What a mapping maps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind", content = "name")]
pub enum Storage {
    /// A disk, by its name on the VIOS.
    PhysicalVolume(String),
    /// A logical unit of a shared storage pool, by its device id.
    LogicalUnit(String),
    /// A disk in a volume group, by its name.
    VirtualDisk(String),
    /// An optical medium, by its name.
    OpticalMedium(String),
}

impl Storage {
    /// Its element and the child of it that tells one from another.
    fn names(&self) -> (&'static str, &'static str, &str) {
        match self {
            Self::PhysicalVolume(name) => ("PhysicalVolume", "VolumeName", name),
            Self::LogicalUnit(device) => ("LogicalUnit", "UniqueDeviceID", device),
            Self::VirtualDisk(name) => ("VirtualDisk", "DiskName", name),
            Self::OpticalMedium(name) => ("VirtualOpticalMedia", "MediaName", name),
        }
    }

    /// Its element, with what others call it.
    pub(crate) fn element(&self, tag: Option<&str>) -> Element {
        let (kind, key, name) = self.names();
        let mut element = record(kind, &[]);
        if let Some(tag) = tag {
            element.push(Element::text_of("Tag", tag));
        }
        element.with(Element::text_of(key, name))
    }

    fn read(storage: &Element) -> Option<Self> {
        let thing = storage.elements().find(|element| element.local_name() != "Metadata")?;
        let text = |name: &str| thing.text_at(name).unwrap_or_default();
        Some(match thing.local_name() {
            "PhysicalVolume" => Self::PhysicalVolume(text("VolumeName")),
            "LogicalUnit" => Self::LogicalUnit(text("UniqueDeviceID")),
            "VirtualDisk" => Self::VirtualDisk(text("DiskName")),
            "VirtualOpticalMedia" => Self::OpticalMedium(text("MediaName")),
            _ => return None,
        })
    }
}

/// A mapping.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScsiMapping {
    /// The id of the partition; none for what a deleted partition has left behind.
    pub partition: Option<String>,
    /// What is mapped; none for an adapter without anything on it.
    pub storage: Option<Storage>,
    /// The name of the device on the VIOS.
    pub target: String,
}

impl ScsiMapping {
    pub(crate) fn read(mapping: &Element) -> Self {
        let target = mapping.child("TargetDevice").and_then(|target| target.elements().next());
        Self {
            partition: mapping.child("AssociatedLogicalPartition").and_then(linked_id),
            storage: mapping.child("Storage").and_then(Storage::read),
            target: target.and_then(|target| target.text_at("TargetName")).unwrap_or_default(),
        }
    }
}

impl VirtualIoServer {
    pub(crate) fn read(entry: &Entry) -> Self {
        let items = |list: &str, item: &'static str| -> Vec<&Element> {
            entry.object.child(list).into_iter().flat_map(|list| list.all(item)).collect()
        };
        let disk = |disk: &Element| {
            let text = |name: &str| disk.text_at(name).unwrap_or_default();
            (text("VolumeName"), text("VolumeCapacity").parse().unwrap_or_default())
        };
        let slots = entry.object.at("PartitionIOConfiguration/ProfileIOSlots");
        let ports = slots.into_iter().flat_map(|slots| slots.all("ProfileIOSlot")).filter_map(|slot| {
            slot.at("AssociatedIOSlot/RelatedIOAdapter/PhysicalFibreChannelAdapter/PhysicalFibreChannelPorts")
        });
        let ports = ports.flat_map(|list| list.all("PhysicalFibreChannelPort"));
        Self {
            partition: LogicalPartition::read(entry),
            mappings: items("VirtualSCSIMappings", "VirtualSCSIMapping").into_iter().map(ScsiMapping::read).collect(),
            disks: items("PhysicalVolumes", "PhysicalVolume").into_iter().map(disk).collect(),
            ports: ports.filter_map(|port| port.text_at("WWPN")).collect(),
        }
    }
}

/// A mapping that leaves slots and names to the server.
fn mapping(partition: &str, storage: &Storage) -> Element {
    let adapter = |side: &str, kind: &str| record(side, &[("AdapterType", &kind), ("UseNextAvailableSlotID", &true)]);
    record("VirtualSCSIMapping", &[])
        .with(
            Element::new("AssociatedLogicalPartition")
                .with_attribute("href", partition)
                .with_attribute("rel", "related"),
        )
        .with(adapter("ClientAdapter", "Client"))
        .with(adapter("ServerAdapter", "Server"))
        .with(Element::new("Storage").with(storage.element(None)))
}

impl Client {
    /// All VIOSes, with what else is asked for.
    pub async fn vioses(&self, groups: &[Group]) -> Result<Vec<VirtualIoServer>, Error> {
        let entries = self.feed(&Path::feed("VirtualIOServer").with(groups)).await?;
        Ok(entries.iter().map(VirtualIoServer::read).collect())
    }

    /// Maps something to a partition. That it is mapped already is as good.
    pub async fn map(&self, vios: &str, partition: &str, storage: &Storage) -> Result<VirtualIoServer, Error> {
        let path = Path::entry("VirtualIOServer", vios).with(&[Group::ViosScsiMappings]);
        let link = self.console().join(&format!("uom/LogicalPartition/{partition}")).to_string();
        let missing = || self.misunderstood(&format!("reading {path}"), "VirtualSCSIMappings is missing".to_owned());
        let entry = self
            .edit(&path, |object| {
                let list = object.child_mut("VirtualSCSIMappings").ok_or_else(missing)?;
                if list.all("VirtualSCSIMapping").any(|item| is_of(item, partition, Some(storage))) {
                    return Ok(Edit::Unchanged);
                }
                list.push(mapping(&link, storage));
                Ok(Edit::Changed)
            })
            .await?;
        Ok(VirtualIoServer::read(&entry))
    }

    /// Takes something from a partition, or everything. That nothing is mapped is as good.
    pub async fn unmap(
        &self,
        vios: &str,
        partition: &str,
        storage: Option<&Storage>,
    ) -> Result<VirtualIoServer, Error> {
        let path = Path::entry("VirtualIOServer", vios).with(&[Group::ViosScsiMappings]);
        let entry = self
            .edit(&path, |object| {
                let Some(list) = object.child_mut("VirtualSCSIMappings") else { return Ok(Edit::Unchanged) };
                let removed = list.remove(|item| is_of(item, partition, storage));
                Ok(if removed == 0 { Edit::Unchanged } else { Edit::Changed })
            })
            .await?;
        Ok(VirtualIoServer::read(&entry))
    }
}

fn is_of(item: &Element, partition: &str, storage: Option<&Storage>) -> bool {
    let mapping = ScsiMapping::read(item);
    item.local_name() == "VirtualSCSIMapping"
        && mapping.partition.is_some_and(|id| id.eq_ignore_ascii_case(partition))
        && storage.is_none_or(|storage| mapping.storage.as_ref() == Some(storage))
}
