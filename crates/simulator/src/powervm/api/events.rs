//! Events, for those who wait for them.

use super::call::{Call, header};
use crate::core::{Instant, Request, Response};
use crate::powervm::fault::Fault;
use crate::powervm::ids;
use crate::powervm::inventory::seconds;
use crate::powervm::state::{Happening, Object, State};
use crate::powervm::xml::Element;

const APPLICATION: &str = "QUEUE_APPLICATIONID";

/// Reads events, or adds one's own.
pub(super) fn serve(state: &mut State, call: &Call, request: &Request) -> Result<Response, Fault> {
    match request.method.as_str() {
        "GET" => {
            let application = call.query.iter().find(|(name, _)| name == APPLICATION).map(|(_, value)| value.clone());
            // Who has no name of its own is known by its token.
            let application = application.or_else(|| header(request, "x-api-session").map(str::to_owned));
            let events = state.hosts[call.host].events.read(&application.unwrap_or_default());
            let objects: Vec<Object> = events.iter().map(|event| object(call, event)).collect();
            let all: Vec<&Object> = objects.iter().collect();
            Ok(call.look(state).feed(&all, &request.path, |object| format!("{}/{}", request.path, object.id)))
        }
        "PUT" => {
            let body = Call::body(request, Some("Event"))?;
            let (data, detail) = (body.text("EventData").to_owned(), body.text("EventDetail").to_owned());
            let event = state.hosts[call.host].events.add("CUSTOM_CLIENT_EVENT", data, &detail);
            let object = object(call, &event);
            Ok(call.look(state).entry(&object, &format!("{}/{}", request.path, object.id)))
        }
        method => Err(Fault::new(405, "Method Not Allowed", format!("{method} is not supported."))),
    }
}

fn object(call: &Call, event: &Happening) -> Object {
    let id = ids::uuid(&["event", &event.id.to_string(), &event.kind]);
    let data =
        if event.data.starts_with("/rest/") { format!("{}{}", call.base, event.data) } else { event.data.clone() };
    let element = Element::record(
        "Event",
        &[
            ("EventType", &event.kind),
            ("EventID", &event.id.to_string()),
            ("EventData", &data),
            ("EventDetail", &event.detail),
        ],
    );
    Object { id, parent: None, created: 0, element }
}

/// How long a read of events waits, if there is nothing to tell.
pub(crate) fn hold(state: &State, arrived: Instant, request: &Request) -> Option<Instant> {
    let is_read = request.method == "GET" && request.path == "/rest/api/uom/Event";
    let host = request.listener.min(state.hosts.len().saturating_sub(1));
    let application = url::form_urlencoded::parse(request.query.as_bytes())
        .find(|(name, _)| name == APPLICATION)
        .map(|(_, value)| value.into_owned())
        .or_else(|| header(request, "x-api-session").map(str::to_owned))
        .unwrap_or_default();
    let waits = is_read
        && header(request, "x-api-session").is_some_and(|token| state.sessions.contains_key(token))
        && !state.hosts[host].events.has_news(&application);
    waits.then(|| Instant(arrived.0.saturating_add(seconds(state.settings.event_seconds))))
}
