//! Devices: listing, changing, deleting, and their power.

mod create;
mod show;

use serde_json::Value;

use super::agenda::Due;
use super::call::Call;
use super::lifecycle;
use super::options::Options;
use super::reply::{Answer, Refusal, empty, object, page};
use super::state::{Device, DeviceState, State};
use crate::core::Instant;

pub(super) use create::{create, create_batch, make, outcome};
pub(super) use show::show;

/// How long a change of power takes.
const POWER: std::time::Duration = std::time::Duration::from_secs(20);

/// The devices that a list holds.
pub(super) fn list(state: &State, call: &Call, project: Option<&str>) -> Answer {
    if project.is_some_and(|id| state.project(id).is_none()) {
        return Err(Refusal::not_found());
    }
    let wanted = |device: &&Device| {
        let is = |name: &str, value: &str| call.text(name).is_none_or(|wanted| wanted == value);
        let search = |text: &str| {
            let text = text.to_lowercase();
            let fields = [&device.hostname, &device.id, device.description.as_ref().unwrap_or(&device.hostname)];
            fields.into_iter().any(|field| field.to_lowercase().contains(&text))
                || device.tags.iter().any(|tag| tag.to_lowercase().contains(&text))
                || device.management.iter().any(|own| own.address.contains(&text))
        };
        project.is_none_or(|id| device.project == id)
            && !device.hidden
            && is("facility", &device.facility)
            && is("metro", &device.metro)
            && call.text("hostname").is_none_or(|part| device.hostname.contains(part))
            && call.text("tag").is_none_or(|tag| device.tags.iter().any(|own| own == tag))
            && call.text("search").is_none_or(search)
            && call.flag("reserved").is_none_or(|reserved| device.reservation.is_some() == reserved)
            && call.text("mac_address").is_none_or(|mac| device.ports.iter().any(|port| port.mac == mac))
            && call.flag("has_termination_time").is_none_or(|has| device.termination.is_some() == has)
    };
    // The newest come first.
    let shown: Vec<Value> =
        state.devices.iter().rev().filter(wanted).map(|device| show(state, call.base, device)).collect();
    page(call, "devices", &shown)
}

/// A device that may be seen: one that failed on demand may not.
fn visible<'a>(state: &'a State, id: &str) -> Result<&'a Device, Refusal> {
    match state.device(id) {
        None => Err(Refusal::not_found()),
        Some(device) if device.hidden => Err(Refusal::new(403, "You are not authorized to view this device")),
        Some(device) => Ok(device),
    }
}

pub(super) fn get(state: &State, call: &Call, id: &str) -> Answer {
    Ok(object(200, &show(state, call.base, visible(state, id)?)))
}

pub(super) fn update(state: &mut State, call: &Call, id: &str) -> Answer {
    visible(state, id)?;
    let tags = call.texts("tags");
    if let Some(tags) = &tags {
        create::check_tags(tags)?;
    }
    let now = state.now;
    let Some(device) = state.device_mut(id) else { return Err(Refusal::not_found()) };
    if let Some(hostname) = call.text("hostname") {
        create::check_hostname(hostname)?;
        hostname.clone_into(&mut device.hostname);
    }
    if let Some(text) = call.text("description") {
        device.description = Some(text.to_owned());
    }
    if let Some(tags) = tags {
        device.tags = tags;
    }
    if let Some(userdata) = call.get("userdata").and_then(Value::as_str) {
        userdata.clone_into(&mut device.userdata);
    }
    if let Some(data) = call.get("customdata") {
        device.customdata = create::customdata(data);
    }
    for (name, field) in [
        ("locked", &mut device.locked),
        ("always_pxe", &mut device.always_pxe),
        ("network_frozen", &mut device.network_frozen),
    ] {
        if let Some(flag) = call.flag(name) {
            *field = flag;
        }
    }
    if call.flag("spot_instance") == Some(false) && device.spot {
        device.spot = false;
        device.termination = None;
    }
    if let Some(url) = call.text("ipxe_script_url") {
        device.ipxe_script_url = Some(url.to_owned());
    }
    if let Some(cycle) = call.text("billing_cycle") {
        cycle.clone_into(&mut device.billing_cycle);
    }
    device.updated = now;
    let device = device.clone();
    Ok(object(200, &show(state, call.base, &device)))
}

