//! The disks that VMs and templates have attached. An attachment's id is the disk's.

use super::call::{Call, Done, Outcome};
use super::disks;
use super::found::{Found, Lookup, parse_id};
use super::owner::Owner;
use super::view::View;
use crate::ovirt::fault::Fault;
use crate::ovirt::lifecycle::commands::idle;
use crate::ovirt::messages::{Attempt, attempt};
use crate::ovirt::model::{Attachment, Disk, DiskStatus, SnapshotType};
use crate::ovirt::representation::Tree;
use crate::ovirt::representation::types::DISK_ATTACHMENT;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

const ATTACH: Attempt = attempt("attach", "Virtual Disk");
const EDIT: Attempt = attempt("edit", "Virtual Disk");

fn render(view: &mut View, element: &'static str, owner: Owner, attachment: &Attachment) {
    let id = attachment.disk;
    view.open(element, format_args!("{}/diskattachments/{id}", owner.path()), id);
    view.out.text("active", attachment.active);
    view.out.text("bootable", attachment.bootable);
    view.out.text("interface", &attachment.interface);
    let running = matches!(owner, Owner::Vm(vm) if vm.guest.is_some());
    if let Some(index) = owner.attachments().iter().position(|other| other.disk == id).filter(|_| running) {
        view.out.text("logical_name", format_args!("/dev/{}", logical_name(&attachment.interface, index)));
    }
    view.out.text("pass_discard", attachment.pass_discard);
    view.out.text("read_only", attachment.read_only);
    view.out.text("uses_scsi_reservation", attachment.uses_scsi_reservation);
    view.reference("disk", "disks", id);
    owner.refer(view);
    view.close();
}

/// What a Linux guest calls its n-th disk.
fn logical_name(interface: &str, index: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(index % 26).unwrap_or_default());
    format!("{}{letter}", if interface == "virtio" { "vd" } else { "sd" })
}

/// The attachments of an owner, or one of them.
pub(crate) fn sub<'s>(owner: Owner<'s>, parts: &[&str]) -> Lookup<'s> {
    let render = move |view: &mut View, element, attachment: &Attachment| render(view, element, owner, attachment);
    let all = owner.attachments().iter().collect();
    Found::among(("disk_attachments", "disk_attachment"), all, |attachment: &Attachment| attachment.disk, render, parts)
}

/// Attaches a disk to a VM: one that exists, or a new one.
pub(crate) fn add(call: &mut Call, vm: Id) -> Outcome {
    let tree = call.read(&DISK_ATTACHMENT)?;
    let described = tree.sub("disk").ok_or_else(|| Fault::incomplete("DiskAttachment", "disk", "add"))?;
    let interface = tree.text("interface").ok_or_else(|| Fault::incomplete("DiskAttachment", "interface", "add"))?;
    let state = &mut *call.state;
    idle(state, vm, ATTACH)?;
    let bootable = tree.bool("bootable").unwrap_or(false);
    one_boot_disk(state, vm, None, bootable, ATTACH)?;
    // A size with the id of a disk that exists is no wish for a second one: Ansible describes the whole disk it attaches.
    let id = described.text("id").map(parse_id).transpose()?;
    let existing = id.filter(|id| state.disks.contains(*id) || !described.has("provisioned_size"));
    let (disk, job) = if let Some(disk) = existing {
        attachable(state, disk, vm)?;
        (disk, None)
    } else {
        let named = named(state, described, vm);
        let (disk, job) = disks::create(state, &named, Some(vm))?;
        (disk, Some(job))
    };
    if existing.is_some()
        && let Some(disk) = state.disks.get_mut(disk)
    {
        disk.vms.push(vm);
    }
    let attachment = Attachment {
        disk,
        interface: interface.into(),
        // A new disk is plugged in unless the client objects; one that exists only if the client asks for it.
        active: tree.bool("active").unwrap_or(existing.is_none()),
        bootable,
        pass_discard: tree.bool("pass_discard").unwrap_or(false),
        read_only: tree.bool("read_only").unwrap_or(false),
        uses_scsi_reservation: tree.bool("uses_scsi_reservation").unwrap_or(false),
    };
    state.vms.get_mut(vm).ok_or_else(Fault::not_found)?.disks.push(attachment);
    Ok(Done::Created { path: format!("vms/{vm}/diskattachments/{disk}"), job })
}

/// A new disk without a name is called after its VM.
fn named(state: &State, described: &Tree, vm: Id) -> Tree {
    let mut tree = described.clone();
    if !tree.has("alias")
        && !tree.has("name")
        && let Some(vm) = state.vms.get(vm)
    {
        let alias = format!("{}_Disk{}", vm.name, vm.disks.len() + 1);
        tree.set("alias", alias.as_str());
    }
    tree
}

