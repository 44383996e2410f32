//! The small devices of a VM: CD-ROM, watchdog, virtual NUMA nodes.

use super::call::{Call, Done, Outcome, require};
use super::found::{Found, Lookup};
use super::view::View;
use crate::ovirt::fault::Fault;
use crate::ovirt::lifecycle::commands::idle;
use crate::ovirt::messages::attempt;
use crate::ovirt::model::{Cdrom, Device, NumaNode, Vm};
use crate::ovirt::representation::types::{CDROM, WATCHDOG};
use crate::ovirt::table::Id;

/// The one CD-ROM drive.
pub(crate) fn cdroms<'s>(vm: &'s Vm, parts: &[&str]) -> Lookup<'s> {
    let write = |view: &mut View, element: &'static str, cdrom: &Cdrom| {
        view.open(element, format_args!("vms/{}/cdroms/{}", vm.id, cdrom.id), cdrom.id);
        if let Some(file) = &cdrom.file {
            view.out.open("file");
            view.out.attribute("id", file);
            view.close();
        }
        view.reference("vm", "vms", vm.id);
        view.close();
    };
    Found::among(("cdroms", "cdrom"), vec![&vm.cdrom], |cdrom| cdrom.id, write, parts)
}

/// Puts an image into the CD-ROM drive, or takes it out.
pub(crate) fn update_cdrom(call: &mut Call, vm: Id, id: Id) -> Outcome {
    let tree = call.read(&CDROM)?;
    let machine = idle(call.state, vm, attempt("edit", "VM"))?;
    if machine.cdrom.id != id {
        return Err(Fault::not_found());
    }
    let file = tree.sub("file").and_then(|file| file.text("id"));
    machine.cdrom.file = file.filter(|file| !file.is_empty()).map(Into::into);
    Ok(Done::Updated { path: format!("vms/{vm}/cdroms/{id}") })
}

/// The watchdogs, of which there is at most one.
pub(crate) fn watchdogs<'s>(vm: &'s Vm, parts: &[&str]) -> Lookup<'s> {
    let write = |view: &mut View, element: &'static str, device: &Device| {
        view.open(element, format_args!("vms/{}/watchdogs/{}", vm.id, device.id), device.id);
        view.out.tree(&device.tree);
        view.reference("vm", "vms", vm.id);
        view.close();
    };
    Found::among(("watchdogs", "watchdog"), vm.watchdogs.iter().collect(), |device| device.id, write, parts)
}

/// Adds the watchdog.
pub(crate) fn add_watchdog(call: &mut Call, vm: Id) -> Outcome {
    let tree = call.read(&WATCHDOG)?;
    require(&tree, "Watchdog", "action", "add")?;
    require(&tree, "Watchdog", "model", "add")?;
    let refuse = attempt("add", "Watchdog");
    let id = call.state.new_id();
    let machine = idle(call.state, vm, refuse)?;
    if !machine.watchdogs.is_empty() {
        return Err(refuse.conflict("The Watchdog device already exists."));
    }
    let mut kept = crate::ovirt::representation::Tree::new();
    for name in ["action", "model"] {
        if let Some(value) = tree.get(name) {
            kept.set(name, value.clone());
        }
    }
    machine.watchdogs.push(Device { id, tree: kept });
    Ok(Done::Created { path: format!("vms/{vm}/watchdogs/{id}"), job: None })
}

/// Removes the watchdog.
pub(crate) fn remove_watchdog(call: &mut Call, vm: Id, id: Id) -> Outcome {
    let machine = idle(call.state, vm, attempt("remove", "Watchdog"))?;
    let before = machine.watchdogs.len();
    machine.watchdogs.retain(|device| device.id != id);
    if machine.watchdogs.len() == before { Err(Fault::not_found()) } else { Ok(Done::Removed { job: None }) }
}

/// The virtual NUMA nodes.
pub(crate) fn numa_nodes<'s>(vm: &'s Vm, parts: &[&str]) -> Lookup<'s> {
    let write = |view: &mut View, element: &'static str, node: &NumaNode| {
        view.open(element, format_args!("vms/{}/numanodes/{}", vm.id, node.id), node.id);
        view.out.open("cpu");
        view.out.open_list("cores", "core");
        for cpu in &node.cpus {
            view.out.open("core");
            view.out.text("index", cpu);
            view.close();
        }
        view.close();
        view.close();
        view.out.text("index", node.index);
        view.out.text("memory", node.memory_mib);
        view.out.open_list("numa_node_pins", "numa_node_pin");
        view.out.open("numa_node_pin");
        view.out.text("index", node.index);
        view.out.text("pinned", true);
        view.close();
        view.close();
        view.reference("vm", "vms", vm.id);
        view.close();
    };
    Found::among(("vm_numa_nodes", "vm_numa_node"), vm.numa_nodes.iter().collect(), |node| node.id, write, parts)
}
