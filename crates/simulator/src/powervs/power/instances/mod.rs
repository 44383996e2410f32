//! Virtual servers: what can be asked of them, and what becomes of them.

mod create;
mod show;

use serde_json::{Value, json};

use super::{Instance, Workspace, dhcp, log, placement, workspace, workspace_mut};
use crate::core::guest::GuestCommand;
use crate::powervs::agenda::Event;
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::guests;
use crate::powervs::knobs::{Kind, Outcome};
use crate::powervs::reply::{Answer, Refusal, json_reply};

pub(super) use create::create;
use show::show_one;
pub(super) use show::show_row;

fn find<'a>(own: &'a Workspace, id: &str) -> Result<&'a Instance, Refusal> {
    let missing = || Refusal::new(404, "pvm-instance not found", format!("pvm-instance {id} not found"));
    own.instances.get(id).ok_or_else(missing)
}

fn find_mut<'a>(cloud: &'a mut Cloud, id: &str) -> Option<&'a mut Instance> {
    cloud.state.workspaces.values_mut().find_map(|own| own.instances.get_mut(id))
}

/// The workspace that a virtual server is in.
fn home(cloud: &Cloud, id: &str) -> Option<String> {
    cloud.state.workspaces.values().find(|own| own.instances.contains_key(id)).map(|own| own.guid.clone())
}

pub(super) fn list(cloud: &Cloud, ws: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    let shown: Vec<Value> = own.instances.values().map(|instance| show_row(cloud, own, instance)).collect();
    Ok(json_reply(200, &json!({ "pvmInstances": shown })))
}

pub(super) fn get(cloud: &Cloud, ws: &str, id: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    if let Some(server) = own.dhcp_servers.get(id) {
        return Ok(json_reply(200, &show::hidden(cloud, own, server)));
    }
    Ok(json_reply(200, &show_one(cloud, own, find(own, id)?)))
}

pub(super) fn networks(cloud: &Cloud, ws: &str, id: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    Ok(json_reply(200, &json!({ "networks": show::networks(own, find(own, id)?, true) })))
}

pub(super) fn console(cloud: &Cloud, ws: &str, id: &str) -> Answer {
    let own = workspace(cloud, ws)?;
    let instance = find(own, id)?;
    if instance.status != "ACTIVE" {
        return Err(Refusal::new(422, "unprocessable_entity", format!("pvm-instance {id} is {}", instance.status)));
    }
    let token = Cloud::fixed_hex(&format!("console {id}"), 32);
    let url = format!("https://{}-console.power-iaas.cloud.ibm.com/console/index.html?token={token}", own.zone);
    Ok(json_reply(201, &json!({ "consoleURL": url })))
}

pub(super) fn update(cloud: &mut Cloud, call: &Call, ws: &str, id: &str) -> Answer {
    let status = find(workspace(cloud, ws)?, id)?.status.clone();
    if !matches!(status.as_str(), "ACTIVE" | "SHUTOFF") {
        return Err(Refusal::conflict(format!("pvm-instance {id} is {status}")));
    }
    let number = |name: &str| call.value(name).and_then(Value::as_f64).filter(|number| *number > 0.0);
    let now = cloud.state.now;
    let Some(instance) = find_mut(cloud, id) else { return Err(Refusal::no_route()) };
    if let Some(name) = call.text("serverName") {
        name.clone_into(&mut instance.name);
    }
    instance.memory_gib = number("memory").unwrap_or(instance.memory_gib);
    instance.processors = number("processors").unwrap_or(instance.processors);
    if let Some(kind) = call.text("procType") {
        kind.clone_into(&mut instance.processor_type);
    }
    instance.updated = now;
    let shown = json!({
        "serverName": instance.name,
        "memory": instance.memory_gib,
        "processors": instance.processors,
        "procType": instance.processor_type,
        "pinPolicy": instance.pin_policy,
        "statusUrl": format!("/pcloud/v1/cloud-instances/{ws}/pvm-instances/{id}"),
    });
    Ok(json_reply(202, &shown))
}

/// A virtual server is there, or is not going to be.
pub(in crate::powervs) fn done(cloud: &mut Cloud, id: &str) {
    let Some(name) = find_mut(cloud, id).filter(|own| own.status == "BUILD").map(|own| own.name.clone()) else {
        return;
    };
    let Some(ws) = home(cloud, id) else { return };
    let now = cloud.state.now;
    let outcome = cloud.outcome(Kind::Instance, &name);
    if outcome == Some(Outcome::Stuck) {
        return;
    }
    let failed = outcome == Some(Outcome::Failed);
    let Some(instance) = find_mut(cloud, id) else { return };
    instance.updated = now;
    instance.task = None;
    if failed {
        "ERROR".clone_into(&mut instance.status);
        "CRITICAL".clone_into(&mut instance.health);
        instance.fault = Some("No valid host was found. There are not enough hosts available.".to_owned());
        log(cloud, &ws, "error", "pvm-instance", "create", &format!("Virtual server {name} could not be made"));
        return;
    }
    "ACTIVE".clone_into(&mut instance.status);
    // The resource monitor of systems that have none is never heard of.
    "WARNING".clone_into(&mut instance.health);
    log(cloud, &ws, "info", "pvm-instance", "create", &format!("Virtual server {name} is active"));
    switch_on(cloud, &ws, id);
}