fn attachable(state: &State, id: Id, vm: Id) -> Result<(), Fault> {
    let disk: &Disk = state.disks.get(id).ok_or_else(|| Fault::missing("Disk", format_args!("id={id}")))?;
    if state.busy.contains(&id) {
        return Err(ATTACH.object_locked());
    }
    if disk.status == DiskStatus::Locked {
        return Err(ATTACH.disk_locked());
    }
    if disk.vms.contains(&vm) {
        return Err(ATTACH.conflict("The disk is already attached to VM."));
    }
    if !disk.vms.is_empty() && !disk.shareable {
        return Err(ATTACH.conflict("The disk is not shareable and is already attached to a VM."));
    }
    if disk.template.is_some() {
        return Err(ATTACH.conflict("The disk belongs to a Template."));
    }
    Ok(())
}

/// A VM boots from at most one disk.
fn one_boot_disk(state: &State, vm: Id, own: Option<Id>, bootable: bool, attempt: Attempt) -> Result<(), Fault> {
    let Some(vm) = state.vms.get(vm).filter(|_| bootable) else { return Ok(()) };
    let Some(taken) = vm.disks.iter().find(|other| other.bootable && Some(other.disk) != own) else { return Ok(()) };
    let name = state.disks.get(taken.disk).map(|disk| disk.name.to_string()).unwrap_or_default();
    Err(attempt.conflict(&format!("Disk {name} in VM {} is already marked as boot.", vm.name)))
}

/// Changes an attachment, and the disk behind it.
pub(crate) fn update(call: &mut Call, vm: Id, id: Id) -> Outcome {
    let tree = call.read(&DISK_ATTACHMENT)?;
    let state = &mut *call.state;
    idle(state, vm, EDIT)?;
    find(state, vm, id)?;
    one_boot_disk(state, vm, Some(id), tree.bool("bootable") == Some(true), EDIT)?;
    if let Some(described) = tree.sub("disk") {
        let mut changes = described.clone();
        // A disk is not moved by naming a domain here; some clients send an empty one.
        for name in ["storage_domain", "storage_domains", "format", "sparse"] {
            changes.remove(name);
        }
        if changes.iter().any(|(name, _)| !matches!(name, "id" | "href")) {
            disks::change(state, id, &changes)?;
        }
    }
    let attachment = find(state, vm, id)?;
    tree.update("interface", &mut attachment.interface);
    for (field, name) in [
        (&mut attachment.active, "active"),
        (&mut attachment.bootable, "bootable"),
        (&mut attachment.pass_discard, "pass_discard"),
        (&mut attachment.read_only, "read_only"),
        (&mut attachment.uses_scsi_reservation, "uses_scsi_reservation"),
    ] {
        *field = tree.bool(name).unwrap_or(*field);
    }
    Ok(Done::Updated { path: format!("vms/{vm}/diskattachments/{id}") })
}

/// Detaches a disk, or removes it altogether with `detach_only=false`.
pub(crate) fn remove(call: &mut Call, vm: Id, id: Id) -> Outcome {
    const DETACH: Attempt = attempt("detach", "Virtual Disk");
    let detach_only = call.params.flag("detach_only").unwrap_or(true);
    let state = &mut *call.state;
    let machine = idle(state, vm, DETACH)?;
    let running = machine.is_running();
    let snapshots = machine.snapshots.iter().any(|snapshot| snapshot.kind == SnapshotType::Regular);
    let active = find(state, vm, id)?.active;
    if !detach_only {
        return disks::destroy(state, id).map(|job| Done::Removed { job: Some(job) });
    }
    disks::unlocked(state, id, DETACH)?;
    if running && active {
        return Err(DETACH.conflict("The disk is active on a running VM. Please deactivate it first."));
    }
    if snapshots {
        return Err(DETACH.conflict(
            "The disk is already configured in a snapshot. In order to detach it, remove the disk's snapshots.",
        ));
    }
    if let Some(machine) = state.vms.get_mut(vm) {
        machine.disks.retain(|attachment| attachment.disk != id);
    }
    if let Some(disk) = state.disks.get_mut(id) {
        disk.vms.retain(|owner| *owner != vm);
    }
    Ok(Done::Removed { job: None })
}

fn find(state: &mut State, vm: Id, id: Id) -> Result<&mut Attachment, Fault> {
    let vm = state.vms.get_mut(vm).ok_or_else(Fault::not_found)?;
    vm.disks.iter_mut().find(|attachment| attachment.disk == id).ok_or_else(Fault::not_found)
}
