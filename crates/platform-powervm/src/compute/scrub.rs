//! What partitions that are gone have left on VIOSes.
//!
//! Numbers of partitions are used again, and with them what an earlier one was shown. So what nobody is at the other end of is
//! removed: on demand from a whole server, and before a new partition gets anything. Of what was shown, only config drives and
//! disks that were made by this program for one partition are deleted; volumes, logical units and other people's media stay.

use std::collections::BTreeMap;

use super::{Error, Host, PartitionId, inventory, mapping::Change};
use crate::client::Storage;

/// Removes what partitions that are gone have left on all VIOSes. How many things were shown to nobody, or by nobody.
///
/// It needs no journal: whoever is cut off leaves things that are known by their names, and the next one finds those.
pub async fn scrub(host: &Host) -> Result<usize, Error> {
    let vioses = host.vioses().await?;
    let changes = vioses.iter().map(|vios| (vios.id.clone(), vec![Change::ScrubAll])).collect();
    let shown = host.tidy(changes).await?;
    let partitions = inventory::list(host).await?;
    let digits: Vec<String> =
        partitions.iter().filter_map(|known| Some(known.id.parse::<PartitionId>().ok()?.digits())).collect();
    let has_owner = |storage: &Storage| match storage {
        Storage::OpticalMedium(name) | Storage::VirtualDisk(name) => {
            digits.iter().any(|digits| name.get(3..).is_some_and(|rest| digits.ends_with(rest.trim_start_matches('_'))))
        }
        Storage::PhysicalVolume(_) | Storage::LogicalUnit(_) => true,
    };
    let mut hidden = 0;
    for vios in &vioses {
        for group in host.volume_groups(&vios.id).await? {
            let media = group.media.iter().flatten().map(|medium| Storage::OpticalMedium(medium.name.clone()));
            let disks = group.disks.iter().map(|disk| Storage::VirtualDisk(disk.name.clone()));
            for storage in media.chain(disks).filter(|storage| is_ours(storage) && !has_owner(storage)) {
                if !host.maps(&vios.id, &storage).await? {
                    host.delete_storage(&vios.id, &storage).await?;
                    hidden += 1;
                }
            }
        }
    }
    Ok(shown + hidden)
}

impl Host {
    /// Makes changes, and deletes what was made for one partition and is shown to nobody any more.
    pub(super) async fn tidy(&self, changes: BTreeMap<String, Vec<Change>>) -> Result<usize, Error> {
        let mut count = 0;
        for (vios, applied) in self.change(changes).await? {
            count += applied.released.len();
            for storage in applied.released.iter().filter(|storage| is_ours(storage)) {
                if !applied.still_maps(storage) {
                    self.delete_storage(&vios, storage).await?;
                }
            }
        }
        Ok(count)
    }

    async fn delete_storage(&self, vios: &str, storage: &Storage) -> Result<(), Error> {
        let failed = |error| self.failed("deleting what a partition that is gone has left", error);
        for group in self.volume_groups(vios).await? {
            match storage {
                Storage::OpticalMedium(name) if group.media.is_some() => {
                    self.delete_medium(vios, &group.id, name).await?;
                }
                Storage::VirtualDisk(name) if group.disks.iter().any(|disk| disk.name == *name) => {
                    self.client().delete_disk(vios, &group.id, name).await.map_err(failed)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether this program made it for one partition, by its name.
fn is_ours(storage: &Storage) -> bool {
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    match storage {
        Storage::OpticalMedium(name) => name.strip_prefix("cfg_").is_some_and(|rest| digits(rest, 32)),
        Storage::VirtualDisk(name) => name.strip_prefix('d').is_some_and(|rest| digits(rest, 14)),
        Storage::PhysicalVolume(_) | Storage::LogicalUnit(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_this_program_made_is_deleted() {
        assert!(is_ours(&Storage::OpticalMedium(format!("cfg_{}", "0".repeat(32)))));
        assert!(is_ours(&Storage::VirtualDisk("d000123456789ab".to_owned())));
        for storage in [
            Storage::OpticalMedium("rhel.iso".to_owned()),
            Storage::VirtualDisk("data".to_owned()),
            Storage::LogicalUnit("27".to_owned()),
            Storage::PhysicalVolume("hdisk1".to_owned()),
        ] {
            assert!(!is_ours(&storage), "{storage:?}");
        }
    }
}
