//! Disks in a shared storage pool.

use std::sync::Arc;

use landfall_platform::Progress;

use super::{
    DiskSpec,
    image_cache::{ImageCache, complete},
};
use crate::client::{LogicalUnit, LogicalUnitSpec, Storage};
use crate::compute::{Backing, DiskPlace, Error, Host, PartitionId};

/// The digits of a partition's id in the names of its disks.
const DIGITS: usize = 8;
/// What the list of all pools is remembered by.
const ALL: &str = "";

/// A tier of a pool, and the VIOSes that show it.
#[derive(Clone, Debug)]
pub(in crate::compute) struct Pool {
    /// The name of the pool.
    name: String,
    tier_name: String,
    is_default: bool,
    /// The id of the tier.
    pub(super) tier: String,
    /// The id of the pool's cluster.
    cluster: Option<String>,
    /// The ids of the VIOSes of that cluster, on all servers.
    vioses: Vec<String>,
}

/// The tier of a name in the pool of a name, if there is one.
fn chosen<'a>(all: &'a [Pool], pool: Option<&str>, tier: Option<&str>) -> Option<&'a Pool> {
    let pool = pool.or_else(|| all.first().map(|first| first.name.as_str()))?;
    all.iter().find(|known| known.name == pool && tier.map_or(known.is_default, |name| known.tier_name == name))
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
        let DiskPlace::Pool { pool, tier } = &self.disk.place else {
            let what = format!("shared storage pool with disk {}", self.disk.name);
            return Err(Error::Missing { what, host: host.label() });
        };
        let pool = Pool::find(host, pool.as_deref(), tier.as_deref()).await?;
        pool.unit_of(host, self).await.map(|unit| unit.device)
    }
}

impl Pool {
    /// The pool of a name, or the first one, and its tier of a name, or the default one.
    pub(in crate::compute) async fn find(host: &Host, pool: Option<&str>, tier: Option<&str>) -> Result<Self, Error> {
        if let Some(found) = chosen(&Self::all(host).await?, pool, tier) {
            return Ok(found.clone());
        }
        // Somebody may have made it meanwhile.
        let all = Self::read_all(host).await?;
        host.pools.learn(ALL, &all).await;
        let found = chosen(&all, pool, tier).cloned();
        found.ok_or_else(|| {
            let whose =
                pool.map_or_else(|| "shared storage pool".to_owned(), |pool| format!("shared storage pool {pool}"));
            let exists = all.iter().any(|known| pool.is_none_or(|name| known.name == name));
            let what = if exists { format!("tier {} in {whose}", tier.unwrap_or("by default")) } else { whose };
            Error::Missing { what, host: host.label() }
        })
    }

    /// All tiers of all pools.
    pub(in crate::compute) async fn all(host: &Host) -> Result<Vec<Self>, Error> {
        host.pools.or_read(ALL, Self::read_all(host)).await
    }

    async fn read_all(host: &Host) -> Result<Vec<Self>, Error> {
        let failed = |error| host.failed("reading the shared storage pools", error);
        let client = host.client();
        let (clusters, pools) = tokio::try_join!(client.clusters(), client.pools()).map_err(failed)?;
        let mut all = Vec::new();
        for pool in &pools {
            let of_pool = |id: &Option<String>| id.as_deref().is_some_and(|id| id.eq_ignore_ascii_case(&pool.id));
            let cluster = clusters.iter().find(|cluster| of_pool(&cluster.pool));
            let nodes = cluster.into_iter().flat_map(|cluster| &cluster.nodes);
            let vioses: Vec<String> = nodes.filter_map(|node| node.vios.clone()).collect();
            let cluster = cluster.map(|cluster| cluster.id.clone());
            for tier in client.tiers(&pool.id).await.map_err(failed)? {
                all.push(Self {
                    name: pool.name.clone(),
                    tier_name: tier.name,
                    is_default: tier.is_default,
                    tier: tier.id,
                    cluster: cluster.clone(),
                    vioses: vioses.clone(),
                });
            }
        }
        Ok(all)
    }

    /// Where disks of it are.
    pub(in crate::compute) fn place(&self) -> DiskPlace {
        DiskPlace::Pool { pool: Some(self.name.clone()), tier: Some(self.tier_name.clone()) }
    }

    /// What is left of it.
    pub(super) async fn free_gib(&self, host: &Host) -> Result<f64, Error> {
        let pools = host.client().pools().await;
        let pools = pools.map_err(|error| host.failed("reading the room in the shared storage pool", error))?;
        let own = pools.into_iter().find(|pool| pool.name == self.name);
        let what = || format!("shared storage pool {}", self.name);
        own.map(|pool| pool.free_gib).ok_or_else(|| Error::Missing { what: what(), host: host.label() })
    }

