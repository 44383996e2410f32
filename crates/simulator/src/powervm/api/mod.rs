//! The REST API: which call is which.
//!
//! | file | what is in it |
//! |---|---|
//! | `call` | a call, taken apart: where, what, by whom |
//! | `logon` | tokens, by password and by file |
//! | `read` | feeds, entries, quick properties, searches |
//! | `write` | creating, updating and deleting objects |
//! | `jobs` | templates, starting, looking, cancelling, deleting |
//! | `events` | what happened, for those who wait for it |
//! | `files` | uploads that are passed on to a VIOS |

mod call;
pub(crate) mod events;
mod files;
mod jobs;
mod logon;
mod read;
mod write;

use super::fault::Fault;
use super::state::State;
use crate::core::{Injection, Request, Response};

use call::Call;

/// Answers a request.
pub(crate) fn serve(state: &mut State, request: &Request) -> Response {
    let clock = state.clock();
    let mut response = answer(state, request).unwrap_or_else(|fault| fault.response(request, &clock));
    let transaction = match call::header(request, "x-transaction-id") {
        Some(id) => id.to_owned(),
        None => format!("XT1{:07}", state.next()),
    };
    response.headers.push(("x-transaction-id".to_owned(), transaction));
    response.headers.push(("x-mc-type".to_owned(), "PVM".to_owned()));
    response
}

fn answer(state: &mut State, request: &Request) -> Result<Response, Fault> {
    let host = request.listener.min(state.hosts.len().saturating_sub(1));
    let Some(path) = request.path.strip_prefix("/rest/api/") else { return Err(Fault::no_route(&request.path)) };
    if path == "web/Logon" {
        return logon::logon(state, host, request);
    }
    if request.injection == Some(Injection::TokenExpired)
        && let Some(token) = call::header(request, "x-api-session")
    {
        state.sessions.remove(token);
    }
    logon::authorize(state, host, request)?;
    let call = Call::new(state, host, request);
    if request.injection == Some(Injection::NoCapacity) && !request.is_safe() {
        return Err(Fault::refused("HSCL0505: There are not enough resources for this operation."));
    }
    let segments: Vec<&str> = call.segments.iter().map(String::as_str).collect();
    match (call.service.as_str(), segments.as_slice()) {
        ("web", ["File", rest @ ..]) => files::serve(state, &call, request, rest),
        ("uom", ["Event"]) => events::serve(state, &call, request),
        ("uom", ["jobs", id]) => jobs::look(state, &call, request, id),
        ("uom", ["jobs", id, "cancel"]) => jobs::cancel(state, &call, request, id),
        ("uom", [.., "do", operation]) => jobs::operate(state, &call, request, operation),
        ("uom", [_, ..]) => match request.method.as_str() {
            "GET" => read::read(state, &call, request),
            "PUT" => write::create(state, &call, request),
            "POST" => write::update(state, &call, request),
            "DELETE" => write::delete(state, &call, request),
            method => Err(Fault::new(405, "Method Not Allowed", format!("{method} is not supported."))),
        },
        _ => Err(Fault::no_route(&request.path)),
    }
}

/// What a fault rule that asks for the platform's own words gets.
pub(crate) fn injected_fault(state: &State, request: &Request, status: u16) -> Response {
    let fault = match status {
        401 => Fault::new(401, "Unauthorized", "The session token is missing, unknown or expired."),
        412 => Fault::stale(),
        503 => Fault::new(503, "Service Unavailable", "The service is not available."),
        500 => Fault::busy("VIOS0014: The VIOS is busy with another operation."),
        _ => Fault::new(status, "Unknown internal error.", "The operation failed."),
    };
    fault.response(request, &state.clock())
}
