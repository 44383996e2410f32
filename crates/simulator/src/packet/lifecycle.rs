//! What becomes of devices as time passes.
//!
//! A device with `custom_ipxe` is `active` as soon as its iPXE script is served: whether an operating system is up is
//! another matter, which the guest decides.

use std::time::Duration;

use serde_json::{Value, json};

use super::agenda::Due;
use super::guests;
use super::knobs::Outcome;
use super::options::Options;
use super::state::{Device, DeviceState, State};
use super::{bgp, devices, market};
use crate::core::Instant;

/// A stage of provisioning: when it begins, its type, and what is said.
struct Stage(u64, &'static str, &'static str);

const COMMON: [Stage; 4] = [
    Stage(0, "provisioning.101", "Provision started"),
    Stage(86, "provisioning.102", "Network configured"),
    Stage(97, "provisioning.103", "Configuration written, restarting device"),
    Stage(183, "provisioning.104", "Connected to magic install system"),
];
const INSTALLED: [Stage; 4] = [
    Stage(200, "provisioning.106", "Server partitions created"),
    Stage(220, "provisioning.107", "Server networking interfaces configured"),
    Stage(280, "provisioning.109", "Installation finished, rebooting server"),
    Stage(300, "provisioning.110", "Server phoned home and is ready"),
];
const BOOTED_BY_IPXE: [Stage; 1] = [Stage(190, "provisioning.110", "Server phoned home and is ready")];

/// The stage in which the machine boots from the network.
const BOOT: usize = 3;
/// How long a device that was deleted is still seen.
const DEPROVISION: Duration = Duration::from_secs(10);
/// The notice that a spot instance gets.
pub(super) const NOTICE: Duration = Duration::from_mins(2);

fn stages(device: &Device) -> Vec<&'static Stage> {
    let rest: &[Stage] = if device.os == "custom_ipxe" { &BOOTED_BY_IPXE } else { &INSTALLED };
    COMMON.iter().chain(rest).collect()
}

/// Carries out what is due.
pub(super) fn advance(state: &mut State, options: &Options, now: Instant) {
    while let Some((at, due)) = state.agenda.pop(now) {
        state.now = at.max(state.now);
        match due {
            Due::Provision { device, stage } => provision(state, options, &device, stage),
            Due::Power { device, on } => power(state, &device, on),
            Due::Gone { device } => gone(state, &device),
            Due::HardwareFree { reservation } => {
                if let Some(own) = state.reservations.iter_mut().find(|own| own.id == reservation) {
                    own.provisionable = true;
                }
            }
            Due::Evict { device } => {
                if state.device(&device).is_some_and(|device| device.termination.is_some()) {
                    remove(state, options, &device);
                }
            }
        }
    }
    state.now = now.max(state.now);
}

fn provision(state: &mut State, options: &Options, id: &str, reached: usize) {
    let now = state.now;
    let Some(device) = state.device(id) else { return };
    let (hostname, reserved, reinstalled) =
        (device.hostname.clone(), device.reservation.is_some(), device.state == DeviceState::Reinstalling);
    if reached == BOOT {
        match devices::outcome(options, &hostname) {
            Some(Outcome::Stuck) => return,
            Some(Outcome::Failed) if state.failed_once.insert(hostname) => return fail(state, id, reserved),
            _ => {}
        }
    }
    let Some(device) = state.device_mut(id) else { return };
    let all = stages(device);
    let Some(Stage(begins, kind, text)) = all.get(reached) else { return };
    device.provisioned.push(((*kind).to_owned(), now));
    if !reinstalled {
        device.state = DeviceState::Provisioning;
    }
    let slow = device.slow;
    let next = all.get(reached + 1).map(|Stage(then, ..)| Duration::from_secs(then - begins) * slow);
    if next.is_none() {
        device.state = DeviceState::Active;
        device.updated = now;
    }
    let (boots, project) = (reached == BOOT, device.project.clone());
    state.log(kind, *text, Some(id), Some(&project));
    if boots {
        guests::start(state, id);
    }
    if let Some(delay) = next {
        state.agenda.add(Instant(now.0 + delay), Due::Provision { device: id.to_owned(), stage: reached + 1 });
    }
}

/// A device that failed on demand vanishes; one on reserved hardware stays to be deleted.
pub(super) fn fail(state: &mut State, id: &str, reserved: bool) {
    guests::stop(state, id);
    state.agenda.forget(id);
    let Some(device) = state.device_mut(id) else { return };
    device.state = DeviceState::Failed;
    device.hidden = !reserved;
    let project = device.project.clone();
    state.log("provisioning.failed", "Device failed to provision: time limit exceeded", Some(id), Some(&project));
}

fn power(state: &mut State, id: &str, on: bool) {
    let Some(device) = state.device_mut(id) else { return };
    device.state = if on { DeviceState::Active } else { DeviceState::Inactive };
    if on {
        guests::start(state, id);
    } else {
        guests::stop(state, id);
    }
}

/// Starts the guest afresh.
pub(super) fn restart(state: &mut State, id: &str) {
    guests::stop(state, id);
    guests::start(state, id);
}

/// Wipes the disks and provisions again, with the same addresses.
pub(super) fn reinstall(state: &mut State, id: &str) {
    guests::stop(state, id);
    let disk = state.id();
    if let Some(device) = state.device_mut(id) {
        device.provisioned.clear();
        device.disk = disk;
    }
    state.agenda.add(state.now, Due::Provision { device: id.to_owned(), stage: 0 });
}

/// Takes a device down. What hangs on it goes with it at once, as clients expect; the device itself a little later.
pub(super) fn remove(state: &mut State, options: &Options, id: &str) {
    guests::stop(state, id);
    state.agenda.forget(id);
    let now = state.now;
    let Some(device) = state.device_mut(id) else { return };
    if device.state == DeviceState::Deprovisioning {
        return;
    }
    device.state = DeviceState::Deprovisioning;
    for port in &mut device.ports {
        port.vlans.clear();
    }
    let (project, reservation) = (device.project.clone(), device.reservation.clone());
    for block in &mut state.blocks {
        block.assignments.retain(|assignment| assignment.device != id);
    }
    bgp::forget(state, id);
    market::forget(state, id);
    if let Some(own) = state.reservations.iter_mut().find(|own| Some(&own.id) == reservation.as_ref()) {
        own.device = None;
        let due = Due::HardwareFree { reservation: own.id.clone() };
        state.agenda.add(Instant(now.0 + options.deprovision_time), due);
    }
    state.log("deprovisioning.304.1", "Undergoing provisioning wipe", Some(id), Some(&project));
    state.agenda.add(Instant(now.0 + DEPROVISION), Due::Gone { device: id.to_owned() });
}

fn gone(state: &mut State, id: &str) {
    state.devices.retain(|device| device.id != id);
    state.blocks.retain(|block| !(block.management && block.details.as_deref() == Some(id)));
}

/// The events of a device on its way, those to come included, and how far it is.
pub(super) fn progress(state: &State, device: &Device) -> (Vec<Value>, f64) {
    let all = stages(device);
    let shown = all.iter().map(|Stage(_, kind, text)| {
        let at = device.provisioned.iter().find(|(done, _)| done == kind).map(|(_, at)| state.time(*at));
        json!({"id": null, "type": kind, "body": text, "interpolated": text, "created_at": at, "relationships": []})
    });
    #[allow(clippy::cast_precision_loss, reason = "there are less than ten stages")]
    let share = (device.provisioned.len() as f64 / all.len() as f64 * 10_000.0).round() / 100.0;
    (shown.collect(), share)
}