fn switch_on(cloud: &mut Cloud, ws: &str, id: &str) {
    let interfaces = find_mut(cloud, id).map(|own| own.interfaces.clone()).unwrap_or_default();
    for interface in interfaces {
        dhcp::lease(cloud, ws, &interface);
    }
    guests::start(cloud, ws, id);
}

pub(super) fn act(cloud: &mut Cloud, call: &Call, ws: &str, id: &str) -> Answer {
    let action = call.need("action")?;
    let instance = find(workspace(cloud, ws)?, id)?;
    let refuse = |status: &str| {
        let message = format!("cannot {action} pvm-instance {id}: it is in status {status}");
        Err(Refusal::new(400, "bad_request", message))
    };
    let (status, busy) = (instance.status.clone(), instance.task.is_some());
    if busy {
        return refuse("busy");
    }
    match (action, status.as_str()) {
        ("start", "SHUTOFF") => begin(cloud, id, "powering-on", Event::On),
        ("stop", "ACTIVE") => {
            cloud.state.guest_commands.push(GuestCommand::Shutdown { id: id.to_owned() });
            begin(cloud, id, "powering-off", Event::Off);
        }
        ("immediate-shutdown", "ACTIVE" | "ERROR") => begin(cloud, id, "powering-off", Event::Off),
        ("soft-reboot", "ACTIVE") => cloud.state.guest_commands.push(GuestCommand::Reboot { id: id.to_owned() }),
        ("hard-reboot" | "dumprestart", "ACTIVE") => {
            guests::stop(cloud, id);
            guests::start(cloud, ws, id);
        }
        ("reset-state", _) => {
            if let Some(instance) = find_mut(cloud, id) {
                "ACTIVE".clone_into(&mut instance.status);
                "CRITICAL".clone_into(&mut instance.health);
            }
        }
        ("start" | "stop" | "immediate-shutdown" | "soft-reboot" | "hard-reboot" | "dumprestart", status) => {
            return refuse(status);
        }
        _ => return Err(Refusal::invalid(format!("action {action} is not supported"))),
    }
    log(cloud, ws, "info", "pvm-instance", action, &format!("{action} of virtual server {id}"));
    Ok(json_reply(200, &json!({})))
}

fn begin(cloud: &mut Cloud, id: &str, task: &str, event: Event) {
    if let Some(instance) = find_mut(cloud, id) {
        instance.task = Some(task.to_owned());
    }
    cloud.later(Kind::Power, id, event);
}

/// A change of power is done.
pub(in crate::powervs) fn power(cloud: &mut Cloud, id: &str, on: bool) {
    let Some(ws) = home(cloud, id) else { return };
    let now = cloud.state.now;
    if let Some(instance) = find_mut(cloud, id) {
        instance.task = None;
        instance.updated = now;
        if on { "ACTIVE" } else { "SHUTOFF" }.clone_into(&mut instance.status);
    }
    if on {
        switch_on(cloud, &ws, id);
    } else {
        guests::stop(cloud, id);
    }
}

pub(super) fn delete(cloud: &mut Cloud, call: &Call, ws: &str, id: &str) -> Answer {
    if let Some(answer) = dhcp::delete_as_instance(cloud, ws, id) {
        return answer;
    }
    let instance = find(workspace(cloud, ws)?, id)?;
    if instance.task.as_deref() == Some("deleting") {
        return Ok(json_reply(200, &json!({})));
    }
    if call.query("delete_data_volumes") == Some("true") {
        let own = workspace_mut(cloud, ws)?;
        for volume in own.volumes.values_mut().filter(|volume| volume.instances.iter().any(|other| other == id)) {
            volume.boot = true;
        }
    }
    guests::stop(cloud, id);
    cloud.state.agenda.forget(id);
    if let Some(instance) = find_mut(cloud, id) {
        instance.task = Some("deleting".to_owned());
    }
    cloud.later(Kind::InstanceDelete, id, Event::Gone);
    log(cloud, ws, "info", "pvm-instance", "delete", &format!("Virtual server {id} is being deleted"));
    Ok(json_reply(200, &json!({})))
}

/// A virtual server is gone, and what belonged to it.
pub(in crate::powervs) fn gone(cloud: &mut Cloud, id: &str) {
    let Some(ws) = home(cloud, id) else { return };
    if let Some(group) = find_mut(cloud, id).and_then(|own| own.placement_group.clone()) {
        // Whoever took it out meanwhile did the same.
        let _ = placement::leave(cloud, &ws, &group, id);
    }
    let name = find_mut(cloud, id).map(|own| own.name.clone()).unwrap_or_default();
    let leaves = cloud.options.outcome(Kind::Instance, &name) == Some(Outcome::LeavesInterface);
    let Some(own) = cloud.state.workspaces.get_mut(&ws) else { return };
    own.instances.shift_remove(id);
    let is_own = |volume: &super::Volume| volume.instances.len() == 1 && volume.instances[0] == id;
    own.volumes.retain(|_, volume| !(volume.boot && is_own(volume)));
    for volume in own.volumes.values_mut().filter(|volume| volume.instances.iter().any(|other| other == id)) {
        volume.instances.retain(|other| other != id);
        "available".clone_into(&mut volume.state);
    }
    let mut gone = Vec::new();
    own.interfaces.retain(|_, interface| {
        let is_own = interface.instance.as_deref() == Some(id);
        if is_own && leaves {
            interface.instance = None;
        } else if is_own {
            gone.push(interface.mac.clone());
        }
        !is_own || leaves
    });
    for server in own.dhcp_servers.values_mut() {
        server.leases.retain(|mac| !gone.contains(mac));
    }
}
