//! What happened.

use serde_json::{Value, json};

use super::call::Call;
use super::reply::{Answer, Refusal, object, page};
use super::state::{Event, State};

fn show(state: &State, base: &str, event: &Event) -> Value {
    let related = event.device.iter().map(|id| json!({"href": format!("{base}/devices/{id}")}));
    let projects = event.project.iter().map(|id| json!({"href": format!("{base}/projects/{id}")}));
    json!({
        "id": event.id,
        "type": event.kind,
        "body": event.body,
        "interpolated": event.body,
        "state": "created",
        "created_at": state.time(event.created),
        "modified_by": {"id": state.user, "href": format!("{base}/users/{}", state.user)},
        "ip": "127.0.0.1",
        "relationships": related.chain(projects).collect::<Vec<_>>(),
        "href": format!("{base}/events/{}", event.id),
    })
}

/// The newest first.
fn shown(state: &State, call: &Call, wanted: impl Fn(&Event) -> bool) -> Answer {
    let own = state.events.iter().rev().filter(|event| wanted(event));
    page(call, "events", &own.map(|event| show(state, call.base, event)).collect::<Vec<_>>())
}

pub(super) fn list(state: &State, call: &Call, owner: Option<&str>) -> Answer {
    let all = owner.is_none_or(|id| state.organizations.iter().any(|organization| organization.id == id));
    shown(state, call, |event| all || event.project.as_deref() == owner)
}

pub(super) fn of_device(state: &State, call: &Call, id: &str) -> Answer {
    shown(state, call, |event| event.device.as_deref() == Some(id))
}

pub(super) fn get(state: &State, call: &Call, id: &str) -> Answer {
    let event = state.events.iter().find(|event| event.id == id).ok_or_else(Refusal::not_found)?;
    Ok(object(200, &show(state, call.base, event)))
}