    pub(in crate::compute) async fn units(&self, host: &Host) -> Result<Vec<LogicalUnit>, Error> {
        let read = async {
            let units = host.client().logical_units(&self.tier).await;
            units.map_err(|error| host.failed("reading the logical units", error))
        };
        host.units.read(&self.tier, read).await
    }

    /// The unit of a disk that is there.
    pub(super) async fn unit_of(&self, host: &Host, spec: &DiskSpec) -> Result<LogicalUnit, Error> {
        let name = spec.unit();
        let unit = self.units(host).await?.into_iter().find(|unit| unit.name == name);
        unit.ok_or_else(|| Error::Missing { what: format!("logical unit {name}"), host: host.label() })
    }

    /// Makes the disk as large as it shall be. One that is as large, or larger, is as good.
    pub(super) async fn grow(&self, host: &Host, spec: &DiskSpec) -> Result<(), Error> {
        let unit = self.unit_of(host, spec).await?;
        if unit.capacity_gib >= spec.disk.gib {
            return Ok(());
        }
        let what = || format!("cluster of VIOSes with shared storage pool {}", self.name);
        let cluster = self.cluster.as_ref().ok_or_else(|| Error::Missing { what: what(), host: host.label() })?;
        let grown = host.client().grow_logical_unit(cluster, &unit.device, spec.disk.gib, host.jobs()).await;
        grown.map_err(|error| host.failed(format!("making logical unit {} larger", unit.name), error))
    }

    /// Makes the disk, a clone of its image if it has one.
    pub(super) async fn ensure(
        &self,
        host: &Arc<Host>,
        spec: &DiskSpec,
        progress: Progress<'_>,
    ) -> Result<Vec<Backing>, Error> {
        let device = self.find_or_make(host, spec, progress).await?;
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

    /// The device id of the unit, which is made if it is not there.
    async fn find_or_make(&self, host: &Arc<Host>, spec: &DiskSpec, progress: Progress<'_>) -> Result<String, Error> {
        let name = spec.unit();
        let known = |units: &[LogicalUnit]| units.iter().find(|unit| unit.name == name).map(|unit| unit.device.clone());
        let Some(image) = &spec.disk.image else {
            return match known(&self.units(host).await?) {
                Some(device) => Ok(device),
                None => self.make(host, spec, None).await,
            };
        };
        // Within this program one uploads an image and the others wait; and nobody deletes it before it is cloned.
        let lock = host.image(&image.name);
        {
            let _together = lock.read().await;
            let units = self.units(host).await?;
            if let Some(device) = known(&units) {
                return Ok(device);
            }
            if let Some(complete) = complete(&units, &image.name) {
                return self.make(host, spec, Some(complete)).await;
            }
        }
        let _alone = lock.write().await;
        let image = ImageCache::new(host, self, &spec.partition).ensure(image, progress).await?;
        self.make(host, spec, Some(&image)).await
    }

    /// Makes the unit; its device id.
    async fn make(&self, host: &Host, spec: &DiskSpec, image: Option<&LogicalUnit>) -> Result<String, Error> {
        let gib = image.map_or(spec.disk.gib, |image| spec.disk.gib.max(image.capacity_gib));
        let clone_of = image.map(|image| image.device.as_str());
        let name = spec.unit();
        let unit = LogicalUnitSpec { name: &name, gib, is_image: false, clone_of };
        match host.client().create_logical_unit(&self.tier, &unit).await {
            Ok(made) => Ok(made.device),
            Err(error) => Err(self.not_made(host, &name, image, error).await),
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
        let failed = |error| host.failed(format!("deleting logical unit {name}"), error);
        if let (Some(id), None) = (&spec.seen, &spec.disk.image) {
            return host.client().delete_logical_unit(&self.tier, id).await.map_err(failed);
        }
        let turn = spec.disk.image.as_ref().map(|image| host.image(&image.name));
        let _alone = match &turn {
            Some(turn) => Some(turn.write().await),
            None => None,
        };
        let units = self.units(host).await?;
        let is_it = |unit: &&LogicalUnit| unit.name == name || spec.seen.as_ref() == Some(&unit.id);
        let unit = units.iter().find(is_it).cloned();
        if let Some(unit) = &unit {
            self.delete(host, unit).await?;
        }
        let gone = unit.map_or(name, |unit| unit.name);
        match &spec.disk.image {
            Some(image) => ImageCache::new(host, self, &spec.partition).release(image, units, &gone).await,
            None => Ok(()),
        }
    }

    pub(in crate::compute) async fn delete(&self, host: &Host, unit: &LogicalUnit) -> Result<(), Error> {
        let deleted = host.client().delete_logical_unit(&self.tier, &unit.id).await;
        deleted.map_err(|error| host.failed(format!("deleting logical unit {}", unit.name), error))
    }
}
