//! Removing VMs, with their disks or without.

use crate::ovirt::api::call::{Call, Done, Outcome};
use crate::ovirt::delays;
use crate::ovirt::fault::Fault;
use crate::ovirt::lifecycle::commands::idle;
use crate::ovirt::lifecycle::operations::{self, Work};
use crate::ovirt::lifecycle::{jobs, power, removal, vm::Event};
use crate::ovirt::messages::{Attempt, attempt};
use crate::ovirt::model::{DiskStatus, SnapshotType, VmStatus};
use crate::ovirt::state::NIL;
use crate::ovirt::table::Id;

const REMOVE: Attempt = attempt("remove", "VM");

/// Removes a VM. Its disks go with it, all of them, unless the client asks to detach them.
pub(crate) fn remove(call: &mut Call, id: Id) -> Outcome {
    let force = call.params.flag("force").unwrap_or(false);
    let detach = call.params.flag("detach_only").unwrap_or(false);
    let asynchronous = call.params.flag("async").unwrap_or(false);
    let state = &mut *call.state;
    let vm = idle(state, id, REMOVE)?;
    if vm.config.bool("delete_protected") == Some(true) {
        return Err(REMOVE.delete_protected());
    }
    match vm.status {
        VmStatus::Down => {}
        VmStatus::Suspended if force => {}
        _ if vm.is_running() => return Err(REMOVE.vm_running()),
        _ => return Err(Fault::conflict("Cannot remove VM that its state is not down.\n-Please stop the VM first.")),
    }
    if detach {
        if vm.template != NIL && !vm.disks.is_empty() {
            return Err(Fault::conflict("Cannot remove VM with detaching disks, VM is based from template."));
        }
        if vm.snapshots.iter().any(|snapshot| snapshot.kind == SnapshotType::Regular) {
            return Err(Fault::conflict("Cannot remove VM with detaching disks, snapshots exist."));
        }
    }
    let locked: Vec<String> = operations::disks_of(state, id)
        .into_iter()
        .filter_map(|disk| state.disks.get(disk))
        .filter(|disk| disk.status == DiskStatus::Locked)
        .map(|disk| disk.name.to_string())
        .collect();
    if !locked.is_empty() {
        return Err(REMOVE.disks_locked(&locked.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    if detach {
        for disk in operations::disks_of(state, id) {
            if let Some(disk) = state.disks.get_mut(disk) {
                disk.vms.retain(|owner| *owner != id);
            }
        }
        if let Some(vm) = state.vms.get_mut(id) {
            vm.disks.clear();
        }
    }
    let vm = state.vms.get(id).ok_or_else(Fault::not_found)?;
    let (name, suspended) = (vm.name.clone(), vm.status == VmStatus::Suspended);
    let description = format!("Removing VM {name}");
    if suspended {
        power::due(state, id, Event::Stop);
    }
    if operations::disks_of(state, id).is_empty() {
        let job = jobs::note(state, &description);
        removal::finish_vm(state, id);
        return Ok(Done::Removed { job: Some(job) });
    }
    // The engine forgets the VM before it answers, and the images are removed later. Only who does not even wait for that
    // may still see the VM, locked.
    let work = if asynchronous {
        operations::lock_disks_of(state, id);
        power::due(state, id, Event::Lock);
        Work::RemoveVm { vm: id }
    } else {
        Work::RemoveDisks { disks: removal::drop_vm_before_disks(state, id) }
    };
    let job = operations::begin(state, &description, work, delays::VM_REMOVE);
    Ok(Done::Removed { job: Some(job) })
}
