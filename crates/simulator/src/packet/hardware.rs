//! Hardware that projects have reserved.

use serde_json::{Value, json};

use super::call::Call;
use super::catalogue;
use super::reply::{Answer, Refusal, object, page};
use super::state::{Reservation, State};

pub(super) fn show(state: &State, base: &str, own: &Reservation) -> Value {
    let mut shown = json!({
        "id": own.id,
        "short_id": &own.id[..8],
        "created_at": state.time(own.created),
        "billing_cycle": "monthly",
        "provisionable": own.provisionable,
        "spare": false,
        "need_of_service": false,
        "switch_uuid": &catalogue::fixed_id("switch", &own.facility)[..8],
        "plan": catalogue::plan(&own.plan).map(|plan| catalogue::show_plan(base, plan)),
        "facility": catalogue::show_facility(base, &own.facility),
        "project": {"href": format!("{base}/projects/{}", own.project)},
        "href": format!("{base}/hardware-reservations/{}", own.id),
    });
    if let Some(device) = &own.device {
        shown["device"] = json!({"href": format!("{base}/devices/{device}")});
    }
    shown
}

pub(super) fn list(state: &State, call: &Call, project: &str) -> Answer {
    state.project(project).ok_or_else(Refusal::not_found)?;
    let wanted = |own: &&Reservation| {
        own.project == project
            && match call.text("provisionable") {
                Some("only") => own.provisionable,
                Some("exclude") => !own.provisionable,
                _ => true,
            }
    };
    let shown: Vec<Value> = state.reservations.iter().filter(wanted).map(|own| show(state, call.base, own)).collect();
    page(call, "hardware_reservations", &shown)
}

pub(super) fn get(state: &State, call: &Call, id: &str) -> Answer {
    let own = state.reservations.iter().find(|own| own.id == id).ok_or_else(Refusal::not_found)?;
    Ok(object(200, &show(state, call.base, own)))
}

pub(super) fn transfer(state: &mut State, call: &Call, id: &str) -> Answer {
    let project = call.text("project_id").filter(|id| state.project(id).is_some()).ok_or_else(Refusal::not_found)?;
    let own = state.reservations.iter_mut().find(|own| own.id == id).ok_or_else(Refusal::not_found)?;
    project.clone_into(&mut own.project);
    let own = own.clone();
    Ok(object(201, &show(state, call.base, &own)))
}
