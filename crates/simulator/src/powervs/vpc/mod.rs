//! VPC: networks of x86 machines next door, and the load balancers in them.

mod balancers;
mod gateways;
mod regions;
mod security;
mod settling;
mod show;
mod subnets;
mod vpcs;

use serde_json::{Value, json};

use super::call::Call;
use super::cloud::Cloud;
use super::reply::{Answer, Refusal, json_reply};
use super::resources;
use super::state::Documents;

pub(super) use balancers::{LoadBalancer, Member, Pool, gone as balancer_gone, settled as balancer_settled};

pub(super) use security::admits;
pub(super) use settling::settled;

/// The region of calls to the address that has none.
pub(super) const REGION: &str = "us-south";

pub(super) fn answer(cloud: &mut Cloud, call: &Call) -> Answer {
    check_version(call)?;
    let parts = call.parts();
    match (call.method.as_str(), parts.as_slice()) {
        ("GET", ["regions", rest @ ..]) => regions::answer(cloud, rest),
        (method, ["vpcs", rest @ ..]) => vpcs::vpcs(cloud, call, method, rest),
        (method, ["subnets", rest @ ..]) => subnets::subnets(cloud, call, method, rest),
        (method, ["public_gateways", rest @ ..]) => gateways::public_gateways(cloud, call, method, rest),
        (method, ["floating_ips", rest @ ..]) => gateways::floating_ips(cloud, call, method, rest),
        (method, ["security_groups", rest @ ..]) => security::answer(cloud, call, method, rest),
        (method, ["keys", rest @ ..]) => security::keys(cloud, call, method, rest),
        (method, ["load_balancers", rest @ ..]) => balancers::answer(cloud, call, method, rest),
        ("GET", ["load_balancer", "profiles"]) => balancers::profiles(cloud, call),
        // There are no machines here, which whoever cleans up wants to know.
        ("GET", [name @ ("instances" | "endpoint_gateways" | "images" | "volumes")]) => {
            page(cloud, call, name, name, &[])
        }
        _ => Err(Refusal::no_route()),
    }
}

fn check_version(call: &Call) -> Result<(), Refusal> {
    let version = call.query("version").unwrap_or_default();
    let parts: Vec<&str> = version.split('-').collect();
    let is_date = matches!(parts.as_slice(), [year, month, day] if year.len() == 4 && month.len() == 2 && day.len() == 2)
        && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if !is_date {
        let message = "The version query parameter must be a date of the form YYYY-MM-DD";
        return Err(Refusal::new(400, if version.is_empty() { "missing_version" } else { "invalid_version" }, message));
    }
    if call.query("generation") != Some("2") {
        return Err(Refusal::new(400, "invalid_generation", "The generation query parameter must be 2"));
    }
    Ok(())
}

/// One page of a list.
fn page(cloud: &Cloud, call: &Call, path: &str, name: &str, items: &[Value]) -> Answer {
    let limit = call.number("limit", 50, 100)?;
    let base = format!("{}/vpc/v1/{path}", cloud.state.url);
    let start = call.query("start").and_then(|start| items.iter().position(|item| item["id"] == start)).unwrap_or(0);
    let shown: Vec<&Value> = items.iter().skip(start).take(limit).collect();
    let mut body = json!({
        "first": { "href": format!("{base}?limit={limit}") },
        "limit": limit,
        "total_count": items.len(),
        name: shown,
    });
    if let Some(next) = items.get(start + limit) {
        let id = next["id"].as_str().unwrap_or_default();
        body["next"] = json!({ "href": format!("{base}?start={id}&limit={limit}") });
    }
    Ok(json_reply(200, &body))
}

