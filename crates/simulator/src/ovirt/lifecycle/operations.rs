//! Work on storage that takes time: what is locked while it lasts, and what is so when it is done.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::jobs;
use super::vm::Event;
use super::{power, removal, snapshots};
use crate::ovirt::agenda::{Due, Key};
use crate::ovirt::model::{About, DiskStatus, JobStatus, Severity, TemplateStatus};
use crate::ovirt::state::State;
use crate::ovirt::storage;
use crate::ovirt::table::Id;

/// Work that is under way.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Operation {
    pub(crate) work: Work,
    /// When it will be done; `None` if it is held until somebody releases it.
    pub(crate) key: Option<Key>,
}

/// What is being done. The disks and VMs named are locked until it is done.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Work {
    /// The disks of a new VM are made.
    CreateVm { vm: Id, copies: Vec<Copy>, source: Option<Id> },
    /// A VM and its disks are removed, and the VM is to be seen until the end.
    RemoveVm { vm: Id },
    /// The disks of a VM that is gone already are removed.
    RemoveDisks { disks: Vec<Id> },
    /// A disk is made.
    CreateDisk { disk: Id },
    /// A disk is removed.
    RemoveDisk { disk: Id },
    /// A disk gets another size.
    ResizeDisk { disk: Id, bytes: u64 },
    /// A disk moves to another domain.
    MoveDisk { disk: Id, to: Id },
    /// A disk is copied to a new one.
    CopyDisk { source: Id, copy: Id },
    /// A template's disk is copied to another domain.
    SpreadDisk { disk: Id, to: Id },
    /// A disk gives back what it does not use.
    SparsifyDisk { disk: Id },
    /// A template is made from a VM.
    CreateTemplate { template: Id, vm: Id, copies: Vec<Copy> },
    /// A template and its disks are removed.
    RemoveTemplate { template: Id },
    /// A snapshot is taken.
    CreateSnapshot { vm: Id, snapshot: Id },
    /// A snapshot is merged away.
    RemoveSnapshot { vm: Id, snapshot: Id },
    /// A VM goes back to a snapshot.
    RestoreSnapshot { vm: Id, snapshot: Id },
}

/// An image that is made from another.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Copy {
    pub(crate) from: Id,
    pub(crate) to: Id,
}

impl Work {
    /// Whether an entity is locked because of this.
    pub(crate) fn concerns(&self, id: Id) -> bool {
        match self {
            Self::CreateVm { vm, copies, source } => {
                *vm == id || *source == Some(id) || copies.iter().any(|copy| copy.to == id)
            }
            Self::CreateTemplate { template, vm, copies } => {
                *template == id || *vm == id || copies.iter().any(|copy| copy.to == id || copy.from == id)
            }
            Self::RemoveVm { vm }
            | Self::CreateSnapshot { vm, .. }
            | Self::RemoveSnapshot { vm, .. }
            | Self::RestoreSnapshot { vm, .. } => *vm == id,
            Self::RemoveTemplate { template } => *template == id,
            Self::RemoveDisks { disks } => disks.contains(&id),
            Self::CopyDisk { source, copy } => *source == id || *copy == id,
            Self::CreateDisk { disk }
            | Self::RemoveDisk { disk }
            | Self::ResizeDisk { disk, .. }
            | Self::MoveDisk { disk, .. }
            | Self::SpreadDisk { disk, .. }
            | Self::SparsifyDisk { disk } => *disk == id,
        }
    }

    /// Whether a disk is gone when this is done.
    pub(crate) fn removes(&self, id: Id) -> bool {
        match self {
            Self::RemoveDisks { disks } => disks.contains(&id),
            Self::RemoveDisk { disk } => *disk == id,
            _ => false,
        }
    }
}

/// Begins work whose locks are already set, and returns its job.
pub(crate) fn begin(state: &mut State, description: &str, work: Work, takes: Duration) -> Id {
    let job = jobs::begin(state, description);
    let key = (!state.cause.held).then(|| state.later(takes, Due::Operation(job)));
    state.operations.insert(job, Operation { work, key });
    job
}

/// Finishes work at once, whether it was due, held or not due yet. False if there is no such work.
pub(crate) fn finish(state: &mut State, job: Id) -> bool {
    let Some(operation) = state.operations.remove(&job) else { return false };
    if let Some(key) = operation.key {
        state.agenda.cancel(key);
    }
    complete(state, operation.work);
    jobs::end_soon(state, job);
    true
}

/// Finishes work and its job at once: for clients that wait for the answer until everything is done.
pub(crate) fn finish_for_waiter(state: &mut State, job: Id) {
    if finish(state, job) {
        jobs::end(state, job, JobStatus::Finished);
    }
}

