//! Snapshots: taken, merged away, gone back to.

use super::operations::{disks_of, unlock_disks_of};
use super::power;
use super::vm::Event;
use crate::ovirt::model::{Frozen, FrozenDisk, Snapshot, SnapshotStatus, SnapshotType, VmStatus};
use crate::ovirt::state::State;
use crate::ovirt::storage;
use crate::ovirt::table::Id;

/// What a snapshot of a VM keeps at this moment.
pub(crate) fn freeze(state: &State, vm: Id) -> Option<Frozen> {
    let vm = state.vms.get(vm)?;
    let disks = vm.disks.iter().filter_map(|attachment| state.disks.get(attachment.disk)).map(|disk| FrozenDisk {
        disk: disk.id,
        image: disk.image,
        provisioned_bytes: disk.provisioned_bytes,
        actual_bytes: disk.actual_bytes,
    });
    Some(Frozen { config: vm.config.clone(), disks: disks.collect(), nics: vm.nics.clone() })
}

/// A snapshot was taken: each disk goes on in a new image on top of the old one.
pub(crate) fn created(state: &mut State, vm: Id, snapshot: Id) {
    for disk in disks_of(state, vm) {
        keep_bytes(state, disk);
        let image = state.new_id();
        storage::change(state, disk, |disk| {
            disk.snapshot_bytes = disk.snapshot_bytes.saturating_add(disk.actual_bytes);
            disk.actual_bytes = 0;
            disk.image = image;
        });
    }
    if let Some(snapshot) = find(state, vm, snapshot) {
        snapshot.status = SnapshotStatus::Ok;
    }
    release(state, vm);
}

/// A snapshot was merged into what came after it.
pub(crate) fn removed(state: &mut State, vm: Id, snapshot: Id) {
    let frozen = take(state, vm, snapshot).and_then(|snapshot| snapshot.frozen);
    for kept in frozen.map(|frozen| frozen.disks).unwrap_or_default() {
        drop(state.images.0.remove(kept.image));
        storage::change(state, kept.disk, |disk| {
            let merged = kept.actual_bytes.min(disk.snapshot_bytes);
            disk.snapshot_bytes -= merged;
            disk.actual_bytes = disk.actual_bytes.saturating_add(merged).min(disk.provisioned_bytes);
        });
    }
    release(state, vm);
}

/// A VM went back: its configuration and disks are as they were, and what was written since is gone.
pub(crate) fn restored(state: &mut State, vm: Id, snapshot: Id) {
    let frozen = find(state, vm, snapshot).map(|snapshot| {
        snapshot.status = SnapshotStatus::Ok;
        snapshot.frozen.clone()
    });
    if let Some(frozen) = frozen.flatten() {
        for kept in &frozen.disks {
            copy_bytes(state, kept.image, kept.disk);
            storage::change(state, kept.disk, |disk| {
                disk.provisioned_bytes = kept.provisioned_bytes;
                disk.actual_bytes = 0;
            });
        }
        if let Some(vm) = state.vms.get_mut(vm) {
            vm.config = frozen.config;
            vm.next_run = None;
        }
    }
    release(state, vm);
}

/// Keeps the bytes of a disk under the id of the image that the snapshot holds.
fn keep_bytes(state: &State, disk: Id) {
    if let Some(disk) = state.disks.get(disk) {
        copy_bytes(state, disk.id, disk.image);
    }
}

fn copy_bytes(state: &State, from: Id, to: Id) {
    if let Err(error) = state.images.0.copy(from, to) {
        tracing::error!(%from, %to, error = &error as &dyn std::error::Error, "an image was not copied");
    }
}

/// Ends the reservation of a VM whose snapshots were worked on.
fn release(state: &mut State, vm: Id) {
    unlock_disks_of(state, vm);
    state.busy.remove(&vm);
    if state.vms.get(vm).is_some_and(|vm| vm.status == VmStatus::ImageLocked) {
        power::due(state, vm, Event::Unlock);
    }
}

fn find(state: &mut State, vm: Id, snapshot: Id) -> Option<&mut Snapshot> {
    state.vms.get_mut(vm)?.snapshots.iter_mut().find(|one| one.id == snapshot)
}

fn take(state: &mut State, vm: Id, snapshot: Id) -> Option<Snapshot> {
    let snapshots = &mut state.vms.get_mut(vm)?.snapshots;
    let at = snapshots.iter().position(|one| one.id == snapshot && one.kind == SnapshotType::Regular)?;
    Some(snapshots.remove(at))
}
