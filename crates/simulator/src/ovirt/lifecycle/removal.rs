//! What is left to do when something is gone: give back its space, and take it out of everything that names it.

use crate::ovirt::api;
use crate::ovirt::model::{About, DiskStatus, Object, Severity};
use crate::ovirt::state::State;
use crate::ovirt::storage;
use crate::ovirt::table::Id;

/// Drops a VM, with the disks that it still has. Whether the disks go too was decided by detaching those that do not.
pub(crate) fn finish_vm(state: &mut State, id: Id) {
    let Some(vm) = state.vms.remove(id) else { return };
    for attachment in &vm.disks {
        release_disk(state, attachment.disk, id);
    }
    for frozen in vm.snapshots.iter().filter_map(|snapshot| snapshot.frozen.as_ref()) {
        frozen.disks.iter().for_each(|disk| drop(state.images.0.remove(disk.image)));
    }
    for nic in &vm.nics {
        state.mac_pool.release(&nic.mac);
    }
    for tag in &vm.tags {
        if let Some(vms) = state.tagged.get_mut(tag) {
            vms.remove(&id);
        }
    }
    for group in state.affinity_groups.iter_mut() {
        group.vms.remove(&id);
    }
    for label in state.affinity_labels.iter_mut() {
        label.vms.remove(&id);
    }
    for template in [vm.template, vm.original_template] {
        if let Some(template) = state.templates.get_mut(template) {
            template.dependants.remove(&id);
        }
    }
    state.busy.remove(&id);
    api::permissions::forget(state, Object::Vm(id));
    state.log(113, Severity::Normal, format!("VM {} was successfully removed.", vm.name), About::default());
}

/// Drops a VM at once and returns the disks that go with it, which are locked and belong to nobody any more. A disk that
/// another VM has as well stays as it is.
pub(crate) fn drop_vm_before_disks(state: &mut State, id: Id) -> Vec<Id> {
    let mut doomed = Vec::new();
    for disk in super::operations::disks_of(state, id) {
        let Some(disk) = state.disks.get_mut(disk) else { continue };
        disk.vms.retain(|owner| *owner != id);
        if disk.vms.is_empty() {
            disk.status = DiskStatus::Locked;
            doomed.push(disk.id);
        }
    }
    if let Some(vm) = state.vms.get_mut(id) {
        vm.disks.clear();
    }
    finish_vm(state, id);
    doomed
}

/// Takes a disk away from a VM that is gone: it goes too, unless another VM has it as well.
fn release_disk(state: &mut State, disk: Id, vm: Id) {
    let shared = state.disks.get_mut(disk).is_some_and(|disk| {
        disk.vms.retain(|owner| *owner != vm);
        !disk.vms.is_empty()
    });
    if shared {
        super::operations::unlock(state, disk);
    } else {
        finish_disk(state, disk);
    }
}

/// Drops a disk.
pub(crate) fn finish_disk(state: &mut State, id: Id) {
    let Some(disk) = storage::remove(state, id) else { return };
    if let Err(error) = state.images.0.remove(id) {
        tracing::error!(%id, error = &error as &dyn std::error::Error, "an image was not removed");
    }
    for vm in &disk.vms {
        if let Some(vm) = state.vms.get_mut(*vm) {
            vm.disks.retain(|attachment| attachment.disk != id);
        }
    }
    if let Some(template) = disk.template.and_then(|template| state.templates.get_mut(template)) {
        template.disks.retain(|attachment| attachment.disk != id);
    }
    api::permissions::forget(state, Object::Disk(id));
}

/// Drops a template with its disks.
pub(crate) fn finish_template(state: &mut State, id: Id) {
    let Some(template) = state.templates.remove(id) else { return };
    for attachment in &template.disks {
        finish_disk(state, attachment.disk);
    }
    for nic in template.nics.iter().filter(|nic| !nic.mac.is_empty()) {
        state.mac_pool.release(&nic.mac);
    }
    api::permissions::forget(state, Object::Template(id));
    let description = format!("Template {} has been removed.", template.name);
    state.log(355, Severity::Normal, description, About::default());
}
