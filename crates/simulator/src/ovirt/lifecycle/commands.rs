//! The commands that change a VM's power: what each demands, and what it sets in motion.

use std::sync::Arc;

use super::jobs;
use super::power::{occupy_destination, occupy_host};
use super::vm::Event;
use crate::ovirt::configdrive::{self, Drive};
use crate::ovirt::fault::Fault;
use crate::ovirt::messages::{Attempt, attempt};
use crate::ovirt::model::{About, DiskStatus, Power, Severity, Vm, VmAffinity, VmStatus};
use crate::ovirt::operating_systems::{Delivery, delivery};
use crate::ovirt::quota;
use crate::ovirt::representation::Tree;
use crate::ovirt::scheduler::{self, Search};
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// How a VM is to be started.
#[derive(Debug, Default)]
pub(crate) struct Start {
    /// A configuration for this run only.
    pub(crate) run_once: Option<Tree>,
    /// The hosts that this run is restricted to.
    pub(crate) hosts: Vec<Id>,
    /// How user data is delivered, if not as the operating system demands.
    pub(crate) delivery: Option<Delivery>,
    /// Whether user data is delivered although this is not the first run.
    pub(crate) initialize: bool,
    /// Whether the VM is to wait before its first instruction.
    pub(crate) paused: bool,
}

/// Switches a VM on, or continues one that is suspended or paused.
pub(crate) fn start(state: &mut State, id: Id, options: &Start) -> Result<Id, Fault> {
    const RUN: Attempt = attempt("run", "VM");
    let vm = idle(state, id, RUN)?;
    match vm.status {
        VmStatus::Down => prepare(state, id, options, RUN)?,
        VmStatus::Suspended | VmStatus::Paused => {}
        _ => return Err(RUN.vm_running()),
    }
    let vm = state.vms.get(id).ok_or_else(Fault::not_found)?;
    if vm.status != VmStatus::Paused {
        let search = Search { vm, except: None, only: &options.hosts };
        match scheduler::choose(state, search) {
            Ok(host) => occupy_host(state, id, host),
            Err(reasons) => {
                undo_preparation(state, id);
                return Err(RUN.no_host(&reasons));
            }
        }
    }
    Ok(command(state, id, Event::Start, Power::Up, "Launching VM"))
}

/// Checks what a VM that is off needs to run, and sets what this run has.
fn prepare(state: &mut State, id: Id, options: &Start, attempt: Attempt) -> Result<(), Fault> {
    let vm = state.vms.get(id).ok_or_else(Fault::not_found)?;
    let mut config = vm.config.clone();
    if let Some(patch) = &options.run_once {
        Arc::make_mut(&mut config).merge(patch);
    }
    if options.paused {
        Arc::make_mut(&mut config).set("start_paused", true);
    }
    let boot: Vec<&str> =
        config.at(&["os", "boot"]).and_then(|boot| boot.texts("devices")).into_iter().flatten().collect();
    if (boot.is_empty() || boot == ["hd"]) && vm.disks.is_empty() {
        return Err(attempt.no_bootable_disk());
    }
    if boot == ["network"] && vm.nics.is_empty() {
        return Err(Fault::conflict(
            "VM is configured to be 'Network bootable', but no Network Interface is configured.\nAlternatives:\n- Select a \
             different boot device (using the 'Run Once' command or 'Edit VM' command on Boot Option Sub-Tab).\n- Configure \
             Network Interface and rerun the VM.",
        ));
    }
    disks_usable(state, vm, attempt)?;
    quota::allow_vm(state, id, attempt)?;
    let drive = match build_drive(vm, &config, options) {
        Ok(drive) => drive,
        Err(error) => {
            let description = format!("Failed to run VM {}: the initialization data is invalid: {error}", vm.name);
            let about = About { vm: Some(id), ..About::default() };
            state.log(54, Severity::Error, description, about);
            return Err(Fault::unexplained());
        }
    };
    let one_run = options.run_once.is_some() || options.paused;
    let vm = state.vms.get_mut(id).ok_or_else(Fault::not_found)?;
    vm.run_once = options.run_once.is_some();
    vm.run_config = one_run.then_some(config);
    vm.drive = drive.map(Box::new);
    Ok(())
}

