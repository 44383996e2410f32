//! The engine's part of the admin endpoint: what a test does to the engine behind its back.
//!
//! | call | what it does |
//! |---|---|
//! | `GET /locks` | what is locked, and whether somebody must release it |
//! | `POST /locks/{id}/release` | finishes what holds the entity, whatever was left to do |
//! | `GET /vms/{id}/power` | the state that a VM is in, the one that was asked for, and where it runs |
//! | `GET /vms/{id}/config-drive` | what the guest finds on its config drive |
//! | `POST /vms/{id}/events` `{"event": "io_error"}` | lets something happen to a VM: `io_error`, `hang`, `host_lost`, `recover`, `guest_off`, … |
//! | `POST /hosts/{id}/status` `{"status": "non_responsive"}` | puts a host into a state; the VMs of a host that does not answer are unknown |
//! | `POST /disks/{id}/status` `{"status": "illegal"}` | puts a disk into a state |
//! | `POST /transfers/{id}/events` `{"event": "pause_by_system"}` | lets something happen to a transfer |
//! | `DELETE /sessions` | makes all tokens invalid |

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::http;
use super::lifecycle::vm::Event as VmEvent;
use super::lifecycle::{hosts, operations, power, transfers};
use super::model::{DiskStatus, HostStatus, TemplateStatus, VmStatus};
use super::state::State;
use super::table::Id;
use crate::core::{Request, Response};

/// Answers an admin call; `None` if there is none of that kind.
pub(crate) fn administer(state: &mut State, request: &Request) -> Option<Response> {
    let parts: Vec<&str> = request.path.split('/').filter(|part| !part.is_empty()).collect();
    let id = |text: &str| Id::try_parse(text).ok();
    let missing = || http::json(404, &json!({ "error": "there is no such entity" }));
    Some(match (request.method.as_str(), parts.as_slice()) {
        ("GET", ["locks"]) => http::json(200, &locks(state)),
        ("POST", ["locks", entity, "release"]) => match id(entity).filter(|id| release(state, *id)) {
            Some(_) => http::json(200, &json!({})),
            None => http::json(404, &json!({ "error": "nothing holds that entity" })),
        },
        ("GET", ["vms", vm, "power"]) => match id(vm).and_then(|id| state.vms.get(id)) {
            Some(vm) => {
                let power = json!({
                    "status": vm.status,
                    "requested": vm.requested,
                    "host": vm.host,
                    "destination": vm.destination,
                    "settled": vm.pending.is_none(),
                });
                http::json(200, &power)
            }
            None => missing(),
        },
        ("GET", ["vms", vm, "config-drive"]) => match id(vm).and_then(|id| state.vms.get(id)) {
            Some(vm) => http::json(200, &vm.drive.as_ref().map_or(Value::Null, |drive| json!(drive))),
            None => missing(),
        },
        ("POST", ["vms", vm, "events"]) => {
            let Some(vm) = id(vm).filter(|id| state.vms.contains(*id)) else { return Some(missing()) };
            match field(request, "event") {
                Ok(event) => happened(power::apply(state, vm, event)),
                Err(refused) => refused,
            }
        }
        ("POST", ["transfers", transfer, "events"]) => {
            let Some(transfer) = id(transfer).filter(|id| state.transfers.contains(*id)) else {
                return Some(missing());
            };
            match field(request, "event") {
                Ok(event) => happened(transfers::apply(state, transfer, event)),
                Err(refused) => refused,
            }
        }
        ("POST", ["hosts", host, "status"]) => {
            let Some(host) = id(host).filter(|id| state.hosts.contains(*id)) else { return Some(missing()) };
            match field(request, "status") {
                Ok(status) => {
                    set_host(state, host, status);
                    http::json(200, &json!({}))
                }
                Err(refused) => refused,
            }
        }
        ("POST", ["disks", disk, "status"]) => match (id(disk), field::<DiskStatus>(request, "status")) {
            (_, Err(refused)) => refused,
            (Some(id), Ok(status)) => match state.disks.get_mut(id) {
                Some(disk) => {
                    disk.status = status;
                    http::json(200, &json!({}))
                }
                None => missing(),
            },
            (None, _) => missing(),
        },
        ("DELETE", ["sessions"]) => http::json(200, &json!({ "revoked": state.sessions.revoke_all() })),
        _ => return None,
    })
}

