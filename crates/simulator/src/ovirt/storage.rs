//! The space on storage domains: every disk goes through here, so that what is used always adds up.

use super::fault::Fault;
use super::messages::Attempt;
use super::model::{Disk, DiskFormat, StorageDomain, StorageDomainStatus};
use super::state::State;
use super::table::Id;

/// What an image in a file occupies before anything is written into it.
const EMPTY_FILE_IMAGE: u64 = 200_704;
/// What a file without any content occupies: its first block.
const EMPTY_RAW_FILE: u64 = 4096;
/// What a thin volume on a block device occupies at first.
const BLOCK_EXTENT: u64 = 1 << 30;

/// The bytes that a disk occupies on each of its domains.
fn footprint(disk: &Disk) -> u64 {
    disk.actual_bytes.saturating_add(disk.snapshot_bytes)
}

fn charge(state: &mut State, disk: &Disk) {
    for domain in &disk.storage_domains {
        if let Some(domain) = state.storage_domains.get_mut(*domain) {
            domain.used_bytes = domain.used_bytes.saturating_add(footprint(disk));
            domain.committed_bytes = domain.committed_bytes.saturating_add(disk.provisioned_bytes);
        }
    }
}

fn refund(state: &mut State, disk: &Disk) {
    for domain in &disk.storage_domains {
        if let Some(domain) = state.storage_domains.get_mut(*domain) {
            domain.used_bytes = domain.used_bytes.saturating_sub(footprint(disk));
            domain.committed_bytes = domain.committed_bytes.saturating_sub(disk.provisioned_bytes);
        }
    }
}

/// Adds a disk.
pub(crate) fn add(state: &mut State, disk: Disk) {
    charge(state, &disk);
    state.disks.insert(disk);
}

/// Removes a disk.
pub(crate) fn remove(state: &mut State, id: Id) -> Option<Disk> {
    let disk = state.disks.remove(id)?;
    refund(state, &disk);
    Some(disk)
}

/// Changes a disk in anything, also in what it occupies and where it is.
pub(crate) fn change<R>(state: &mut State, id: Id, change: impl FnOnce(&mut Disk) -> R) -> Option<R> {
    // Out and in again: the accounts of the domains and the disk cannot be borrowed together.
    let mut disk = state.disks.remove(id)?;
    refund(state, &disk);
    let result = change(&mut disk);
    charge(state, &disk);
    state.disks.insert(disk);
    Some(result)
}

/// What a new, empty disk occupies.
#[allow(clippy::match_same_arms, reason = "a table of what is thin and where")]
pub(crate) fn initial_bytes(
    domain: &StorageDomain,
    format: DiskFormat,
    sparse: bool,
    provisioned: u64,
    initial: u64,
) -> u64 {
    match (sparse, format, domain.is_block()) {
        (false, _, _) => provisioned,
        (true, DiskFormat::Cow, true) => initial.max(BLOCK_EXTENT).min(provisioned.max(BLOCK_EXTENT)),
        (true, DiskFormat::Raw, true) => provisioned,
        (true, DiskFormat::Cow, false) => EMPTY_FILE_IMAGE,
        (true, DiskFormat::Raw, false) => EMPTY_RAW_FILE,
    }
}

/// The domain, if it is in service and has room for that much more.
pub(crate) fn room(state: &State, id: Id, bytes: u64, attempt: Attempt) -> Result<&StorageDomain, Fault> {
    let domain =
        state.storage_domains.get(id).ok_or_else(|| Fault::missing("StorageDomain", format_args!("id={id}")))?;
    if domain.status != StorageDomainStatus::Active {
        return Err(attempt.conflict(&format!(
            "The relevant Storage Domain's status is {}.",
            domain.status.as_str().to_ascii_uppercase()
        )));
    }
    if state.cause.no_capacity || !domain.has_room(bytes) {
        return Err(attempt.no_space(&domain.name));
    }
    Ok(domain)
}
