//! Disks in a shared storage pool.

use std::sync::Arc;

use landfall_platform::Progress;

use super::{DiskSpec, image_cache::ImageCache};
use crate::client::{LogicalUnit, LogicalUnitSpec, Storage};
use crate::compute::{Backing, DiskPlace, Error, Host, PartitionId};

/// The digits of a partition's id in the names of its disks.
const DIGITS: usize = 8;

/// A tier of a pool, and the VIOSes that show it.
#[derive(Clone, Debug)]
pub(in crate::compute) struct Pool {
    /// The id of the tier.
    pub(super) tier: String,
    /// The ids of the VIOSes of the pool's cluster, on all servers.
    vioses: Vec<String>,
}

/// How the names of a partition's units end. Names of partitions are unique on their server only, and a pool has many servers.
pub(in crate::compute) fn names_of(partition: &PartitionId, name: &str) -> String {
    format!("_{name}_{}", partition.tail(DIGITS))
}

impl DiskSpec {
    /// The name of its unit.
    fn unit(&self) -> String {
        format!("{}{}", self.disk.name, names_of(&self.partition, &self.partition_name))
    }
}

impl DiskSpec {
    /// The device id of its unit, which is there.
    pub(in crate::compute) async fn device(&self, host: &Host) -> Result<String, Error> {
        let missing = |what: String| Error::Missing { what, host: host.label() };
        let DiskPlace::Pool { pool, tier } = &self.disk.place else {
            return Err(missing(format!("shared storage pool with disk {}", self.disk.name)));
        };
        let units = Pool::find(host, pool.as_deref(), tier.as_deref()).await?.units(host).await?;
        let unit = units.into_iter().find(|unit| unit.name == self.unit());
        unit.map(|unit| unit.device).ok_or_else(|| missing(format!("logical unit {}", self.unit())))
    }
}

impl Pool {
    /// The pool of a name, or the only one, and its tier of a name, or the default one.
    pub(in crate::compute) async fn find(host: &Host, pool: Option<&str>, tier: Option<&str>) -> Result<Self, Error> {
        // No name has a line break in it.
        let name = format!("{}\n{}", pool.unwrap_or_default(), tier.unwrap_or_default());
        host.pools.or_read(&name, Self::look_for(host, pool, tier)).await
    }

    async fn look_for(host: &Host, pool: Option<&str>, tier: Option<&str>) -> Result<Self, Error> {
        let failed = |error| host.failed("looking for the shared storage pool", error);
        let client = host.client();
        let (clusters, pools) = tokio::try_join!(client.clusters(), client.pools()).map_err(failed)?;
        let found = pools.iter().find(|found| pool.is_none_or(|name| found.name == name));
        let what =
            || pool.map_or_else(|| "shared storage pool".to_owned(), |pool| format!("shared storage pool {pool}"));
        let found = found.ok_or_else(|| Error::Missing { what: what(), host: host.label() })?;
        let tiers = client.tiers(&found.id).await.map_err(failed)?;
        let wanted = tiers.iter().find(|known| tier.map_or(known.is_default, |name| known.name == name));
        let what = || format!("tier {} in pool {}", tier.unwrap_or("by default"), found.name);
        let wanted = wanted.ok_or_else(|| Error::Missing { what: what(), host: host.label() })?;
        let of_pool = |id: &Option<String>| id.as_deref().is_some_and(|id| id.eq_ignore_ascii_case(&found.id));
        let nodes = clusters.into_iter().filter(|cluster| of_pool(&cluster.pool)).flat_map(|cluster| cluster.nodes);
        Ok(Self { tier: wanted.id.clone(), vioses: nodes.filter_map(|node| node.vios).collect() })
    }

    pub(in crate::compute) async fn units(&self, host: &Host) -> Result<Vec<LogicalUnit>, Error> {
        let units = host.client().logical_units(&self.tier).await;
        units.map_err(|error| host.failed("reading the logical units", error))
    }

