//! Cloud connections: the way out of a workspace before there were Power Edge Routers. Zones that have those have none of these.

use serde_json::json;

use super::{places, workspace};
use crate::powervs::cloud::Cloud;
use crate::powervs::reply::{Answer, Refusal, json_reply};

pub(super) fn answer(cloud: &Cloud, ws: &str, method: &str, rest: &[&str]) -> Answer {
    let own = workspace(cloud, ws)?;
    match (method, rest) {
        ("GET", []) => Ok(json_reply(200, &json!({ "cloudConnections": [] }))),
        ("GET" | "PUT" | "DELETE", [id, ..]) => Err(Refusal::not_found("cloud connection", id)),
        ("POST", []) if places::has_router(&own.zone) => {
            let message = "cloud connections are not supported in a workspace with a power edge router";
            Err(Refusal::new(405, "method_not_allowed", message))
        }
        _ => Err(Refusal::new(422, "unprocessable_entity", "no cloud connection is available in this datacenter")),
    }
}
