//! The snapshots of a VM.

use super::call::{Call, Done, Outcome};
use super::found::{Found, Lookup, parse_id};
use super::owner::Owner;
use super::view::View;
use super::{disks, nics};
use crate::ovirt::delays;
use crate::ovirt::fault::Fault;
use crate::ovirt::lifecycle::commands::idle;
use crate::ovirt::lifecycle::operations::{self, Work};
use crate::ovirt::lifecycle::{power, snapshots, vm::Event};
use crate::ovirt::messages::{Attempt, attempt};
use crate::ovirt::model::{DiskStatus, Snapshot, SnapshotStatus, SnapshotType, Vm, VmStatus};
use crate::ovirt::representation::types::SNAPSHOT;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// Writes a snapshot.
fn render(view: &mut View, element: &'static str, vm: &Vm, snapshot: &Snapshot) {
    let path = format_args!("vms/{}/snapshots/{}", vm.id, snapshot.id);
    view.open(element, path, snapshot.id);
    view.out.text("description", &snapshot.description);
    view.date("date", snapshot.created);
    view.out.text("persist_memorystate", snapshot.persist_memory);
    view.out.text("snapshot_status", snapshot.status);
    view.out.text("snapshot_type", snapshot.kind);
    view.reference("vm", "vms", vm.id);
    view.links(path, &["cdroms", "disks", "nics"]);
    view.actions(path, &["restore"]);
    view.close();
}

/// The snapshots of a VM, one of them, or what is under it.
pub(crate) fn sub<'s>(state: &'s State, vm: &'s Vm, parts: &[&str]) -> Lookup<'s> {
    let Some((id, rest)) = parts.split_first() else {
        return Ok(Found::list("snapshots", "snapshot", move |view| {
            vm.snapshots.iter().for_each(|snapshot| render(view, "snapshot", vm, snapshot));
        }));
    };
    let id = parse_id(id)?;
    let snapshot = vm.snapshots.iter().find(|snapshot| snapshot.id == id).ok_or_else(Fault::not_found)?;
    let ids = || match &snapshot.frozen {
        Some(frozen) => frozen.disks.iter().map(|disk| disk.disk).collect::<Vec<Id>>(),
        None => vm.disks.iter().map(|attachment| attachment.disk).collect(),
    };
    match rest {
        [] => Ok(Found::item("snapshot", move |view, element| render(view, element, vm, snapshot))),
        ["disks"] => {
            let held = ids();
            Ok(Found::list("disks", "disk", move |view| {
                for disk in held.iter().filter_map(|disk| state.disks.get(*disk)) {
                    disks::render(view, "disk", disk);
                }
            }))
        }
        ["disks", disk] => {
            let disk = parse_id(disk)?;
            let disk = state.disks.get(disk).filter(|_| ids().contains(&disk)).ok_or_else(Fault::not_found)?;
            Ok(Found::item("disk", move |view, element| disks::render(view, element, disk)))
        }
        ["nics"] => Ok(Found::list("nics", "nic", move |view| {
            let held = snapshot.frozen.as_ref().map_or(&vm.nics, |frozen| &frozen.nics);
            // An interface is shown where it is now: one that was removed since is not anywhere.
            for nic in held.iter().filter(|nic| vm.nics.iter().any(|present| present.id == nic.id)) {
                nics::render(view, "nic", Owner::Vm(vm), nic);
            }
        })),
        ["cdroms"] => Ok(Found::nothing("cdroms", "cdrom")),
        _ => Err(Fault::not_found()),
    }
}

