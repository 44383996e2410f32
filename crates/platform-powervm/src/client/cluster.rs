//! Clusters of VIOSes and their shared storage pools.

use serde::Serialize;

use super::{
    UOM,
    atom::{Entry, linked_id},
    job::{JobLimits, Parameter},
    path::Path,
    session::Client,
};
use crate::Error;
use crate::xml::Element;

/// A cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The id of its pool.
    pub pool: Option<String>,
    /// Its VIOSes, on all servers.
    pub nodes: Vec<Node>,
}

/// A VIOS of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// The name of its host.
    pub host: String,
    /// The id of the VIOS.
    pub vios: Option<String>,
    /// `Up`, `Down` or `Unknown`.
    pub state: String,
}

/// A shared storage pool.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedStoragePool {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its size.
    pub capacity_gib: f64,
    /// What is left of it.
    pub free_gib: f64,
}

/// A part of a pool.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tier {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Whether units go there if nothing else is said.
    pub is_default: bool,
    /// Its size.
    pub capacity_gib: f64,
}

/// A disk in a pool.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogicalUnit {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its device id. The first two digits say what it is used for, and differ between a disk and the image it came from.
    pub device: String,
    /// Its size.
    pub capacity_gib: f64,
    /// `VirtualIO_Disk` or `VirtualIO_Image`.
    pub kind: String,
    /// Whether a VIOS maps it.
    pub in_use: bool,
    /// The device id of what it was cloned from.
    pub cloned_from: Option<String>,
}

/// A disk to be made.
#[derive(Clone, Debug)]
pub struct LogicalUnitSpec<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its size.
    pub gib: f64,
    /// Whether it is there to be cloned.
    pub is_image: bool,
    /// The device id of what it is a clone of.
    pub clone_of: Option<&'a str>,
}

impl LogicalUnit {
    fn read(entry: &Entry) -> Self {
        Self {
            id: entry.id.clone(),
            name: entry.text("UnitName"),
            device: entry.text("UniqueDeviceID"),
            capacity_gib: entry.number("UnitCapacity").unwrap_or_default(),
            kind: entry.text("LogicalUnitType"),
            in_use: entry.is("InUse"),
            cloned_from: Some(entry.text("ClonedFrom")).filter(|device| !device.is_empty()),
        }
    }
}

impl Client {
    /// All clusters.
    pub async fn clusters(&self) -> Result<Vec<Cluster>, Error> {
        let node = |node: &Element| Node {
            host: node.text_at("HostName").unwrap_or_default(),
            vios: node.child("VirtualIOServer").and_then(linked_id),
            state: node.text_at("State").unwrap_or_default(),
        };
        let cluster = |entry: &Entry| Cluster {
            id: entry.id.clone(),
            name: entry.text("ClusterName"),
            pool: entry.object.child("ClusterSharedStoragePool").and_then(linked_id),
            nodes: entry.object.child("Node").into_iter().flat_map(|list| list.all("Node")).map(node).collect(),
        };
        Ok(self.feed(&Path::feed("Cluster")).await?.iter().map(cluster).collect())
    }

    /// All shared storage pools.
    pub async fn pools(&self) -> Result<Vec<SharedStoragePool>, Error> {
        let pool = |entry: &Entry| SharedStoragePool {
            id: entry.id.clone(),
            name: entry.text("StoragePoolName"),
            capacity_gib: entry.number("Capacity").unwrap_or_default(),
            free_gib: entry.number("FreeSpace").unwrap_or_default(),
        };
        Ok(self.feed(&Path::feed("SharedStoragePool")).await?.iter().map(pool).collect())
    }

    /// The tiers of a pool.
    pub async fn tiers(&self, pool: &str) -> Result<Vec<Tier>, Error> {
        let tier = |entry: &Entry| Tier {
            id: entry.id.clone(),
            name: entry.text("Name"),
            is_default: entry.is("IsDefault"),
            capacity_gib: entry.number("Capacity").unwrap_or_default(),
        };
        let feed = Path::entry("SharedStoragePool", pool).child("Tier");
        Ok(self.feed(&feed).await?.iter().map(tier).collect())
    }

    /// The disks of a tier.
    pub async fn logical_units(&self, tier: &str) -> Result<Vec<LogicalUnit>, Error> {
        let feed = Path::entry("Tier", tier).child("LogicalUnit");
        Ok(self.feed(&feed).await?.iter().map(LogicalUnit::read).collect())
    }

    /// Makes a disk in a tier.
    pub async fn create_logical_unit(&self, tier: &str, spec: &LogicalUnitSpec<'_>) -> Result<LogicalUnit, Error> {
        let mut unit = Element::new("LogicalUnit").with_attribute("xmlns", UOM).with_attribute("schemaVersion", "V1_0");
        unit.push(Element::new("Metadata").with(Element::new("Atom")));
        unit.push(Element::text_of("ThinDevice", true));
        unit.push(Element::text_of("UnitCapacity", spec.gib));
        unit.push(Element::text_of(
            "LogicalUnitType",
            if spec.is_image { "VirtualIO_Image" } else { "VirtualIO_Disk" },
        ));
        if let Some(device) = spec.clone_of {
            unit.push(Element::text_of("ClonedFrom", device));
        }
        unit.push(Element::text_of("UnitName", spec.name));
        let feed = Path::entry("Tier", tier).child("LogicalUnit");
        Ok(LogicalUnit::read(&self.create(&feed, &unit).await?))
    }

    /// Makes a disk larger, by the job that clusters have for it.
    ///
    /// Sure is what IBM documents of it for HMCs: its name, its two parameters, and that it takes the size to be, not a difference.
    /// That the size is in GB follows from its sibling `CreateLogicalUnit`. Neither the platform's own library nor the drivers that
    /// were written with it ever grow a unit, so that a `NovaLink` has the job too is an assumption: one that has not says so by 404
    /// before anything is changed.
    pub async fn grow_logical_unit(
        &self,
        cluster: &str,
        device: &str,
        gib: f64,
        limits: JobLimits,
    ) -> Result<(), Error> {
        let size = gib.to_string();
        let parameters = [("LogicalUnitUDID", Parameter::Text(device)), ("Capacity", Parameter::Text(&size))];
        self.run_job(&Path::entry("Cluster", cluster), "GrowLogicalUnit", &parameters, limits).await.map(drop)
    }

    /// Deletes a disk of a tier. That there is none is as good.
    pub async fn delete_logical_unit(&self, tier: &str, id: &str) -> Result<(), Error> {
        self.delete(&Path::entry("Tier", tier).child("LogicalUnit").item(id)).await
    }
}
