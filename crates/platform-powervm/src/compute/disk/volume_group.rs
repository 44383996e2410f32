//! Disks in a volume group of one VIOS.

use std::sync::Arc;

use landfall_platform::Progress;

use super::DiskSpec;
use crate::client::{Before, FileKind, Source, Storage, Upload, VolumeGroup};
use crate::compute::{Backing, Error, Host, PartitionId, Vios};

/// How the names of a partition's disks end: names have 15 characters.
pub(in crate::compute) fn suffix(partition: &PartitionId) -> String {
    partition.tail(12)
}

impl DiskSpec {
    /// The name of its virtual disk.
    fn virtual_disk(&self) -> String {
        format!("d{:02}{}", self.number % 100, suffix(&self.partition))
    }
}

/// Makes the disk, with its image on it.
pub(super) async fn ensure(
    host: &Arc<Host>,
    spec: &DiskSpec,
    vios: &str,
    group: &str,
    progress: Progress<'_>,
) -> Result<Vec<Backing>, Error> {
    let name = spec.virtual_disk();
    let (vios, found) = place(host, vios, group).await?;
    let client = host.client();
    let failed = |error| host.failed(format!("making virtual disk {name}"), error);
    let backing = Backing { vios: vios.id.clone(), storage: Storage::VirtualDisk(name.clone()), tag: None };
    let known = found.disks.iter().find(|disk| disk.name == name);
    // A disk that is shown to a partition has its image; of another nobody knows how much of it was written.
    if known.is_some() && (spec.disk.image.is_none() || host.maps(&vios.id, &backing.storage).await?) {
        return Ok(vec![backing]);
    }
    let device = if let Some(disk) = known {
        Some(disk.device.clone())
    } else {
        let made = client.create_disk(&vios.id, &found.id, &name, spec.disk.gib).await.map_err(failed)?;
        made.disks.iter().find(|disk| disk.name == name).map(|disk| disk.device.clone())
    };
    let missing = || Error::Missing { what: format!("virtual disk {name}"), host: host.label() };
    let device = device.ok_or_else(missing)?;
    if let Some(image) = &spec.disk.image {
        progress(format!("writes image {} to {name}", image.name));
        let _place = host.uploads.acquire().await;
        let kind = FileKind::DiskImage { device };
        let upload = Upload { name: &name, kind, vios: &vios.id, before: Before::Unknown };
        client.upload(&upload, Source::File(&image.file), |_, _| ()).await.map_err(failed)?;
    }
    Ok(vec![backing])
}

/// How large the disk is.
pub(super) async fn size(host: &Host, spec: &DiskSpec, vios: &str, group: &str) -> Result<f64, Error> {
    let name = spec.virtual_disk();
    let (_, group) = place(host, vios, group).await?;
    let disk = group.disks.iter().find(|disk| disk.name == name);
    let missing = || Error::Missing { what: format!("virtual disk {name}"), host: host.label() };
    disk.map(|disk| disk.capacity_gib).ok_or_else(missing)
}

/// Makes the disk as large as it shall be. One that is as large, or larger, is as good.
pub(super) async fn grow(host: &Host, spec: &DiskSpec, vios: &str, group: &str) -> Result<(), Error> {
    let name = spec.virtual_disk();
    let (vios, group) = place(host, vios, group).await?;
    let grown = host.client().grow_disk(&vios.id, &group.id, &name, spec.disk.gib).await;
    grown.map(drop).map_err(|error| host.failed(format!("making virtual disk {name} larger"), error))
}

/// Deletes the disk.
pub(super) async fn remove(host: &Arc<Host>, spec: &DiskSpec, vios: &str, group: &str) -> Result<(), Error> {
    let name = spec.seen.clone().unwrap_or_else(|| spec.virtual_disk());
    if spec.disk.image.is_some() {
        host.forget_uploads(&name).await?;
    }
    let (vios, found) = place(host, vios, group).await?;
    if found.disks.iter().any(|disk| disk.name == name) {
        let deleted = host.client().delete_disk(&vios.id, &found.id, &name).await;
        deleted.map_err(|error| host.failed(format!("deleting virtual disk {name}"), error))?;
    }
    Ok(())
}

async fn place(host: &Host, vios: &str, group: &str) -> Result<(Vios, VolumeGroup), Error> {
    let missing = |what: String| Error::Missing { what, host: host.label() };
    let found = host.vioses().await?.into_iter().find(|found| found.name == vios);
    let found = found.ok_or_else(|| missing(format!("VIOS {vios} that runs")))?;
    let groups = host.volume_groups(&found.id).await?;
    let group = groups.into_iter().find(|known| known.name == group);
    let group = group.ok_or_else(|| missing(format!("volume group of that name on VIOS {vios}")))?;
    Ok((found, group))
}
