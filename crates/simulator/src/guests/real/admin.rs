//! What the admin endpoint says about real hosts.
//!
//! | call | answer |
//! |---|---|
//! | `GET /admin/guests` | hosts that are on: whether they are up, their address, first process and control group |
//! | `GET /admin/guests/{id}/console` | the last lines that a machine has printed, also after it is gone |

use serde_json::{Value, json};

use super::host::Host;
use super::site::Site;
use crate::core::{Request, Response};

/// Lines of a console that an answer has.
const LINES: usize = 500;

/// Answers a call; `None` if there is no such call.
pub(super) fn answer<'a>(site: &Site, hosts: impl Iterator<Item = &'a Host>, request: &Request) -> Option<Response> {
    let segments: Vec<&str> = request.path.split('/').filter(|segment| !segment.is_empty()).collect();
    let value = match (request.method.as_str(), segments.as_slice()) {
        ("GET", []) => json!({ "guests": hosts.map(|host| listed(site, host)).collect::<Vec<_>>() }),
        // Ids are UUIDs: anything else must not lead out of the directory.
        ("GET", [id, "console"]) if uuid::Uuid::try_parse(id).is_ok() => {
            let text = std::fs::read(site.console(id)).ok()?;
            let text = String::from_utf8_lossy(&text);
            let lines: Vec<&str> = text.lines().collect();
            json!({ "lines": lines[lines.len().saturating_sub(LINES)..] })
        }
        _ => return None,
    };
    Some(Response {
        status: 200,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: value.to_string().into(),
    })
}

fn listed(site: &Site, host: &Host) -> Value {
    json!({
        "id": host.hardware.id,
        "name": host.hardware.name,
        "booted": host.is_booted(),
        "address": host.cable.address,
        "pid": host.init(),
        "cgroup": site.cgroup(&host.cable).path(),
        "cable": host.cable.name,
    })
}