fn complete(state: &mut State, work: Work) {
    match work {
        Work::CreateVm { vm, copies, source } => {
            copy_images(state, &copies);
            if let Some(source) = source {
                unlock_disks_of(state, source);
                power::due(state, source, Event::Unlock);
            }
            power::due(state, vm, Event::Unlock);
            let name = state.vms.get(vm).map(|vm| vm.name.clone()).unwrap_or_default();
            let about = About { vm: Some(vm), ..About::default() };
            state.log(53, Severity::Normal, format!("VM {name} creation has been completed."), about);
        }
        Work::RemoveVm { vm } => removal::finish_vm(state, vm),
        Work::RemoveDisks { disks } => {
            for disk in disks {
                removal::finish_disk(state, disk);
            }
        }
        Work::CreateDisk { disk } | Work::SparsifyDisk { disk } => unlock(state, disk),
        Work::RemoveDisk { disk } => removal::finish_disk(state, disk),
        Work::ResizeDisk { disk, bytes } => {
            storage::change(state, disk, |disk| {
                disk.provisioned_bytes = bytes;
                if !disk.sparse {
                    disk.actual_bytes = bytes;
                }
                disk.status = DiskStatus::Ok;
            });
        }
        Work::MoveDisk { disk, to } => {
            let profile = default_profile(state, to);
            storage::change(state, disk, |disk| {
                disk.storage_domains = vec![to];
                disk.profile = profile;
                disk.status = DiskStatus::Ok;
            });
        }
        Work::CopyDisk { source, copy } => {
            copy_images(state, &[Copy { from: source, to: copy }]);
            unlock(state, source);
        }
        Work::SpreadDisk { disk, to } => {
            storage::change(state, disk, |disk| {
                if !disk.storage_domains.contains(&to) {
                    disk.storage_domains.push(to);
                }
                disk.status = DiskStatus::Ok;
            });
        }
        Work::CreateTemplate { template, vm, copies } => {
            copy_images(state, &copies);
            if let Some(template) = state.templates.get_mut(template) {
                template.status = TemplateStatus::Ok;
            }
            unlock_disks_of(state, vm);
            power::due(state, vm, Event::Unlock);
        }
        Work::RemoveTemplate { template } => removal::finish_template(state, template),
        Work::CreateSnapshot { vm, snapshot } => snapshots::created(state, vm, snapshot),
        Work::RemoveSnapshot { vm, snapshot } => snapshots::removed(state, vm, snapshot),
        Work::RestoreSnapshot { vm, snapshot } => snapshots::restored(state, vm, snapshot),
    }
}

/// Copies the bytes of images and makes the new disks usable; a disk whose bytes could not be copied is not.
fn copy_images(state: &mut State, copies: &[Copy]) {
    for Copy { from, to } in copies {
        let done = state.images.0.copy(*from, *to);
        if let Err(error) = &done {
            tracing::error!(%from, %to, error = error as &dyn std::error::Error, "an image was not copied");
        }
        if let Some(disk) = state.disks.get_mut(*to) {
            disk.status = if done.is_ok() { DiskStatus::Ok } else { DiskStatus::Illegal };
        }
    }
}

/// The disk profile that a domain's disks have if the client names none.
pub(crate) fn default_profile(state: &State, domain: Id) -> Option<Id> {
    state.disk_profiles.iter().find(|profile| profile.storage_domain == domain).map(|profile| profile.id)
}

/// Locks a disk.
pub(crate) fn lock(state: &mut State, disk: Id) {
    if let Some(disk) = state.disks.get_mut(disk) {
        disk.status = DiskStatus::Locked;
    }
}

/// Unlocks a disk; one that was found bad meanwhile stays so.
pub(crate) fn unlock(state: &mut State, disk: Id) {
    if let Some(disk) = state.disks.get_mut(disk).filter(|disk| disk.status == DiskStatus::Locked) {
        disk.status = DiskStatus::Ok;
    }
}

/// Locks all disks of a VM.
pub(crate) fn lock_disks_of(state: &mut State, vm: Id) {
    for disk in disks_of(state, vm) {
        lock(state, disk);
    }
}

/// Unlocks all disks of a VM.
pub(crate) fn unlock_disks_of(state: &mut State, vm: Id) {
    for disk in disks_of(state, vm) {
        unlock(state, disk);
    }
}

/// The disks of a VM.
pub(crate) fn disks_of(state: &State, vm: Id) -> Vec<Id> {
    state.vms.get(vm).map(|vm| vm.disks.iter().map(|attachment| attachment.disk).collect()).unwrap_or_default()
}
