//! What an administrator of the simulator can do to the world: `POST /admin/packet/…`.

use serde_json::{Value, json};

use super::lifecycle;
use super::market;
use super::reply::{Refusal, object};
use super::state::State;
use crate::core::{Request, Response};

pub(super) fn administer(state: &mut State, request: &Request) -> Option<Response> {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let parts: Vec<&str> = request.path.split('/').filter(|part| !part.is_empty()).collect();
    match (request.method.as_str(), parts.as_slice()) {
        ("POST", ["spot-price"]) => {
            let price = body["price"].as_f64()?;
            market::set_price(state, &text("location"), &text("plan"), price);
        }
        ("POST", ["capacity"]) => {
            let servers = usize::try_from(body["servers"].as_u64()?).ok()?;
            state.capacity.insert(format!("{}/{}", text("location"), text("plan")), servers);
        }
        ("POST", ["devices", id, "fail"]) => {
            let Some(device) = state.device(id) else { return Some(Refusal::not_found().response()) };
            let reserved = device.reservation.is_some();
            lifecycle::fail(state, id, reserved);
        }
        ("GET", ["routes"]) => return Some(object(200, &json!(state.routes))),
        _ => return None,
    }
    Some(object(200, &json!({})))
}