/// A field of the request's body.
fn field<T: DeserializeOwned>(request: &Request, name: &str) -> Result<T, Response> {
    let refuse = |error: String| http::json(400, &json!({ "error": error }));
    let body: Value = serde_json::from_slice(&request.body).map_err(|error| refuse(error.to_string()))?;
    T::deserialize(&body[name]).map_err(|error| refuse(format!("{name}: {error}")))
}

fn happened<T, E: std::fmt::Display>(outcome: Option<Result<T, E>>) -> Response {
    match outcome {
        Some(Ok(_)) => http::json(200, &json!({})),
        Some(Err(illegal)) => http::json(409, &json!({ "error": illegal.to_string() })),
        None => http::json(404, &json!({ "error": "there is no such entity" })),
    }
}

/// Everything that is locked, with what it waits for.
fn locks(state: &State) -> Value {
    let disks = state.disks.iter().filter(|disk| disk.status == DiskStatus::Locked);
    let templates = state.templates.iter().filter(|template| template.status == TemplateStatus::Locked);
    let vms = state.vms.iter().filter(|vm| vm.status == VmStatus::ImageLocked);
    let held = state.operations.iter().filter(|(_, operation)| operation.key.is_none());
    json!({
        "disks": disks.map(|disk| disk.id).collect::<Vec<_>>(),
        "templates": templates.map(|template| template.id).collect::<Vec<_>>(),
        "vms": vms.map(|vm| vm.id).collect::<Vec<_>>(),
        "busy": state.busy,
        "held_jobs": held.map(|(job, _)| job).collect::<Vec<_>>(),
    })
}

/// Finishes whatever holds an entity: work on it, a change of its power, a transfer, a plain reservation.
fn release(state: &mut State, id: Id) -> bool {
    let jobs: Vec<Id> = state
        .operations
        .iter()
        .filter(|(job, operation)| **job == id || operation.work.concerns(id))
        .map(|(job, _)| *job)
        .collect();
    let mut released = state.busy.remove(&id);
    for job in jobs {
        released |= operations::finish(state, job);
    }
    let stuck = state.vms.get(id).filter(|vm| vm.pending.is_none()).and_then(|vm| power::awaited(vm.status));
    if let Some(event) = stuck {
        released |= matches!(power::apply(state, id, event), Some(Ok(_)));
    }
    let waiting: Vec<Id> = state
        .transfers
        .iter()
        .filter(|transfer| (transfer.id == id || transfer.disk == id) && transfer.pending.is_none())
        .map(|transfer| transfer.id)
        .collect();
    for transfer in waiting {
        let event = state.transfers.get(transfer).and_then(|transfer| transfers::awaited(transfer.phase));
        released |= event.is_some_and(|event| matches!(transfers::apply(state, transfer, event), Some(Ok(_))));
    }
    released
}

fn set_host(state: &mut State, id: Id, status: HostStatus) {
    let answers = |status| !matches!(status, HostStatus::NonResponsive | HostStatus::Down);
    let before = state.hosts.get(id).map(|host| host.status);
    hosts::set_status(state, id, status);
    let event = match (before.is_none_or(answers), answers(status)) {
        (true, false) => VmEvent::HostLost,
        (false, true) => VmEvent::Recover,
        _ => return,
    };
    let vms: Vec<Id> = state.hosts.get(id).map(|host| host.vms.keys().copied().collect()).unwrap_or_default();
    for vm in vms {
        // A VM that was stopped meanwhile, or that moves away, is not lost with the host.
        let _ = power::apply(state, vm, event);
    }
}