pub(super) fn delete(state: &mut State, options: &Options, call: &Call, id: &str) -> Answer {
    let device = visible(state, id)?;
    if device.state == DeviceState::Deprovisioning {
        return Err(Refusal::not_found());
    }
    if device.locked {
        return Err(Refusal::invalid("Cannot delete a locked device"));
    }
    if device.state.is_underway() && call.flag("force_delete") != Some(true) {
        return Err(Refusal::invalid("Cannot delete a device while it is provisioning"));
    }
    lifecycle::remove(state, options, id);
    Ok(empty(204))
}

pub(super) fn act(state: &mut State, call: &Call, id: &str) -> Answer {
    let device = visible(state, id)?;
    let (current, locked) = (device.state, device.locked);
    let kind = call.text("type").ok_or_else(|| Refusal::invalid("Type can't be blank"))?.to_owned();
    if locked && matches!(kind.as_str(), "power_off" | "reinstall") {
        return Err(Refusal::invalid("The device is locked"));
    }
    if current.is_underway() || current == DeviceState::Deprovisioning {
        return Err(Refusal::invalid("The device is not ready for this action"));
    }
    let soon = Instant(state.now.0 + POWER);
    let next = match (kind.as_str(), current) {
        ("power_on", DeviceState::Inactive) => {
            state.agenda.add(soon, Due::Power { device: id.to_owned(), on: true });
            DeviceState::PoweringOn
        }
        ("power_on", _) => return Err(Refusal::invalid("The device is already powered on")),
        ("power_off", DeviceState::Active) => {
            state.agenda.add(soon, Due::Power { device: id.to_owned(), on: false });
            DeviceState::PoweringOff
        }
        ("power_off", _) => return Err(Refusal::invalid("The device is already powered off")),
        ("reboot" | "rescue", DeviceState::Active) => {
            lifecycle::restart(state, id);
            DeviceState::Active
        }
        ("reinstall", DeviceState::Active | DeviceState::Inactive) => {
            if let Some(url) = call.text("ipxe_script_url").map(str::to_owned)
                && let Some(device) = state.device_mut(id)
            {
                device.ipxe_script_url = Some(url);
            }
            lifecycle::reinstall(state, id);
            DeviceState::Reinstalling
        }
        ("reboot" | "rescue" | "reinstall", _) => return Err(Refusal::invalid("The device is powered off")),
        _ => return Err(Refusal::invalid("Type is not included in the list")),
    };
    if let Some(device) = state.device_mut(id) {
        device.state = next;
    }
    let project = state.device(id).map(|device| device.project.clone());
    state.log(&format!("power.{kind}"), format!("{kind} requested"), Some(id), project.as_deref());
    Ok(empty(202))
}

pub(super) fn batches(state: &State, call: &Call) -> Answer {
    page(call, "batches", &state.batches)
}

pub(super) fn batch(state: &State, id: &str) -> Answer {
    let found = state.batches.iter().find(|batch| batch["id"] == id).ok_or_else(Refusal::not_found)?;
    Ok(object(200, found))
}

pub(super) fn delete_batch(state: &mut State, options: &Options, call: &Call, id: &str) -> Answer {
    let place = state.batches.iter().position(|batch| batch["id"] == id).ok_or_else(Refusal::not_found)?;
    let batch = state.batches.remove(place);
    if call.flag("remove_associated_instances") == Some(true) {
        let devices = batch["devices"].as_array().into_iter().flatten();
        let ids: Vec<String> =
            devices.filter_map(|device| Some(device["href"].as_str()?.rsplit('/').next()?.to_owned())).collect();
        for id in ids {
            lifecycle::remove(state, options, &id);
        }
    }
    Ok(empty(204))
}