fn undo_preparation(state: &mut State, id: Id) {
    if let Some(vm) = state.vms.get_mut(id).filter(|vm| vm.status == VmStatus::Down) {
        vm.run_once = false;
        vm.run_config = None;
    }
}

/// User data is delivered at the first start, and later only to those who ask.
fn build_drive(vm: &Vm, config: &Tree, options: &Start) -> Result<Option<Drive>, serde_json::Error> {
    let asked = options.initialize
        || options.delivery.is_some()
        || options.run_once.as_ref().is_some_and(|patch| patch.has("initialization"));
    let initialization = config.sub("initialization");
    if (vm.initialized && !asked) || (initialization.is_none() && options.delivery.is_none()) {
        return Ok(None);
    }
    let os = config.sub("os").and_then(|os| os.text("type")).unwrap_or("other");
    let delivery = options.delivery.unwrap_or_else(|| delivery(os));
    let empty = Tree::new();
    configdrive::build(delivery, initialization.unwrap_or(&empty), &vm.name, vm.id).map(Some)
}

fn disks_usable(state: &State, vm: &Vm, attempt: Attempt) -> Result<(), Fault> {
    let disks = || vm.disks.iter().filter_map(|attachment| state.disks.get(attachment.disk));
    let aliases =
        |status| -> Vec<&str> { disks().filter(|disk| disk.status == status).map(|disk| &*disk.name).collect() };
    let locked = aliases(DiskStatus::Locked);
    if !locked.is_empty() {
        return Err(attempt.disks_locked(&locked));
    }
    let illegal = aliases(DiskStatus::Illegal);
    if !illegal.is_empty() {
        return Err(attempt.conflict(&format!(
            "The following attached disks are in ILLEGAL status: {} - please remove them and try again.",
            illegal.join(", ")
        )));
    }
    Ok(())
}

/// Pulls the plug.
pub(crate) fn stop(state: &mut State, id: Id, reason: Option<&str>) -> Result<Id, Fault> {
    const STOP: Attempt = attempt("stop", "VM");
    let vm = idle(state, id, STOP)?;
    if vm.status == VmStatus::Down {
        return Ok(skipped(state, id, "Stop VM"));
    }
    vm.stop_reason = reason.map(Into::into);
    Ok(command(state, id, Event::Stop, Power::Down, "Powering Off VM"))
}

/// A VM that is already off is no reason to complain: the engine notes that it did nothing.
fn skipped(state: &mut State, id: Id, action: &str) -> Id {
    let name = state.vms.get(id).map(|vm| vm.name.clone()).unwrap_or_default();
    let about = About { vm: Some(id), ..About::default() };
    state.log(254, Severity::Normal, format!("VM {name} is already Down, {action} was skipped."), about);
    jobs::note(state, &format!("{action} {name}"))
}

/// Asks the guest to shut down.
pub(crate) fn shutdown(state: &mut State, id: Id, reason: Option<&str>) -> Result<Id, Fault> {
    const SHUTDOWN: Attempt = attempt("shutdown", "VM");
    let vm = idle(state, id, SHUTDOWN)?;
    let event = match vm.status {
        VmStatus::Down => return Ok(skipped(state, id, "Shutdown VM")),
        VmStatus::Suspended => return Err(SHUTDOWN.vm_not_running()),
        // What has no guest yet, or none that could listen, is stopped instead.
        VmStatus::WaitForLaunch | VmStatus::Paused | VmStatus::NotResponding => Event::Stop,
        _ => Event::Shutdown,
    };
    possible(vm, event, SHUTDOWN)?;
    vm.stop_reason = reason.map(Into::into);
    Ok(command(state, id, event, Power::Down, "Shutting Down VM"))
}

