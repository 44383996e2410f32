//! Transit gateways: what joins a VPC and a workspace.

use serde_json::{Value, json};

use super::agenda::Event;
use super::call::Call;
use super::cloud::Cloud;
use super::knobs::{Kind, Limited, Outcome};
use super::reply::{Answer, Refusal, empty, json_reply, without};
use super::{places, resources};

pub(super) fn answer(cloud: &mut Cloud, call: &Call) -> Answer {
    let version = call.query("version").unwrap_or_default();
    if version.len() != 10 || version.bytes().filter(|byte| *byte == b'-').count() != 2 {
        return Err(Refusal::new(400, "invalid_version", "the query parameter version must be a date like 2024-01-01"));
    }
    match (call.method.as_str(), call.parts().as_slice()) {
        ("GET", ["transit_gateways"]) => list(cloud, call),
        ("POST", ["transit_gateways"]) => create(cloud, call),
        ("GET", ["transit_gateways", id]) => Ok(json_reply(200, gateway(cloud, id)?)),
        ("PATCH", ["transit_gateways", id]) => {
            gateway(cloud, id)?;
            let time = cloud.time_now();
            if let Some(own) = cloud.state.gateways.get_mut(*id) {
                for field in ["name", "global"] {
                    if let Some(value) = call.value(field) {
                        own[field] = value.clone();
                    }
                }
                own["updated_at"] = json!(time);
            }
            Ok(json_reply(200, gateway(cloud, id)?))
        }
        ("DELETE", ["transit_gateways", id]) => delete(cloud, id),
        ("GET", ["transit_gateways", id, "connections"]) => {
            gateway(cloud, id)?;
            let shown: Vec<Value> = of_gateway(cloud, id).map(|own| without(own, "transit_gateway")).collect();
            let first = format!("{}/transit/v1/transit_gateways/{id}/connections?limit=50", cloud.state.url);
            let count = shown.len();
            let body = json!({ "first": { "href": first }, "limit": 50, "total_count": count, "connections": shown });
            Ok(json_reply(200, &body))
        }
        ("POST", ["transit_gateways", id, "connections"]) => connect(cloud, call, id),
        ("GET", ["transit_gateways", id, "connections", connection]) => {
            Ok(json_reply(200, &without(connection_of(cloud, id, connection)?, "transit_gateway")))
        }
        ("PATCH", ["transit_gateways", id, "connections", connection]) => {
            connection_of(cloud, id, connection)?;
            if let (Some(name), Some(own)) = (call.text("name"), cloud.state.connections.get_mut(*connection)) {
                own["name"] = json!(name);
            }
            Ok(json_reply(200, &without(connection_of(cloud, id, connection)?, "transit_gateway")))
        }
        ("DELETE", ["transit_gateways", id, "connections", connection]) => {
            connection_of(cloud, id, connection)?;
            if let Some(own) = cloud.state.connections.get_mut(*connection) {
                own["status"] = json!("deleting");
            }
            cloud.state.agenda.forget(connection);
            cloud.later(Kind::Connection, connection, Event::Gone);
            Ok(empty(204))
        }
        ("GET", ["connections"]) => {
            let wanted = call.query("network_id");
            let all = cloud.state.connections.values();
            let shown: Vec<&Value> =
                all.filter(|own| wanted.is_none_or(|wanted| own["network_id"] == wanted)).collect();
            let first = format!("{}/transit/v1/connections?limit=50", cloud.state.url);
            Ok(json_reply(200, &json!({ "first": { "href": first }, "limit": 50, "connections": shown })))
        }
        ("GET", ["locations"]) => {
            let shown: Vec<Value> = places::vpc_regions().into_iter().map(location).collect();
            Ok(json_reply(200, &json!({ "locations": shown })))
        }
        ("GET", ["locations", name]) => {
            let known = places::vpc_regions().into_iter().find(|region| region == name);
            let known = known.ok_or_else(|| Refusal::not_found("location", name))?;
            let mut shown = location(known);
            shown["local_connection_locations"] = json!([{ "display_name": known, "name": known, "type": "region" }]);
            shown["zones"] =
                json!((1..=3).map(|zone| json!({ "name": format!("{known}-{zone}") })).collect::<Vec<_>>());
            Ok(json_reply(200, &shown))
        }
        _ => Err(Refusal::no_route()),
    }
}