/// What the query asks for of a list: a name, a group, a VPC.
fn wanted(call: &Call, item: &Value) -> bool {
    let is = |parameter: &str, value: &Value| call.query(parameter).is_none_or(|wanted| value == wanted);
    is("name", &item["name"])
        && is("resource_group.id", &item["resource_group"]["id"])
        && is("vpc.id", &item["vpc"]["id"])
        && is("vpc.name", &item["vpc"]["name"])
        && is("zone.name", &item["zone"]["name"])
        && call.region().is_none_or(|region| item["crn"].as_str().is_none_or(|crn| crn.contains(&format!(":{region}"))))
}

fn listed(cloud: &Cloud, call: &Call, path: &str, name: &str, documents: &Documents) -> Answer {
    let items: Vec<Value> = documents.values().filter(|item| wanted(call, item)).cloned().collect();
    page(cloud, call, path, name, &items)
}

fn find<'a>(documents: &'a Documents, what: &str, id: &str) -> Result<&'a Value, Refusal> {
    documents.get(id).ok_or_else(|| Refusal::new(404, "not_found", format!("{what} not found: {id} does not exist")))
}

/// The group of a new resource, as it is shown.
fn group(cloud: &Cloud, call: &Call) -> Result<Value, Refusal> {
    let group = resources::group_of(cloud, call.value("resource_group"))?;
    let href = format!("{}/resource-manager/v2/resource_groups/{}", cloud.state.url, group.id);
    Ok(json!({ "id": group.id, "name": group.name, "href": href }))
}

/// The name that a body gives, which nothing else of its kind may have.
fn new_name(cloud: &mut Cloud, call: &Call, taken: impl Fn(&Cloud, &str) -> bool) -> Result<String, Refusal> {
    let Some(name) = call.text("name").map(str::to_owned) else {
        return Ok(format!("simulated-{}", cloud.hex(8)));
    };
    let valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let edges = name.starts_with(|first: char| first.is_ascii_lowercase()) && !name.ends_with('-');
    if !edges || name.len() > 63 || !name.bytes().all(valid) {
        let message = format!("the name {name} is not valid: at most 63 lower-case letters, digits and dashes");
        return Err(Refusal::new(400, "validation_invalid_name", message));
    }
    if taken(cloud, &name) {
        let message = format!("Provided Name ({name}) is not unique");
        return Err(Refusal::new(409, "validation_unique_failed", message));
    }
    Ok(name)
}

/// A new id of a region's or of a zone's resource.
fn new_id(cloud: &mut Cloud, region: &str, zonal: bool) -> String {
    let number = match region {
        "us-south" => ("r006", "0717"),
        "us-east" => ("r014", "0757"),
        "eu-de" => ("r010", "02b7"),
        "eu-gb" => ("r018", "0797"),
        "jp-tok" => ("r022", "02e7"),
        "au-syd" => ("r026", "02h7"),
        "jp-osa" => ("r034", "02u7"),
        "ca-tor" => ("r038", "02q7"),
        "br-sao" => ("r042", "02r7"),
        _ => ("r050", "02v7"),
    };
    format!("{}-{}", if zonal { number.1 } else { number.0 }, cloud.id())
}

fn href(cloud: &Cloud, path: &str) -> String {
    format!("{}/vpc/v1/{path}", cloud.state.url)
}

/// The id of what a field of the body names.
fn named<'a>(call: &'a Call, field: &str) -> Option<&'a str> {
    let value = call.value(field)?;
    value["id"].as_str().or_else(|| value["crn"].as_str()?.rsplit(':').next())
}

/// How other resources refer to one.
fn reference(document: &Value) -> Value {
    let mut shown =
        json!({ "id": document["id"], "crn": document["crn"], "href": document["href"], "name": document["name"] });
    if let Some(kind) = document.get("resource_type") {
        shown["resource_type"] = kind.clone();
    }
    shown
}

/// Changes the name of a resource, if the body has one.
fn rename(documents: &mut Documents, id: &str, call: &Call) {
    if let (Some(name), Some(document)) = (call.text("name"), documents.get_mut(id)) {
        document["name"] = json!(name);
    }
}
