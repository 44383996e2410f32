//! `include` and `exclude`: objects in the place of references, and the other way round.

use serde_json::{Value, json};

use super::call::Call;
use super::state::State;
use super::{account, addresses, bgp, catalogue, devices, hardware, networks};
use crate::core::Response;

/// How deep references are followed.
const DEPTH: usize = 3;

/// Puts objects where the request asks for them.
pub(super) fn expand(state: &State, call: &Call, response: Response) -> Response {
    let (include, exclude) = (call.texts("include").unwrap_or_default(), call.texts("exclude").unwrap_or_default());
    if (include.is_empty() && exclude.is_empty()) || response.status >= 300 || response.body.is_empty() {
        return response;
    }
    let Ok(mut body) = serde_json::from_slice::<Value>(&response.body) else { return response };
    for path in include {
        walk(&mut body, &path.split('.').take(DEPTH).collect::<Vec<_>>(), &|value| {
            if let Some(object) = reference(value).and_then(|href| object(state, call.base, href)) {
                *value = object;
            }
        });
    }
    for path in exclude {
        walk(&mut body, &path.split('.').take(DEPTH).collect::<Vec<_>>(), &|value| {
            if let Some(href) = value.get("href").cloned() {
                *value = json!({"href": href});
            }
        });
    }
    Response { body: body.to_string().into(), ..response }
}

/// Applies a change to what is at a path, in the object itself and in the objects of a list.
fn walk(value: &mut Value, path: &[&str], change: &impl Fn(&mut Value)) {
    let Some((first, rest)) = path.split_first() else {
        match value {
            Value::Array(items) => items.iter_mut().for_each(change),
            other => change(other),
        }
        return;
    };
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, path, change)),
        Value::Object(fields) => {
            if let Some(field) = fields.get_mut(*first) {
                if rest.is_empty() {
                    walk(field, rest, change);
                } else {
                    // What is on the way must be there, too.
                    walk(field, &[], change);
                    walk(field, rest, change);
                }
            } else {
                // A list in its envelope.
                fields.values_mut().filter(|field| field.is_array()).for_each(|field| walk(field, path, change));
            }
        }
        _ => {}
    }
}

fn reference(value: &Value) -> Option<&str> {
    let fields = value.as_object()?;
    if fields.len() == 1 { fields.get("href")?.as_str() } else { None }
}

/// The object that a reference leads to.
fn object(state: &State, base: &str, href: &str) -> Option<Value> {
    let path = href.strip_prefix(base).unwrap_or(href);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        ["projects", id] => state.project(id).map(|project| account::show_project(state, base, project)),
        ["organizations", id] => {
            let organization = state.organizations.iter().find(|organization| organization.id == *id);
            organization.map(|organization| account::show_organization(state, base, organization))
        }
        ["ssh-keys", id] => state.keys.iter().find(|key| key.id == *id).map(|key| account::show_key(state, base, key)),
        ["devices", id] => state.device(id).map(|device| devices::show(state, base, device)),
        ["ips", id] => addresses::find(state, base, id),
        ["virtual-networks", id] => {
            state.vlans.iter().find(|vlan| vlan.id == *id).map(|vlan| networks::show(state, base, vlan))
        }
        ["bgp", "sessions", id] => {
            state.sessions.iter().find(|session| session.id == *id).map(|session| bgp::show(state, base, session))
        }
        ["hardware-reservations", id] => {
            let found = state.reservations.iter().find(|reservation| reservation.id == *id);
            found.map(|reservation| hardware::show(state, base, reservation))
        }
        ["facilities", id] => {
            let known = catalogue::FACILITIES.iter().find(|(code, ..)| catalogue::fixed_id("facility", code) == *id);
            known.map(|(code, ..)| catalogue::show_facility(base, code))
        }
        ["locations", "metros", id] => {
            let known = catalogue::METROS.iter().find(|(code, ..)| catalogue::fixed_id("metro", code) == *id);
            known.map(|(code, ..)| catalogue::show_metro(base, code))
        }
        ["plans", id] => {
            let known = catalogue::PLANS.iter().find(|plan| catalogue::fixed_id("plan", plan.slug) == *id);
            known.map(|plan| catalogue::show_plan(base, plan))
        }
        _ => None,
    }
}
