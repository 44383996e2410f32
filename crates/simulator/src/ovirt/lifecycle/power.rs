//! What follows from a VM's change of state: deadlines, the host's memory, the guest, the log.

use std::time::Duration;

use super::enforcement;
use super::guests;
use super::jobs;
use super::vm::{Event, Illegal, next};
use crate::core::Instant;
use crate::ovirt::agenda::Due;
use crate::ovirt::delays;
use crate::ovirt::model::{About, JobStatus, Power, Severity, VmStatus};
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

pub(crate) use super::commands::migrate;

/// Lets an event happen to a VM. `None` if there is no such VM.
pub(crate) fn apply(state: &mut State, id: Id, event: Event) -> Option<Result<VmStatus, Illegal>> {
    let vm = state.vms.get_mut(id)?;
    let status = match next(vm.status, event) {
        Ok(status) => status,
        Err(illegal) => return Some(Err(illegal)),
    };
    let migrating = vm.status == VmStatus::Migrating;
    vm.status = status;
    let pending = vm.pending.take();
    if let Some(key) = pending {
        state.agenda.cancel(key);
    }
    if migrating && event != Event::Migrated {
        release_destination(state, id);
    }
    enter(state, id, event, status);
    Some(Ok(status))
}

/// Lets what is due for a VM happen. What was overtaken by another event is no longer on the agenda, so a refusal here
/// would be a bug.
pub(crate) fn due(state: &mut State, id: Id, event: Event) {
    if let Some(Err(illegal)) = apply(state, id, event) {
        tracing::error!(%id, %illegal, "an impossible change was due");
    }
}

/// What follows from having come to `status` by `event`.
fn enter(state: &mut State, id: Id, event: Event, status: VmStatus) {
    match status {
        VmStatus::WaitForLaunch => {
            let paused = state.vms.get(id).and_then(|vm| vm.effective().bool("start_paused")) == Some(true);
            let launched = if paused { Event::LaunchedPaused } else { Event::Launched };
            schedule(state, id, delays::VM_LAUNCH, launched);
        }
        VmStatus::PoweringUp => {
            begin_run(state, id);
            guests::start(state, id);
            schedule(state, id, delays::VM_UP_WITHOUT_AGENT, Event::GuestUp);
            settle(state, id);
        }
        VmStatus::Paused => {
            if event == Event::LaunchedPaused {
                begin_run(state, id);
            }
            settle(state, id);
        }
        VmStatus::Up => {
            arrive(state, id, event);
            settle(state, id);
            enforcement::arm(state);
        }
        VmStatus::PoweringDown if event == Event::Shutdown => {
            guests::shut_down(state, id);
            schedule(state, id, delays::VM_SHUTDOWN_IGNORED, Event::ShutdownIgnored);
        }
        VmStatus::PoweringDown => {
            guests::stop(state, id);
            schedule(state, id, delays::VM_STOP, Event::Stopped);
        }
        VmStatus::RebootInProgress => {
            guests::reboot(state, id, event);
            schedule(state, id, delays::VM_REBOOT, Event::GuestUp);
        }
        VmStatus::SavingState => schedule(state, id, delays::VM_SUSPEND, Event::Saved),
        VmStatus::Suspended => {
            guests::stop(state, id);
            leave_host(state, id);
            settle(state, id);
        }
        VmStatus::RestoringState => schedule(state, id, delays::VM_RESUME, Event::Restored),
        VmStatus::Migrating => schedule(state, id, delays::VM_MIGRATE, Event::Migrated),
        VmStatus::Down => {
            guests::stop(state, id);
            end_run(state, id, event);
            settle(state, id);
        }
        VmStatus::ImageLocked | VmStatus::Unknown | VmStatus::NotResponding | VmStatus::Unassigned => {}
    }
}

/// Puts the next event of a VM on the agenda, unless the VM is held where it is.
fn schedule(state: &mut State, id: Id, delay: Duration, event: Event) {
    if state.cause.held {
        return;
    }
    let now = state.now;
    if let Some(vm) = state.vms.get_mut(id) {
        let delay = delay.saturating_mul(vm.slowdown);
        vm.pending = Some(state.agenda.add(Instant(now.0.saturating_add(delay)), Due::Vm(id, event)));
    }
}

