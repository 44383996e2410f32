//! What the admin endpoint says about guests, and what can be done to them there.
//!
//! | call | answer |
//! |---|---|
//! | `GET /admin/guests` | machines that are on, and whether their system is up |
//! | `GET /admin/guests/{id}/console` | what a machine has printed, also after it is gone |
//! | `GET /admin/guests/faults` | rules by which guests misbehave |
//! | `PUT /admin/guests/faults` | other rules, as a list of texts (`["master-1 never-boots"]`) |

use serde_json::{Value, json};

use super::faults::GuestFault;
use super::shared::Shared;
use crate::core::{Request, Response};

/// A machine that is on.
pub(super) struct Listed<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) booted: bool,
}

/// Answers a call; `None` if there is no such call.
pub(super) fn answer<'a>(
    shared: &Shared,
    machines: impl Iterator<Item = Listed<'a>>,
    request: &Request,
) -> Option<Response> {
    let segments: Vec<&str> = request.path.split('/').filter(|segment| !segment.is_empty()).collect();
    let (status, value) = match (request.method.as_str(), segments.as_slice()) {
        ("GET", []) => {
            let list = machines.map(|Listed { id, name, booted }| json!({ "id": id, "name": name, "booted": booted }));
            (200, json!({ "guests": list.collect::<Vec<_>>() }))
        }
        ("GET", ["faults"]) => (200, json!({ "faults": shared.faults() })),
        ("PUT", ["faults"]) => match faults(&request.body) {
            Ok(faults) => {
                shared.set_faults(faults);
                (200, json!({ "faults": shared.faults() }))
            }
            Err(reason) => (400, json!({ "error": reason })),
        },
        ("GET", [id, "console"]) => (200, json!({ "lines": shared.console(id)?.lines() })),
        _ => return None,
    };
    Some(Response {
        status,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: value.to_string().into(),
    })
}

fn faults(body: &[u8]) -> Result<Vec<GuestFault>, String> {
    let rules: Vec<Value> =
        serde_json::from_slice(body).map_err(|error| format!("a list of rules is expected: {error}"))?;
    let read = |rule: Value| match rule {
        Value::String(text) => text.parse(),
        other => serde_json::from_value(other).map_err(|error| error.to_string()),
    };
    rules.into_iter().map(read).collect()
}
