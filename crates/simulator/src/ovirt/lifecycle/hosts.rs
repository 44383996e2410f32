//! Hosts: their memory, and going into maintenance and back.

use super::power;
use crate::ovirt::agenda::Due;
use crate::ovirt::delays;
use crate::ovirt::fault::Fault;
use crate::ovirt::messages::attempt;
use crate::ovirt::model::{About, Host, HostStatus, Severity, VmAffinity};
use crate::ovirt::scheduler::{self, Search};
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// The memory that a host can still promise.
pub(crate) fn free_bytes(state: &State, host: &Host) -> u64 {
    let percent = state.clusters.get(host.cluster).map_or(100, |cluster| cluster.overcommit_percent);
    let whole = u128::from(host.memory_bytes) * u128::from(percent) / 100;
    u64::try_from(whole).unwrap_or(u64::MAX).saturating_sub(host.promised_bytes())
}

/// Brings a host back into service.
pub(crate) fn activate(state: &mut State, id: Id) -> Result<(), Fault> {
    let host = state.hosts.get_mut(id).ok_or_else(Fault::not_found)?;
    if host.status == HostStatus::Up {
        return Err(attempt("activate", "Host").conflict("Host is already active."));
    }
    host.status = HostStatus::Unassigned;
    let held = state.cause.held;
    let key = (!held).then(|| state.later(delays::HOST_CHANGE, Due::Host(id)));
    replace_pending(state, id, key);
    Ok(())
}

/// Takes a host out of service after moving its VMs away.
pub(crate) fn deactivate(state: &mut State, id: Id) -> Result<(), Fault> {
    let host = state.hosts.get(id).ok_or_else(Fault::not_found)?;
    let refuse = attempt("switch", "Host");
    if host.status == HostStatus::Maintenance {
        return Err(refuse.conflict("Host is already in maintenance mode."));
    }
    let vms: Vec<Id> = host.vms.keys().copied().collect();
    for vm in vms.iter().filter_map(|vm| state.vms.get(*vm)) {
        if vm.placement.affinity == VmAffinity::Pinned {
            let name = &vm.name;
            return Err(
                refuse.conflict(&format!("The following VMs cannot be migrated because they are pinned: {name}."))
            );
        }
        let search = Search { vm, except: Some(id), only: &[] };
        if let Err(reasons) = scheduler::choose(state, search) {
            return Err(refuse.no_host(&reasons));
        }
    }
    let status = if vms.is_empty() { HostStatus::Maintenance } else { HostStatus::PreparingForMaintenance };
    set_status(state, id, status);
    for vm in vms {
        // A host that could take each of them may not be able to take all; the rest is tried again below.
        let _ = power::migrate(state, vm, &[], false);
    }
    if status == HostStatus::PreparingForMaintenance && !state.cause.held {
        let key = state.later(delays::HOST_CHANGE, Due::Host(id));
        replace_pending(state, id, Some(key));
    }
    Ok(())
}

/// Looks at a host whose change is due.
pub(crate) fn due(state: &mut State, id: Id) {
    let Some(host) = state.hosts.get_mut(id) else { return };
    host.pending = None;
    match host.status {
        HostStatus::Unassigned => set_status(state, id, HostStatus::Up),
        HostStatus::PreparingForMaintenance if host.vms.is_empty() => set_status(state, id, HostStatus::Maintenance),
        HostStatus::PreparingForMaintenance => {
            let vms: Vec<Id> = host.vms.keys().copied().collect();
            let mut moved = false;
            for vm in vms {
                let moving = state.vms.get(vm).is_some_and(|vm| vm.pending.is_some());
                moved |= moving || power::migrate(state, vm, &[], false).is_ok();
            }
            if moved {
                let key = state.later(delays::HOST_CHANGE, Due::Host(id));
                replace_pending(state, id, Some(key));
            } else {
                // Nothing can leave: the engine gives up and keeps the host in service.
                set_status(state, id, HostStatus::Up);
            }
        }
        _ => {}
    }
}

/// Puts a host into a state, with what that means for the VMs on it.
pub(crate) fn set_status(state: &mut State, id: Id, status: HostStatus) {
    let Some(host) = state.hosts.get_mut(id) else { return };
    host.status = status;
    let description = format!("Status of host {} was set to {status}.", host.name);
    state.log(13, Severity::Normal, description, About { host: Some(id), ..About::default() });
}

fn replace_pending(state: &mut State, id: Id, key: Option<crate::ovirt::agenda::Key>) {
    let old = state.hosts.get_mut(id).and_then(|host| std::mem::replace(&mut host.pending, key));
    if let Some(old) = old {
        state.agenda.cancel(old);
    }
}