fn location(region: &str) -> Value {
    json!({ "name": region, "type": "region", "billing_location": if region.starts_with("us") { "us" } else { "eu" } })
}

fn gateway<'a>(cloud: &'a Cloud, id: &str) -> Result<&'a Value, Refusal> {
    cloud.state.gateways.get(id).ok_or_else(|| Refusal::not_found("transit gateway", id))
}

fn of_gateway<'a>(cloud: &'a Cloud, id: &'a str) -> impl Iterator<Item = &'a Value> {
    cloud.state.connections.values().filter(move |own| own["transit_gateway"]["id"] == id)
}

fn connection_of<'a>(cloud: &'a Cloud, id: &str, connection: &str) -> Result<&'a Value, Refusal> {
    gateway(cloud, id)?;
    let found = cloud.state.connections.get(connection).filter(|own| own["transit_gateway"]["id"] == id);
    found.ok_or_else(|| Refusal::not_found("connection", connection))
}

fn list(cloud: &Cloud, call: &Call) -> Answer {
    let limit = call.number("limit", 50, 100)?;
    let base = format!("{}/transit/v1/transit_gateways", cloud.state.url);
    let start = call.query("start").and_then(|start| cloud.state.gateways.get_index_of(start)).unwrap_or(0);
    let shown: Vec<&Value> = cloud.state.gateways.values().skip(start).take(limit).collect();
    let mut body =
        json!({ "first": { "href": format!("{base}?limit={limit}") }, "limit": limit, "transit_gateways": shown });
    if let Some((next, _)) = cloud.state.gateways.get_index(start + limit) {
        body["next"] = json!({ "href": format!("{base}?limit={limit}&start={next}"), "start": next });
    }
    Ok(json_reply(200, &body))
}

fn create(cloud: &mut Cloud, call: &Call) -> Answer {
    let (name, location) = (call.need("name")?.to_owned(), call.need("location")?.to_owned());
    if !places::vpc_regions().contains(&location.as_str()) {
        return Err(Refusal::new(400, "bad_field", format!("location {location} is not known")));
    }
    let most = cloud.options.quota(Limited::TransitGateways);
    if cloud.state.gateways.len() >= most {
        let message = format!("The account has {most} transit gateways already, which is the limit");
        return Err(Refusal::new(403, "precondition_failed", message));
    }
    if cloud.state.gateways.values().any(|own| own["name"] == name.as_str()) {
        return Err(Refusal::new(409, "validation_unique_failed", format!("there is a transit gateway named {name}")));
    }
    let group = resources::group_of(cloud, call.value("resource_group"))?.id.clone();
    let (id, time) = (cloud.id(), cloud.time_now());
    let document = json!({
        "id": id,
        "crn": cloud.crn("transit", &location, "", "gateway", &id),
        "name": name,
        "location": location,
        "global": call.value("global").and_then(Value::as_bool).unwrap_or(false),
        "gre_enhanced_route_propagation": false,
        "connection_count": 0,
        "connection_needs_attention": false,
        "resource_group": { "id": group, "href": format!("{}/resource-manager/v2/resource_groups/{group}", cloud.state.url) },
        "status": "pending",
        "created_at": time,
        "updated_at": time,
    });
    cloud.state.gateways.insert(id.clone(), document.clone());
    cloud.later(Kind::Gateway, &id, Event::Done);
    Ok(json_reply(201, &document))
}

fn delete(cloud: &mut Cloud, id: &str) -> Answer {
    gateway(cloud, id)?;
    if of_gateway(cloud, id).next().is_some() {
        let message = "The transit gateway has connections, which must be deleted before";
        return Err(Refusal::new(412, "precondition_failed", message));
    }
    if let Some(own) = cloud.state.gateways.get_mut(id) {
        own["status"] = json!("deleting");
    }
    cloud.state.agenda.forget(id);
    cloud.later(Kind::Gateway, id, Event::Gone);
    Ok(empty(204))
}