/// Takes a snapshot.
pub(crate) fn add(call: &mut Call, vm: Id) -> Outcome {
    const ADD: Attempt = attempt("create", "Snapshot");
    let tree = call.read(&SNAPSHOT)?;
    let description = tree.text("description").ok_or_else(|| Fault::incomplete("Snapshot", "description", "add"))?;
    let persist_memory = tree.bool("persist_memorystate").unwrap_or(true);
    let state = &mut *call.state;
    reserve(state, vm, ADD, |status| {
        matches!(status, VmStatus::Down | VmStatus::Up | VmStatus::PoweringUp | VmStatus::Paused)
    })?;
    let (id, now) = (state.new_id(), state.now);
    let frozen = snapshots::freeze(state, vm);
    let machine = state.vms.get_mut(vm).ok_or_else(Fault::not_found)?;
    machine.snapshots.push(Snapshot {
        id,
        description: description.into(),
        kind: SnapshotType::Regular,
        status: SnapshotStatus::Locked,
        created: now,
        persist_memory: persist_memory && machine.status != VmStatus::ImageLocked,
        frozen,
    });
    let text = format!("Creating VM Snapshot {description} for VM {}", machine.name);
    let work = Work::CreateSnapshot { vm, snapshot: id };
    let job = operations::begin(state, &text, work, delays::SNAPSHOT_CREATE);
    Ok(Done::Created { path: format!("vms/{vm}/snapshots/{id}"), job: Some(job) })
}

/// Merges a snapshot away.
pub(crate) fn remove(call: &mut Call, vm: Id, id: Id) -> Outcome {
    const REMOVE: Attempt = attempt("remove", "Snapshot");
    let state = &mut *call.state;
    regular(state, vm, id, REMOVE)?;
    reserve(state, vm, REMOVE, |status| matches!(status, VmStatus::Down | VmStatus::Up | VmStatus::Paused))?;
    let job = work_on(state, vm, id, "Removing", Work::RemoveSnapshot { vm, snapshot: id }, delays::SNAPSHOT_REMOVE);
    Ok(Done::Removed { job: Some(job) })
}

/// Goes back to a snapshot: the action `restore`.
pub(crate) fn restore(call: &mut Call, vm: Id, id: Id) -> Outcome {
    const RESTORE: Attempt = attempt("restore", "Snapshot");
    call.read_action()?;
    let state = &mut *call.state;
    regular(state, vm, id, RESTORE)?;
    reserve(state, vm, RESTORE, |status| status == VmStatus::Down)?;
    let work = Work::RestoreSnapshot { vm, snapshot: id };
    let job = work_on(state, vm, id, "Restoring", work, delays::SNAPSHOT_RESTORE);
    Ok(Done::Acted { job: Some(job), pending: true })
}

fn work_on(state: &mut State, vm: Id, id: Id, verb: &str, work: Work, takes: std::time::Duration) -> Id {
    let mut text = format!("{verb} VM Snapshot");
    if let Some(snapshot) = state.vms.get_mut(vm).and_then(|vm| vm.snapshots.iter_mut().find(|one| one.id == id)) {
        snapshot.status = SnapshotStatus::Locked;
        text = format!("{text} {}", snapshot.description);
    }
    operations::begin(state, &text, work, takes)
}

fn regular(state: &State, vm: Id, id: Id, attempt: Attempt) -> Result<(), Fault> {
    let vm = state.vms.get(vm).ok_or_else(Fault::not_found)?;
    let snapshot = vm.snapshots.iter().find(|snapshot| snapshot.id == id).ok_or_else(Fault::not_found)?;
    if snapshot.kind != SnapshotType::Regular {
        return Err(attempt.conflict("The operation is only allowed for regular snapshots."));
    }
    Ok(())
}

/// Reserves a VM and its disks for work on its snapshots: one that is off is locked, one that runs is kept busy.
fn reserve(state: &mut State, vm: Id, attempt: Attempt, allowed: fn(VmStatus) -> bool) -> Result<(), Fault> {
    let status = idle(state, vm, attempt)?.status;
    if !allowed(status) {
        return Err(attempt.vm_status(status.as_str()));
    }
    let disks = operations::disks_of(state, vm);
    let locked: Vec<&str> = disks
        .iter()
        .filter_map(|disk| state.disks.get(*disk))
        .filter(|disk| disk.status == DiskStatus::Locked)
        .map(|disk| &*disk.name)
        .collect();
    if !locked.is_empty() {
        return Err(attempt.disks_locked(&locked));
    }
    operations::lock_disks_of(state, vm);
    if status == VmStatus::Down {
        power::due(state, vm, Event::Lock);
    } else {
        state.busy.insert(vm);
    }
    Ok(())
}