/// The event that a VM waits for in its state, if it waits for one: for releasing a VM that is held.
pub(crate) fn awaited(status: VmStatus) -> Option<Event> {
    match status {
        VmStatus::WaitForLaunch => Some(Event::Launched),
        VmStatus::PoweringUp | VmStatus::RebootInProgress => Some(Event::GuestUp),
        VmStatus::PoweringDown => Some(Event::Stopped),
        VmStatus::SavingState => Some(Event::Saved),
        VmStatus::RestoringState => Some(Event::Restored),
        VmStatus::Migrating => Some(Event::Migrated),
        VmStatus::NotResponding | VmStatus::Unknown => Some(Event::Recover),
        _ => None,
    }
}

/// The VM came to rest: its command is over.
fn settle(state: &mut State, id: Id) {
    let Some(vm) = state.vms.get_mut(id) else { return };
    if vm.status != VmStatus::PoweringUp {
        vm.slowdown = 1;
    }
    if let Some(job) = vm.job.take() {
        jobs::end(state, job, JobStatus::Finished);
    }
}

/// The process runs: from now on this counts as a run, and user data counts as delivered.
fn begin_run(state: &mut State, id: Id) {
    let now = state.now;
    let Some(vm) = state.vms.get_mut(id) else { return };
    vm.started = Some(now);
    vm.stopped = None;
    vm.stop_reason = None;
    vm.initialized = true;
    let (host, name) = (vm.host, vm.name.clone());
    let on = host.and_then(|host| state.hosts.get(host)).map(|host| host.name.clone()).unwrap_or_default();
    let about = About { vm: Some(id), host, ..About::default() };
    state.log(32, Severity::Normal, format!("VM {name} started on Host {on}"), about);
}

/// The VM runs, by whichever way it came.
fn arrive(state: &mut State, id: Id, event: Event) {
    match event {
        Event::Migrated => {
            let destination = state.vms.get(id).and_then(|vm| vm.destination);
            if let Some(destination) = destination {
                leave_host(state, id);
                occupy_host(state, id, destination);
                let about = About { vm: Some(id), host: Some(destination), ..About::default() };
                let name = state.vms.get(id).map(|vm| vm.name.clone()).unwrap_or_default();
                state.log(63, Severity::Normal, format!("Migration completed (VM: {name})."), about);
            }
        }
        Event::Restored | Event::Start => guests::start(state, id),
        _ => {}
    }
    if let Some(vm) = state.vms.get_mut(id) {
        vm.requested = Power::Up;
    }
}

/// The VM is off: it gives back its host, and what was changed while it ran takes effect.
fn end_run(state: &mut State, id: Id, event: Event) {
    if event == Event::Unlock {
        return;
    }
    leave_host(state, id);
    let now = state.now;
    let Some(vm) = state.vms.get_mut(id) else { return };
    vm.requested = Power::Down;
    vm.stopped = Some(now);
    vm.run_once = false;
    vm.run_config = None;
    vm.guest = None;
    if let Some(config) = vm.next_run.take() {
        vm.config = config;
    }
    let name = vm.name.clone();
    let how = match event {
        Event::GuestOff => "Exited by itself",
        Event::LaunchFailed => "Failed to start",
        _ => "Stopped by an administrator",
    };
    let about = About { vm: Some(id), ..About::default() };
    state.log(61, Severity::Normal, format!("VM {name} is down. {how}."), about);
}

/// Books a VM's memory on a host.
pub(crate) fn occupy_host(state: &mut State, id: Id, host: Id) {
    let Some(vm) = state.vms.get_mut(id) else { return };
    vm.host = Some(host);
    let bytes = vm.guaranteed_bytes();
    if let Some(host) = state.hosts.get_mut(host) {
        host.vms.insert(id, bytes);
    }
}

/// Books a VM's memory on the host that it is moving to.
pub(crate) fn occupy_destination(state: &mut State, id: Id, host: Id) {
    let Some(vm) = state.vms.get_mut(id) else { return };
    vm.destination = Some(host);
    let bytes = vm.guaranteed_bytes();
    if let Some(host) = state.hosts.get_mut(host) {
        host.vms.insert(id, bytes);
    }
}

fn leave_host(state: &mut State, id: Id) {
    let Some(vm) = state.vms.get_mut(id) else { return };
    vm.destination = None;
    if let Some(host) = vm.host.take().and_then(|host| state.hosts.get_mut(host)) {
        host.vms.remove(&id);
    }
}

fn release_destination(state: &mut State, id: Id) {
    let Some(vm) = state.vms.get_mut(id) else { return };
    let own = vm.host;
    if let Some(destination) = vm.destination.take().filter(|destination| Some(*destination) != own)
        && let Some(host) = state.hosts.get_mut(destination)
    {
        host.vms.remove(&id);
    }
}
