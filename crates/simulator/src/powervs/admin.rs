//! What an administrator of the simulator can do to the world: `POST /admin/powervs/…`.

use serde_json::{Value, json};

use super::cloud::Cloud;
use super::knobs::OutcomeRule;
use super::reply::{Refusal, json_reply};
use super::{call::Service, guests};
use crate::core::{Request, Response};

pub(super) fn administer(cloud: &mut Cloud, request: &Request) -> Option<Response> {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let parts: Vec<&str> = request.path.split('/').filter(|part| !part.is_empty()).collect();
    let missing = |what: &str, id: &str| Some(Refusal::not_found(what, id).response(Service::Power, "0"));
    match (request.method.as_str(), parts.as_slice()) {
        ("GET", ["locks"]) => return Some(json_reply(200, &json!(cloud.state.held.keys().collect::<Vec<_>>()))),
        ("POST", ["locks", id, "release"]) => {
            let Some(held) = cloud.state.held.remove(*id) else { return missing("lock", id) };
            for due in held {
                cloud.state.agenda.add(cloud.state.now, due);
            }
        }
        ("POST", ["outcomes"]) => {
            let rule = body["rule"].as_str().unwrap_or_default().parse::<OutcomeRule>();
            match rule {
                Ok(rule) => cloud.options.outcomes.push(rule),
                Err(error) => return Some(json_reply(400, &json!({ "error": error }))),
            }
        }
        ("DELETE", ["outcomes"]) => cloud.options.outcomes.clear(),
        ("DELETE", ["tokens"]) => cloud.state.tokens.clear(),
        ("POST", ["instances", id, "fail"]) => {
            guests::stop(cloud, id);
            let found = cloud.state.workspaces.values_mut().find_map(|own| own.instances.get_mut(*id));
            let Some(instance) = found else { return missing("pvm-instance", id) };
            "ERROR".clone_into(&mut instance.status);
            "CRITICAL".clone_into(&mut instance.health);
            instance.fault = Some(body["reason"].as_str().unwrap_or("the host failed").to_owned());
        }
        ("GET", ["balancers"]) => {
            let frontends = cloud.frontends();
            let shown: serde_json::Map<String, Value> =
                frontends.iter().map(|(front, backs)| (front.to_string(), json!(backs))).collect();
            return Some(json_reply(200, &Value::Object(shown)));
        }
        _ => return None,
    }
    Some(json_reply(200, &json!({})))
}
