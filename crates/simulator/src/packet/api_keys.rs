//! API keys, as those who hold one may see them.

use serde_json::{Value, json};

use super::call::Call;
use super::catalogue::fixed_id;
use super::metal::Caller;
use super::options::Options;
use super::reply::{Answer, Refusal, object};
use super::state::State;

/// The keys of the user, whichever of them asks.
pub(super) fn of_user(state: &State, options: &Options, call: &Call, caller: &Caller) -> Answer {
    if matches!(caller, Caller::Project(_)) {
        return Err(Refusal::new(403, "You are not authorized to view these keys"));
    }
    let owner = ("user", json!({"href": format!("{}/users/{}", call.base, state.user)}));
    let full = shown(state, call, "full", options.user_key(), false, &owner);
    let read_only = options.read_only_key.as_deref().map(|token| shown(state, call, "reader", token, true, &owner));
    Ok(list(std::iter::once(full).chain(read_only)))
}

/// The keys of a project.
pub(super) fn of_project(state: &State, options: &Options, call: &Call, project: &str) -> Answer {
    let known = state.projects.iter().position(|own| own.id == project).ok_or_else(Refusal::not_found)?;
    let owner = ("project", json!({"href": format!("{}/projects/{project}", call.base)}));
    let own = options.project_key.as_deref().filter(|_| known == 0);
    Ok(list(own.map(|token| shown(state, call, "project", token, false, &owner)).into_iter()))
}

fn list(keys: impl Iterator<Item = Value>) -> crate::core::Response {
    object(200, &json!({"api_keys": keys.collect::<Vec<_>>()}))
}

fn shown(state: &State, call: &Call, name: &str, token: &str, read_only: bool, owner: &(&str, Value)) -> Value {
    let id = fixed_id("api-key", name);
    let time = state.time(crate::core::Instant(std::time::Duration::ZERO));
    json!({
        "id": id,
        "token": token,
        "description": name,
        "read_only": read_only,
        "created_at": time,
        "updated_at": time,
        owner.0: owner.1,
        "href": format!("{}/api-keys/{id}", call.base),
    })
}