/// A gateway is there, or gone.
pub(super) fn gateway_settled(cloud: &mut Cloud, id: &str, gone: bool) {
    if gone {
        cloud.state.gateways.shift_remove(id);
        return;
    }
    let Some(name) = cloud.state.gateways.get(id).and_then(|own| own["name"].as_str()).map(str::to_owned) else {
        return;
    };
    let status = match cloud.outcome(Kind::Gateway, &name) {
        Some(Outcome::Stuck) => return,
        Some(Outcome::Failed) => "failed",
        _ => "available",
    };
    if let Some(own) = cloud.state.gateways.get_mut(id) {
        own["status"] = json!(status);
    }
}

fn connect(cloud: &mut Cloud, call: &Call, id: &str) -> Answer {
    let status = gateway(cloud, id)?["status"].as_str().unwrap_or_default().to_owned();
    if status != "available" {
        return Err(Refusal::new(409, "conflict", format!("the transit gateway is {status}")));
    }
    let kind = call.need("network_type")?.to_owned();
    let network = call.need("network_id")?.to_owned();
    let exists = match kind.as_str() {
        "vpc" => cloud.state.vpcs.values().any(|vpc| vpc["crn"] == network.as_str()),
        "power_virtual_server" => resources::find(cloud, &network)
            .and_then(|guid| cloud.state.workspaces.get(&guid))
            .is_some_and(|own| own.router == "active"),
        _ => return Err(Refusal::new(400, "bad_field", format!("network_type {kind} is not supported"))),
    };
    if !exists {
        let message = format!("network_id {network} names nothing that can be connected");
        return Err(Refusal::new(400, "bad_field", message));
    }
    if cloud.state.connections.values().any(|own| own["network_id"] == network.as_str()) {
        return Err(Refusal::new(409, "conflict", format!("{network} is connected to a transit gateway already")));
    }
    let name = match (call.text("name"), kind.as_str()) {
        (Some(name), _) => name.to_owned(),
        (None, kind) => format!("{kind}-connection"),
    };
    if of_gateway(cloud, id).any(|own| own["name"] == name.as_str()) {
        return Err(Refusal::new(409, "validation_unique_failed", format!("there is a connection named {name}")));
    }
    let (connection, time) = (cloud.id(), cloud.time_now());
    let own = gateway(cloud, id)?;
    let document = json!({
        "id": connection,
        "name": name,
        "network_type": kind,
        "network_id": network,
        "network_account_id": cloud.state.account,
        "request_status": "approved",
        "status": "pending",
        "prefix_filters": [],
        "prefix_filters_default": "permit",
        "created_at": time,
        "updated_at": time,
        "transit_gateway": { "id": id, "crn": own["crn"], "name": own["name"] },
    });
    cloud.state.connections.insert(connection.clone(), document.clone());
    count(cloud, id);
    cloud.later(Kind::Connection, &connection, Event::Done);
    Ok(json_reply(201, &without(&document, "transit_gateway")))
}

fn count(cloud: &mut Cloud, id: &str) {
    let count = of_gateway(cloud, id).count();
    if let Some(own) = cloud.state.gateways.get_mut(id) {
        own["connection_count"] = json!(count);
    }
}

/// A connection is attached, or gone.
pub(super) fn connection_settled(cloud: &mut Cloud, id: &str, gone: bool) {
    let Some(own) = cloud.state.connections.get(id) else { return };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (name, gateway) = (text(&own["name"]), text(&own["transit_gateway"]["id"]));
    if gone {
        cloud.state.connections.shift_remove(id);
        count(cloud, &gateway);
        return;
    }
    let status = match cloud.outcome(Kind::Connection, &name) {
        Some(Outcome::Stuck) => return,
        Some(Outcome::Failed) => "failed",
        _ => "attached",
    };
    if let Some(own) = cloud.state.connections.get_mut(id) {
        own["status"] = json!(status);
    }
}

/// Whether two networks are joined by a gateway.
pub(super) fn joined(cloud: &Cloud, one: &str, other: &str) -> bool {
    let attached = |network: &str| {
        let found =
            cloud.state.connections.values().find(|own| own["network_id"] == network && own["status"] == "attached");
        found.and_then(|own| own["transit_gateway"]["id"].as_str())
    };
    attached(one).is_some_and(|gateway| attached(other) == Some(gateway))
}
