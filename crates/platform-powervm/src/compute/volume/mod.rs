//! Volumes of storage servers: VIOSes find them as disks of theirs, and pass them on to partitions over every path there is.

mod attach;
mod discovery;
mod fibre;
mod ports;

use std::sync::Arc;

use futures::future::join_all;
use serde::{Deserialize, Serialize};

use super::{Backing, Error, Host, PartitionId, Vios, Volume, mapping::Change};
use crate::client::{Entry, Storage, linked_id};
use crate::xml::Element;

pub(super) use discovery::forget;
pub(super) use fibre::PhysicalPort;

pub use attach::{attach_volume, detach_volume};
pub use fibre::{Fabric, assign_fibre_ports};
pub use ports::{attach_fibre_ports, detach_fibre_ports};

/// How often a VIOS that has trouble looks for a volume.
const ATTEMPTS: u32 = 3;

/// A volume of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct VolumeSpec {
    pub(super) partition: PartitionId,
    pub(super) volume: Volume,
}

/// Where a volume was found, and by which device id it is known there.
pub(super) struct Found {
    pub(super) backings: Vec<Backing>,
    pub(super) device: String,
}

/// Lets every VIOS look for the volume, side by side. One that finds it is enough.
pub(super) async fn find(host: &Arc<Host>, spec: &VolumeSpec) -> Result<Found, Error> {
    let vioses = host.vioses().await?;
    let looks = join_all(vioses.iter().map(|vios| look_again(host, vios, &spec.volume))).await;
    let mut found = Found { backings: Vec::new(), device: String::new() };
    let mut trouble = None;
    for (vios, look) in vioses.iter().zip(looks) {
        match look {
            Ok(Some(disk)) => {
                let storage = Storage::PhysicalVolume(disk.name);
                let tag = Some(spec.volume.id.clone());
                found.backings.push(Backing { vios: vios.id.clone(), storage, tag });
                found.device = disk.device;
            }
            Ok(None) => {}
            Err(error) => trouble = Some(error),
        }
    }
    match trouble {
        _ if !found.backings.is_empty() => Ok(found),
        Some(error) => Err(error),
        None => Err(Error::Refused {
            what: format!("volume {}", spec.volume.id),
            host: host.label(),
            done: "found",
            reason: "no VIOS sees it on any path; check the zones of the fabric and the host definition at the storage server"
                .to_owned(),
        }),
    }
}

/// One VIOS looks, a few times if it has trouble that passes: a path that is not found now is missed later.
async fn look_again(host: &Host, vios: &Vios, volume: &Volume) -> Result<Option<discovery::Disk>, Error> {
    let mut attempt = 1;
    // waits: ends after so many attempts
    loop {
        match look(host, vios, volume).await {
            Err(error) if error.class().is_retryable() && attempt < ATTEMPTS => {
                tokio::time::sleep(host.jobs().interval * attempt).await;
                attempt += 1;
            }
            outcome => return outcome,
        }
    }
}

/// One VIOS looks. What partitions that are gone have left can keep it from finding the disk, so then that goes, once.
async fn look(host: &Host, vios: &Vios, volume: &Volume) -> Result<Option<discovery::Disk>, Error> {
    if vios.ports.is_empty() {
        return Ok(None);
    }
    if let Some(disk) = discovery::recover(host, vios, volume).await? {
        return Ok(Some(disk));
    }
    let changes = [(vios.id.clone(), vec![Change::ScrubAll])].into();
    let applied = host.change(changes).await?;
    if applied.values().all(|applied| applied.released.is_empty()) {
        return Ok(None);
    }
    discovery::recover(host, vios, volume).await
}

/// Takes the volume from the partition if it has it, and lets VIOSes forget the disks that nobody uses then.
pub(super) async fn release(host: &Arc<Host>, spec: &VolumeSpec) -> Result<(), Error> {
    let mut disks = shown_of(&host.recent_scsi_mappings().await?, spec);
    let changes = disks.iter().map(|backing| {
        let storage = Some(backing.storage.clone());
        (backing.vios.clone(), vec![Change::Unmap { partition: spec.partition.clone(), storage }])
    });
    let applied = host.change(changes.collect()).await?;
    // On others it may be between the two: not mapped, and not forgotten.
    let vioses = host.vioses().await?;
    let rest = vioses
        .iter()
        .filter(|vios| !vios.ports.is_empty() && !disks.iter().any(|disk| disk.vios.eq_ignore_ascii_case(&vios.id)));
    let rest: Vec<&Vios> = rest.collect();
    let looks = join_all(rest.iter().map(|vios| discovery::recover(host, vios, &spec.volume))).await;
    for (vios, look) in rest.into_iter().zip(looks) {
        let disk = look?.map(|disk| Storage::PhysicalVolume(disk.name));
        disks.extend(disk.map(|storage| Backing { vios: vios.id.clone(), storage, tag: None }));
    }
    let forgotten = join_all(disks.iter().map(|disk| {
        let applied = applied.get(&disk.vios);
        async move {
            match applied {
                // What was just changed says whether anybody else has the disk.
                Some(applied) if applied.still_maps(&disk.storage) => Ok(()),
                Some(_) => discovery::remove(host, disk).await,
                None => discovery::forget(host, disk).await,
            }
        }
    }));
    let forgotten = forgotten.await;
    forgotten.into_iter().collect()
}

/// The disks of storage servers that VIOSes show to a partition, however they were attached.
pub(super) fn all_shown(vioses: &[Entry], partition: &PartitionId) -> Vec<Backing> {
    let is_remote = |disk: &Element| disk.text_at("IsFibreChannelBacked").as_deref() == Some("true");
    disks_shown(vioses, partition, is_remote)
}

/// The disks by which VIOSes show the volume to the partition.
pub(super) fn shown_of(vioses: &[Entry], spec: &VolumeSpec) -> Vec<Backing> {
    let is_it = |disk: &Element| {
        let text = |name: &str| disk.text_at(name).unwrap_or_default();
        text("Tag") == spec.volume.id
            || spec.volume.device.as_ref().is_some_and(|device| text("UniqueDeviceID") == *device)
    };
    disks_shown(vioses, &spec.partition, is_it)
}

fn disks_shown(vioses: &[Entry], partition: &PartitionId, is_it: impl Fn(&Element) -> bool) -> Vec<Backing> {
    let mut found = Vec::new();
    for vios in vioses {
        let list = vios.object.child("VirtualSCSIMappings").into_iter().flat_map(|list| list.all("VirtualSCSIMapping"));
        for mapping in list {
            let owner = mapping.child("AssociatedLogicalPartition").and_then(linked_id);
            let own = owner.is_some_and(|id| id.eq_ignore_ascii_case(partition.as_str()));
            if let Some(disk) = mapping.at("Storage/PhysicalVolume").filter(|disk| own && is_it(disk)) {
                let storage = Storage::PhysicalVolume(disk.text_at("VolumeName").unwrap_or_default());
                found.push(Backing { vios: vios.id.clone(), storage, tag: disk.text_at("Tag") });
            }
        }
    }
    found
}
