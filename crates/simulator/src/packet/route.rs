//! Which call is which, and who may make it.

use super::call::Call;
use super::metal::Caller;
use super::options::Options;
use super::reply::{Answer, Refusal, empty};
use super::state::State;
use super::{account, addresses, api_keys, bgp, devices, events, hardware, market, metadata, networks, show};

pub(super) fn answer(state: &mut State, options: &Options, caller: &Caller, call: &Call) -> Answer {
    permitted(state, caller, call)?;
    let path: Vec<&str> = call.path.iter().map(String::as_str).collect();
    let answer = match (call.method.as_str(), path.as_slice()) {
        ("GET", ["user"]) => account::user(state, call, caller),
        ("GET", ["user", "api-keys"]) => api_keys::of_user(state, options, call, caller),
        ("GET", ["projects", id, "api-keys"]) => api_keys::of_project(state, options, call, id),
        ("GET", ["organizations"]) => account::organizations(state, call),
        ("GET", ["organizations", id]) => account::organization(state, call, id),
        ("GET", ["organizations", id, "projects"]) => account::projects(state, call, Some(id)),
        ("POST", ["organizations", id, "projects"]) => account::create_project(state, call, Some(id)),
        ("GET", ["organizations", _, "devices"]) => devices::list(state, call, None),
        ("GET", ["organizations" | "projects", _, "plans"] | ["plans"]) => market::plans(call),
        ("GET", ["organizations" | "projects", _, "facilities"] | ["facilities"]) => market::facilities(call),
        ("GET", ["organizations", _, "capacity"] | ["capacity"]) => market::capacity(state, false),
        ("GET", ["organizations", _, "capacity", "metros"] | ["capacity", "metros"]) => market::capacity(state, true),
        ("POST", ["organizations", _, "capacity", ..] | ["capacity", ..]) => market::check_capacity(state, call),
        ("GET", ["operating-systems"]) => market::systems(call),
        ("GET", ["locations", "metros"]) => market::metros(call),
        ("GET", ["locations", "metros", id]) => market::metro(call, id),
        ("GET", ["market", "spot", "prices"]) => market::prices(state, call, false),
        ("GET", ["market", "spot", "prices", "metros"]) => market::prices(state, call, true),
        ("GET", ["market", "spot", "prices", "history"]) => market::history(state, call),
        ("GET", ["projects"]) => account::projects(state, call, None),
        ("POST", ["projects"]) => account::create_project(state, call, None),
        ("GET", ["projects", id]) => account::project(state, call, id),
        ("PUT" | "PATCH", ["projects", id]) => account::update_project(state, call, id),
        ("DELETE", ["projects", id]) => account::delete_project(state, id),
        ("GET", ["ssh-keys"]) => account::keys(state, call, None, caller),
        ("POST", ["ssh-keys"]) => account::create_key(state, call, None, caller),
        ("GET", ["projects", id, "ssh-keys"]) => account::keys(state, call, Some(id), caller),
        ("POST", ["projects", id, "ssh-keys"]) => account::create_key(state, call, Some(id), caller),
        ("GET", ["ssh-keys", id]) => account::key(state, call, id),
        ("PUT" | "PATCH", ["ssh-keys", id]) => account::update_key(state, call, id),
        ("DELETE", ["ssh-keys", id]) => account::delete_key(state, id),
        ("GET", ["projects", id, "devices"]) => devices::list(state, call, Some(id)),
        ("POST", ["projects", id, "devices"]) => devices::create(state, options, call, id),
        ("POST", ["projects", id, "devices", "batch"]) => devices::create_batch(state, options, call, id),
        ("GET", ["projects", _, "batches"]) => devices::batches(state, call),
        ("GET", ["batches", id]) => devices::batch(state, id),
        ("DELETE", ["batches", id]) => devices::delete_batch(state, options, call, id),
        ("GET", ["devices", id]) => devices::get(state, call, id),
        ("PUT" | "PATCH", ["devices", id]) => devices::update(state, call, id),
        ("DELETE", ["devices", id]) => devices::delete(state, options, call, id),
        ("POST", ["devices", id, "actions"]) => devices::act(state, call, id),
        ("GET", ["devices", id, "events"]) => events::of_device(state, call, id),
        ("GET", ["devices", id, "bandwidth"]) => metadata::bandwidth(state, call, id),
        ("GET", ["devices", id, "metadata"]) => metadata::document(state, call, id),
        ("GET", ["devices", id, "userdata"]) => metadata::userdata(state, id),
        ("GET", ["devices", id, "customdata"]) => metadata::customdata(state, id),
        ("GET", ["devices", id, "ssh-keys"]) => account::keys_of_device(state, call, id),
        ("POST", ["userdata", "validate"]) => Ok(empty(204)),
        ("GET", ["devices", id, "ips"]) => addresses::of_device(state, call, id),
        ("POST", ["devices", id, "ips"]) => addresses::assign(state, call, id),
        ("GET", ["projects", id, "ips"]) => addresses::list(state, call, id),
        ("POST", ["projects", id, "ips"]) => addresses::reserve(state, options, call, id),
        ("GET", ["ips", id]) => addresses::get(state, call, id),
        ("PUT" | "PATCH", ["ips", id]) => addresses::update(state, call, id),
        ("DELETE", ["ips", id]) => addresses::delete(state, id),
        ("GET", ["ips", id, "available"]) => addresses::available(state, call, id),
        ("GET", ["projects", id, "virtual-networks"]) => networks::list(state, call, id),
        ("POST", ["projects", id, "virtual-networks"]) => networks::create(state, call, id),
        ("GET", ["virtual-networks", id]) => networks::get(state, call, id),
        ("DELETE", ["virtual-networks", id]) => networks::delete(state, id),
        ("GET", ["ports", id]) => networks::port(state, call, id),
        ("POST" | "DELETE", ["ports", id, rest @ ..]) => networks::change_port(state, call, id, rest),
        ("POST", ["projects", id, "bgp-configs"]) => bgp::configure(state, call, id),
        ("GET", ["projects", id, "bgp-config"]) => bgp::config(state, call, id),
        ("GET", ["projects", id, "bgp", "sessions"]) => bgp::of_project(state, call, id),
        ("GET", ["devices", id, "bgp", "sessions"]) => bgp::of_device(state, call, id),
        ("POST", ["devices", id, "bgp", "sessions"]) => bgp::create(state, call, id),
        ("GET", ["devices", id, "bgp", "neighbors"]) => bgp::neighbors(state, id),
        ("GET", ["bgp", "sessions", id]) => bgp::get(state, call, id),
        ("PUT" | "PATCH", ["bgp", "sessions", id]) => bgp::update(state, call, id),
        ("DELETE", ["bgp", "sessions", id]) => bgp::delete(state, id),
        ("GET", ["projects", id, "hardware-reservations"]) => hardware::list(state, call, id),
        ("GET", ["hardware-reservations", id]) => hardware::get(state, call, id),
        ("POST", ["hardware-reservations", id, "move"]) => hardware::transfer(state, call, id),
        ("GET", ["projects", id, "spot-market-requests"]) => market::requests(state, call, id),
        ("POST", ["projects", id, "spot-market-requests"]) => market::request(state, options, call, id),
        ("GET", ["spot-market-requests", id]) => market::get_request(state, call, id),
        ("DELETE", ["spot-market-requests", id]) => market::delete_request(state, options, call, id),
        ("GET", ["events"]) => events::list(state, call, None),
        ("GET", ["organizations" | "projects", id, "events"]) => events::list(state, call, Some(id)),
        ("GET", ["events", id]) => events::get(state, call, id),
        _ => Err(Refusal::not_found()),
    };
    answer.map(|response| {
        if call.is_safe() || call.get("include").is_some() { show::expand(state, call, response) } else { response }
    })
}

/// A key that only reads may not write, and that of a project sees nothing beyond it.
fn permitted(state: &State, caller: &Caller, call: &Call) -> Result<(), Refusal> {
    let denied = || Refusal::new(403, "You are not authorized to perform this action");
    match caller {
        Caller::User { read_only: false } => Ok(()),
        Caller::User { read_only: true } if call.is_safe() => Ok(()),
        // Asking whether there is capacity changes nothing.
        Caller::User { read_only: true } if call.path.first().is_some_and(|part| part == "capacity") => Ok(()),
        Caller::User { read_only: true } => Err(denied()),
        Caller::Project(own) => {
            let project = match (call.path.first().map(String::as_str), call.path.get(1)) {
                (Some("projects"), Some(id)) => Some(id.clone()),
                (Some("projects"), None) if !call.is_safe() => return Err(denied()),
                (Some("devices"), Some(id)) => state.device(id).map(|device| device.project.clone()),
                _ => None,
            };
            project.is_none_or(|project| project == *own).then_some(()).ok_or_else(denied)
        }
    }
}