    /// Makes the disk, a clone of its image if it has one.
    pub(super) async fn ensure(
        &self,
        host: &Arc<Host>,
        spec: &DiskSpec,
        progress: Progress<'_>,
    ) -> Result<Vec<Backing>, Error> {
        let name = spec.unit();
        // Within this program one uploads an image and the others wait; and nobody deletes it before it is cloned.
        let turn = spec.disk.image.as_ref().map(|image| host.turn(&format!("image {}", image.name)));
        let turn = match &turn {
            Some(turn) => Some(turn.lock().await),
            None => None,
        };
        let units = self.units(host).await?;
        let known = units.iter().find(|unit| unit.name == name).map(|unit| unit.device.clone());
        let device = match known {
            Some(device) => device,
            None => self.make(host, spec, units, progress).await?,
        };
        drop(turn);
        let shown = host.vioses().await?;
        let shown = shown.into_iter().filter(|vios| self.vioses.iter().any(|id| id.eq_ignore_ascii_case(&vios.id)));
        let backing = |vios: String| Backing { vios, storage: Storage::LogicalUnit(device.clone()), tag: None };
        let backings: Vec<Backing> = shown.map(|vios| backing(vios.id)).collect();
        if backings.is_empty() {
            let what = "VIOS that runs and belongs to the cluster of the shared storage pool".to_owned();
            return Err(Error::Missing { what, host: host.label() });
        }
        Ok(backings)
    }

    /// Makes the unit; its device id.
    async fn make(
        &self,
        host: &Arc<Host>,
        spec: &DiskSpec,
        units: Vec<LogicalUnit>,
        progress: Progress<'_>,
    ) -> Result<String, Error> {
        let image = match &spec.disk.image {
            Some(image) => Some(ImageCache::new(host, self, &spec.partition).ensure(image, units, progress).await?),
            None => None,
        };
        let gib = image.as_ref().map_or(spec.disk.gib, |image| spec.disk.gib.max(image.capacity_gib));
        let clone_of = image.as_ref().map(|image| image.device.as_str());
        let name = spec.unit();
        let unit = LogicalUnitSpec { name: &name, gib, is_image: false, clone_of };
        match host.client().create_logical_unit(&self.tier, &unit).await {
            Ok(made) => Ok(made.device),
            Err(error) => Err(self.not_made(host, &name, image.as_ref(), error).await),
        }
    }

    /// Why a unit was not made. If its image has gone meanwhile, trying again helps.
    async fn not_made(&self, host: &Host, name: &str, image: Option<&LogicalUnit>, error: crate::Error) -> Error {
        if let Some(image) = image
            && let Ok(units) = self.units(host).await
            && !units.iter().any(|unit| unit.device == image.device)
        {
            let (what, whom) = (format!("image {}", image.name), "somebody who has deleted it".to_owned());
            return Error::Busy { what, host: host.label(), whom };
        }
        host.failed(format!("making logical unit {name}"), error)
    }

    pub(super) async fn remove(&self, host: &Arc<Host>, spec: &DiskSpec) -> Result<(), Error> {
        let name = spec.unit();
        let turn = spec.disk.image.as_ref().map(|image| host.turn(&format!("image {}", image.name)));
        let _turn = match &turn {
            Some(turn) => Some(turn.lock().await),
            None => None,
        };
        let units = self.units(host).await?;
        if let Some(unit) = units.iter().find(|unit| unit.name == name) {
            self.delete(host, unit).await?;
        }
        match &spec.disk.image {
            Some(image) => ImageCache::new(host, self, &spec.partition).release(image, units, &name).await,
            None => Ok(()),
        }
    }

    pub(in crate::compute) async fn delete(&self, host: &Host, unit: &LogicalUnit) -> Result<(), Error> {
        let deleted = host.client().delete_logical_unit(&self.tier, &unit.id).await;
        deleted.map_err(|error| host.failed(format!("deleting logical unit {}", unit.name), error))
    }
}
