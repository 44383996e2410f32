//! The administrator's own calls: forcing things that clients cannot.
//!
//! | call | what it does |
//! |---|---|
//! | `POST /hosts/N/partitions/NAME` | sets elements of a partition: `{"ResourceMonitoringControlState": "inactive"}`, which then lasts until it is switched off |
//! | `POST`, `DELETE /hosts/N/consoles/ID` | opens or closes the console of the partition of a number; the answer is its port |
//! | `DELETE /hosts/N/events` | forgets who reads events, as a console that was restarted has: all queues begin anew |
//! | `POST /hosts/N/touch/NAME` | changes a partition without changing anything: its entity tag is another now |

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::console::Console;
use super::partition;
use super::state::State;
use crate::core::{Request, Response};

/// Answers a call, if it is one of these.
pub(crate) fn administer(state: &mut State, request: &Request) -> Option<Response> {
    let parts: Vec<&str> = request.path.split('/').filter(|part| !part.is_empty()).collect();
    let ["hosts", host, rest @ ..] = parts.as_slice() else { return None };
    let host: usize = host.parse().ok().filter(|host| *host < state.hosts.len())?;
    if *rest == ["events"] && request.method == "DELETE" {
        state.hosts[host].events.forget_readers();
        return Some(answer(200, &json!(null)));
    }
    let [verb, name] = rest else { return None };
    if *verb == "consoles" {
        return console(state, host, &request.method, name.parse().ok()?);
    }
    if request.method != "POST" {
        return None;
    }
    let found = state
        .objects(host)
        .find(|object| object.is_partition() && object.element.text("PartitionName") == *name)
        .map(|object| object.id.clone());
    let Some(id) = found else { return Some(answer(404, &json!({"error": format!("no partition {name}")}))) };
    match *verb {
        "partitions" => {
            let Ok(fields) = serde_json::from_slice::<Map<String, Value>>(&request.body) else {
                return Some(answer(400, &json!({"error": "an object of element names and texts is expected"})));
            };
            for (field, value) in fields {
                let connection = field == "ResourceMonitoringControlState";
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                if let Some(object) = state.object_mut(host, &id) {
                    object.element.set(&field, &text);
                    if connection {
                        object.element.put(partition::capabilities(text == "active"));
                    }
                }
                if connection && text == "active" {
                    state.hosts[host].cut_off.remove(&id);
                } else if connection {
                    // Also for a guest that is still about to connect.
                    state.hosts[host].cut_off.insert(id.clone());
                }
                state.announce(host, "MODIFY_URI", &id, &field);
            }
        }
        "touch" => {
            let number = state.next();
            if let Some(object) = state.object_mut(host, &id) {
                object.element.set("Description", format!("touched {number}"));
            }
            state.announce(host, "MODIFY_URI", &id, "Other");
        }
        _ => return None,
    }
    Some(answer(200, &json!({"id": id})))
}

/// Opens or closes the console of a partition.
fn console(state: &mut State, host: usize, method: &str, number: u32) -> Option<Response> {
    let partition = state.objects(host).find(|object| object.is_partition() && object.partition_id() == number);
    let Some((id, name)) = partition.map(|object| (object.id.clone(), object.element.text("PartitionName").to_owned()))
    else {
        return Some(answer(404, &json!(format!("there is no partition {number}"))));
    };
    let consoles = &mut state.hosts[host].consoles;
    match (method, consoles.get(&id)) {
        ("POST", Some(open)) => Some(answer(409, &json!(open.port))),
        ("POST", None) => match Console::open(&name) {
            Ok(console) => {
                let port = console.port;
                consoles.insert(id, Arc::new(console));
                Some(answer(200, &json!(port)))
            }
            Err(error) => Some(answer(500, &json!(error.to_string()))),
        },
        ("DELETE", _) => {
            consoles.remove(&id);
            Some(answer(200, &json!(null)))
        }
        _ => None,
    }
}

fn answer(status: u16, body: &Value) -> Response {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Response { status, headers, body: body.to_string().into() }
}
