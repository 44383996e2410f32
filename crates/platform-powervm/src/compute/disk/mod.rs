//! Disks that belong to one partition: in a shared storage pool, or in a volume group of one VIOS.

mod image_cache;
mod pool;
mod stall;
mod volume_group;

use std::sync::Arc;

use landfall_platform::Progress;
use serde::{Deserialize, Serialize};

use super::{Backing, Disk, DiskPlace, Error, Host, PartitionId};

pub(super) use image_cache::{image_of, is_copy, left_images};
pub(super) use pool::{Pool, names_of as units_of};
pub use stall::Patience;
pub(super) use stall::Stalls;
pub(super) use volume_group::suffix as virtual_disk_suffix;

/// A disk of a partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct DiskSpec {
    pub(super) partition: PartitionId,
    pub(super) partition_name: String,
    /// Its place in the list of the partition's disks.
    pub(super) number: usize,
    pub(super) disk: Disk,
    /// What it was seen as: the id of a unit, the name of a virtual disk.
    #[serde(default)]
    pub(super) seen: Option<String>,
}

/// Makes the disk, with its image on it. What shows it, and where.
pub(super) async fn ensure(host: &Arc<Host>, spec: &DiskSpec, progress: Progress<'_>) -> Result<Vec<Backing>, Error> {
    match &spec.disk.place {
        DiskPlace::Pool { pool, tier } => {
            let pool = Pool::find(host, pool.as_deref(), tier.as_deref()).await?;
            pool.ensure(host, spec, progress).await
        }
        DiskPlace::VolumeGroup { vios, group } => volume_group::ensure(host, spec, vios, group, progress).await,
    }
}

/// Deletes the disk, which nothing may show any more, and the image that it was made from if nobody else uses that.
pub(super) async fn remove(host: &Arc<Host>, spec: &DiskSpec) -> Result<(), Error> {
    match &spec.disk.place {
        DiskPlace::Pool { pool, tier } => {
            let pool = Pool::find(host, pool.as_deref(), tier.as_deref()).await?;
            pool.remove(host, spec).await
        }
        DiskPlace::VolumeGroup { vios, group } => volume_group::remove(host, spec, vios, group).await,
    }
}

/// How large a disk is that is there.
pub(super) async fn size(host: &Host, spec: &DiskSpec) -> Result<f64, Error> {
    match &spec.disk.place {
        DiskPlace::Pool { pool, tier } => {
            let pool = Pool::find(host, pool.as_deref(), tier.as_deref()).await?;
            pool.unit_of(host, spec).await.map(|unit| unit.capacity_gib)
        }
        DiskPlace::VolumeGroup { vios, group } => volume_group::size(host, spec, vios, group).await,
    }
}

/// Makes a disk that is there as large as it shall be. No disk becomes smaller.
pub(super) async fn grow(host: &Host, spec: &DiskSpec) -> Result<(), Error> {
    match &spec.disk.place {
        DiskPlace::Pool { pool, tier } => {
            let pool = Pool::find(host, pool.as_deref(), tier.as_deref()).await?;
            pool.grow(host, spec).await
        }
        DiskPlace::VolumeGroup { vios, group } => volume_group::grow(host, spec, vios, group).await,
    }
}
