//! BGP: of a project, and the sessions of its devices.

use serde_json::{Value, json};

use super::call::Call;
use super::reply::{Answer, Refusal, empty, object};
use super::state::{BgpConfig, Session, State};

const PEERS: [&str; 2] = ["169.254.255.1", "169.254.255.2"];
const CUSTOMER_AS: u64 = 65000;
const PEER_AS: u64 = 65530;

pub(super) fn configure(state: &mut State, call: &Call, project: &str) -> Answer {
    let kind = call.text("deployment_type").unwrap_or_default();
    if !["local", "global"].contains(&kind) {
        return Err(Refusal::invalid("Deployment type is not included in the list"));
    }
    let md5 = call.text("md5");
    if md5.is_some_and(|md5| !(10..=20).contains(&md5.len()) || !md5.chars().all(|c| c.is_ascii_alphanumeric())) {
        return Err(Refusal::invalid("Md5 must be 10 to 20 alphanumeric characters"));
    }
    let config = BgpConfig {
        id: state.id(),
        deployment_type: kind.to_owned(),
        asn: call.number("asn").unwrap_or(CUSTOMER_AS),
        md5: md5.map(str::to_owned),
        status: if kind == "local" { "enabled" } else { "requested" }.to_owned(),
        created: state.now,
    };
    let own = state.projects.iter_mut().find(|own| own.id == project).ok_or_else(Refusal::not_found)?;
    if own.bgp.is_some() {
        return Err(Refusal::invalid("BGP has already been requested for this project"));
    }
    own.bgp = Some(config);
    Ok(empty(204))
}

/// Also without any there is an answer: one without an id.
pub(super) fn config(state: &State, call: &Call, project: &str) -> Answer {
    let own = state.project(project).ok_or_else(Refusal::not_found)?;
    let Some(bgp) = &own.bgp else { return Ok(object(200, &json!({}))) };
    let sessions = state.sessions.iter().filter(|session| project_of(state, session) == Some(project));
    Ok(object(
        200,
        &json!({
            "id": bgp.id,
            "status": bgp.status,
            "deployment_type": bgp.deployment_type,
            "asn": bgp.asn,
            "md5": bgp.md5,
            "route_object": null,
            "max_prefix": 10,
            "created_at": state.time(bgp.created),
            "requested_at": state.time(bgp.created),
            "ranges": [],
            "sessions": sessions.map(|session| show(state, call.base, session)).collect::<Vec<_>>(),
            "project": {"href": format!("{}/projects/{project}", call.base)},
            "href": format!("{}/bgp-configs/{}", call.base, bgp.id),
        }),
    ))
}

fn project_of<'a>(state: &'a State, session: &Session) -> Option<&'a str> {
    state.device(&session.device).map(|device| device.project.as_str())
}

pub(super) fn show(state: &State, base: &str, session: &Session) -> Value {
    let device = state.device(&session.device);
    let routes: Vec<String> = device
        .into_iter()
        .filter(|_| session.family == "ipv4")
        .flat_map(|device| device.announced.iter().map(|address| format!("{address}/32")))
        .collect();
    json!({
        "id": session.id,
        "status": if routes.is_empty() { "unknown" } else { "up" },
        "address_family": session.family,
        "learned_routes": routes,
        "switch_name": "simulated",
        "default_route": session.default_route,
        "created_at": state.time(session.created),
        "updated_at": state.time(session.created),
        "device": {"href": format!("{base}/devices/{}", session.device)},
        "href": format!("{base}/bgp/sessions/{}", session.id),
    })
}

fn shown(state: &State, call: &Call, wanted: impl Fn(&Session) -> bool) -> Answer {
    let own = state.sessions.iter().filter(|session| wanted(session));
    Ok(object(200, &json!({"bgp_sessions": own.map(|session| show(state, call.base, session)).collect::<Vec<_>>()})))
}

pub(super) fn of_project(state: &State, call: &Call, project: &str) -> Answer {
    state.project(project).ok_or_else(Refusal::not_found)?;
    shown(state, call, |session| project_of(state, session) == Some(project))
}

pub(super) fn of_device(state: &State, call: &Call, id: &str) -> Answer {
    state.device(id).ok_or_else(Refusal::not_found)?;
    shown(state, call, |session| session.device == id)
}

pub(super) fn create(state: &mut State, call: &Call, id: &str) -> Answer {
    let device = state.device(id).ok_or_else(Refusal::not_found)?;
    let enabled = state.project(&device.project).and_then(|project| project.bgp.as_ref());
    if enabled.is_none_or(|bgp| bgp.status != "enabled") {
        return Err(Refusal::invalid("BGP is not enabled for this project"));
    }
    let family = call.text("address_family").unwrap_or_default();
    if !["ipv4", "ipv6"].contains(&family) {
        return Err(Refusal::invalid("Address family is not included in the list"));
    }
    if state.sessions.iter().any(|session| session.device == id && session.family == family) {
        return Err(Refusal::invalid(format!("Device already has session for {family}")));
    }
    let session = Session {
        id: state.id(),
        device: id.to_owned(),
        family: family.to_owned(),
        default_route: call.flag("default_route").unwrap_or(false),
        created: state.now,
    };
    let shown = show(state, call.base, &session);
    state.sessions.push(session);
    Ok(object(201, &shown))
}

pub(super) fn get(state: &State, call: &Call, id: &str) -> Answer {
    let session = state.sessions.iter().find(|session| session.id == id).ok_or_else(Refusal::not_found)?;
    Ok(object(200, &show(state, call.base, session)))
}

pub(super) fn update(state: &mut State, call: &Call, id: &str) -> Answer {
    let session = state.sessions.iter_mut().find(|session| session.id == id).ok_or_else(Refusal::not_found)?;
    session.default_route = call.flag("default_route").unwrap_or(session.default_route);
    let session = session.clone();
    Ok(object(200, &show(state, call.base, &session)))
}

pub(super) fn delete(state: &mut State, id: &str) -> Answer {
    let before = state.sessions.len();
    state.sessions.retain(|session| session.id != id);
    if state.sessions.len() == before { Err(Refusal::not_found()) } else { Ok(empty(204)) }
}

/// Ends the sessions of a device that goes.
pub(super) fn forget(state: &mut State, device: &str) {
    state.sessions.retain(|session| session.device != device);
}

/// Who a device talks to.
pub(super) fn neighbors(state: &State, id: &str) -> Answer {
    Ok(object(200, &json!({"bgp_neighbors": neighbor_list(state, id)?})))
}

pub(super) fn neighbor_list(state: &State, id: &str) -> Result<Vec<Value>, Refusal> {
    let device = state.device(id).ok_or_else(Refusal::not_found)?;
    let md5 = state.project(&device.project).and_then(|project| project.bgp.as_ref()?.md5.clone());
    let private = device.management.iter().find(|own| own.family == 4 && !own.public);
    let own = state.sessions.iter().filter(|session| session.device == id);
    Ok(own
        .map(|session| {
            json!({
                "address_family": if session.family == "ipv4" { 4 } else { 6 },
                "customer_as": CUSTOMER_AS,
                "customer_ip": private.map(|own| &own.address),
                "md5_enabled": md5.is_some(),
                "md5_password": md5,
                "multihop": true,
                "peer_as": PEER_AS,
                "peer_ips": PEERS,
                "routes_in": [],
                "routes_out": [],
            })
        })
        .collect())
}