/// Asks the guest to reboot, or resets the machine.
pub(crate) fn reboot(state: &mut State, id: Id, event: Event) -> Result<Id, Fault> {
    let (refuse, description) = if event == Event::Reset {
        (attempt("reset", "VM"), "Resetting VM")
    } else {
        (attempt("reboot", "VM"), "Rebooting VM")
    };
    let vm = idle(state, id, refuse)?;
    if !vm.is_running() {
        return Err(refuse.vm_not_running());
    }
    possible(vm, event, refuse)?;
    Ok(command(state, id, event, Power::Up, description))
}

/// Saves a VM's memory and switches it off.
pub(crate) fn suspend(state: &mut State, id: Id) -> Result<Id, Fault> {
    const HIBERNATE: Attempt = attempt("hibernate", "VM");
    let vm = idle(state, id, HIBERNATE)?;
    if !vm.is_running() {
        return Err(HIBERNATE.vm_not_running());
    }
    possible(vm, Event::Suspend, HIBERNATE)?;
    Ok(command(state, id, Event::Suspend, Power::Suspended, "Hibernating VM"))
}

/// Moves a running VM to another host: to one of `hosts`, or to the best, or only if it is better there.
pub(crate) fn migrate(state: &mut State, id: Id, hosts: &[Id], only_to_improve: bool) -> Result<Id, Fault> {
    const MIGRATE: Attempt = attempt("migrate", "VM");
    let vm = idle(state, id, MIGRATE)?;
    if !vm.is_running() {
        return Err(MIGRATE.vm_not_running());
    }
    possible(vm, Event::Migrate, MIGRATE)?;
    if vm.placement.affinity == VmAffinity::Pinned {
        return Err(MIGRATE.conflict("VM is pinned to Host."));
    }
    let vm = state.vms.get(id).ok_or_else(Fault::not_found)?;
    let search = Search { vm, except: vm.host, only: hosts };
    let destination = scheduler::choose(state, search).map_err(|reasons| MIGRATE.no_host(&reasons))?;
    if only_to_improve && !scheduler::improves(state, vm, destination) {
        return Err(MIGRATE.conflict("No host is better than the present one."));
    }
    occupy_destination(state, id, destination);
    Ok(command(state, id, Event::Migrate, Power::Up, "Migrating VM"))
}

/// Leaves a VM that is migrating where it is.
pub(crate) fn cancel_migration(state: &mut State, id: Id) -> Result<Id, Fault> {
    let vm = state.vms.get(id).ok_or_else(Fault::not_found)?;
    if vm.status != VmStatus::Migrating {
        return Err(Fault::conflict("Cannot cancel migration for non migrating VM."));
    }
    Ok(command(state, id, Event::MigrationCancelled, Power::Up, "Cancelling Migration of VM"))
}

/// The VM, if nothing is in the way of a command.
pub(crate) fn idle(state: &mut State, id: Id, attempt: Attempt) -> Result<&mut Vm, Fault> {
    let busy = state.busy.contains(&id);
    let vm = state.vms.get_mut(id).ok_or_else(Fault::not_found)?;
    if busy {
        return Err(attempt.object_locked());
    }
    if vm.status == VmStatus::ImageLocked {
        return Err(attempt.vm_locked());
    }
    Ok(vm)
}

fn possible(vm: &Vm, event: Event, attempt: Attempt) -> Result<(), Fault> {
    super::vm::next(vm.status, event).map(|_| ()).map_err(|_| attempt.vm_status(vm.status.as_str()))
}

/// Sets a command in motion that was found possible, and begins its job.
fn command(state: &mut State, id: Id, event: Event, requested: Power, description: &str) -> Id {
    let name = state.vms.get(id).map(|vm| vm.name.clone()).unwrap_or_default();
    let job = jobs::begin(state, &format!("{description} {name}"));
    let slowdown = state.cause.slowdown;
    let replaced = state.vms.get_mut(id).and_then(|vm| {
        vm.requested = requested;
        vm.slowdown = slowdown;
        vm.job.replace(job)
    });
    if let Some(replaced) = replaced {
        jobs::end(state, replaced, crate::ovirt::model::JobStatus::Failed);
    }
    super::power::due(state, id, event);
    job
}
