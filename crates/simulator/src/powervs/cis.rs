//! Internet Services: public zones and the records in them.

use serde_json::{Value, json};

use super::call::Call;
use super::cloud::Cloud;
use super::reply::{Answer, Refusal, json_reply, without};
use super::resources;

const KINDS: [&str; 8] = ["A", "AAAA", "CNAME", "TXT", "MX", "NS", "CAA", "SRV"];

pub(super) fn answer(cloud: &mut Cloud, call: &Call) -> Answer {
    let parts = call.parts();
    let ["v1", crn, "zones", rest @ ..] = parts.as_slice() else { return Err(Refusal::no_route()) };
    let instance = resources::find(cloud, crn).ok_or_else(|| Refusal::not_found("instance", crn))?;
    match (call.method.as_str(), rest) {
        ("GET", []) => {
            let zones = cloud.state.public_zones.values().filter(|zone| zone["instance"] == instance.as_str());
            page(call, &zones.map(|zone| without(zone, "instance")).collect::<Vec<_>>())
        }
        ("POST", []) => {
            let name = call.need("name")?.to_owned();
            if cloud.state.public_zones.values().any(|zone| zone["name"] == name.as_str()) {
                return Err(Refusal::conflict(format!("{name} already exists")));
            }
            let zone = add_zone(cloud, &instance, &name, "pending");
            Ok(result(&without(&zone, "instance")))
        }
        ("GET", [zone]) => Ok(result(&without(find(cloud, &instance, zone)?, "instance"))),
        ("DELETE", [zone]) => {
            find(cloud, &instance, zone)?;
            cloud.state.public_zones.shift_remove(*zone);
            cloud.state.public_records.retain(|_, record| record["zone_id"] != *zone);
            Ok(result(&json!({ "id": zone })))
        }
        (method, [zone, "dns_records", rest @ ..]) => {
            find(cloud, &instance, zone)?;
            records(cloud, call, zone, method, rest)
        }
        _ => Err(Refusal::no_route()),
    }
}

/// Makes a zone.
pub(super) fn add_zone(cloud: &mut Cloud, instance: &str, name: &str, status: &str) -> Value {
    let (id, time) = (cloud.hex(32), cloud.time_now());
    let zone = json!({
        "id": id,
        "instance": instance,
        "created_on": time,
        "modified_on": time,
        "name": name,
        "original_registrar": "",
        "original_dnshost": "",
        "original_name_servers": [],
        "name_servers": ["ns004.name.cloud.ibm.com", "ns013.name.cloud.ibm.com"],
        "status": status,
        "paused": false,
        "type": "full",
    });
    cloud.state.public_zones.insert(id, zone.clone());
    zone
}

fn find<'a>(cloud: &'a Cloud, instance: &str, zone: &str) -> Result<&'a Value, Refusal> {
    let found = cloud.state.public_zones.get(zone).filter(|own| own["instance"] == instance);
    found.ok_or_else(|| Refusal::not_found("zone", zone))
}

fn result(value: &Value) -> crate::core::Response {
    json_reply(200, &json!({ "success": true, "errors": [], "messages": [], "result": value }))
}

fn page(call: &Call, items: &[Value]) -> Answer {
    let (page, per_page) = (call.number("page", 1, usize::MAX)?, call.number("per_page", 20, 1000)?);
    let shown: Vec<&Value> = items.iter().skip((page - 1).saturating_mul(per_page)).take(per_page).collect();
    let info = json!({ "page": page, "per_page": per_page, "count": shown.len(), "total_count": items.len() });
    let body = json!({ "success": true, "errors": [], "messages": [], "result": shown, "result_info": info });
    Ok(json_reply(200, &body))
}

fn records(cloud: &mut Cloud, call: &Call, zone: &str, method: &str, rest: &[&str]) -> Answer {
    let missing = |id: &str| Refusal::not_found("record", id);
    let of_zone =
        |cloud: &Cloud, id: &str| cloud.state.public_records.get(id).filter(|own| own["zone_id"] == zone).cloned();
    match (method, rest) {
        ("GET", []) => {
            let is = |record: &Value, field: &str| {
                call.query(field)
                    .is_none_or(|wanted| record[field].as_str().is_some_and(|own| own.eq_ignore_ascii_case(wanted)))
            };
            let fits = |record: &&Value| {
                record["zone_id"] == zone && ["name", "type", "content"].iter().all(|field| is(record, field))
            };
            page(call, &cloud.state.public_records.values().filter(fits).cloned().collect::<Vec<_>>())
        }
        ("POST", []) => {
            let record = read(cloud, call, zone, None)?;
            let id = record["id"].as_str().unwrap_or_default().to_owned();
            cloud.state.public_records.insert(id, record.clone());
            Ok(result(&record))
        }
        ("GET", [id]) => of_zone(cloud, id).map(|record| result(&record)).ok_or_else(|| missing(id)),
        ("PUT", [id]) => {
            let before = of_zone(cloud, id).ok_or_else(|| missing(id))?;
            let record = read(cloud, call, zone, Some(&before))?;
            cloud.state.public_records.insert((*id).to_owned(), record.clone());
            Ok(result(&record))
        }
        ("DELETE", [id]) => {
            of_zone(cloud, id).ok_or_else(|| missing(id))?;
            cloud.state.public_records.shift_remove(*id);
            Ok(result(&json!({ "id": id })))
        }
        _ => Err(Refusal::no_route()),
    }
}

/// The name of an SRV record and what it says, both in parts.
fn service(data: Option<&Value>) -> Result<(String, String), Refusal> {
    let data = data.ok_or_else(|| Refusal::missing("data"))?;
    let text = |field: &str| data[field].as_str().filter(|text| !text.is_empty());
    let number = |field: &str| data[field].as_u64().filter(|number| u16::try_from(*number).is_ok());
    let missing = |field: &str| Refusal::missing(&format!("data.{field}"));
    let part = |field: &str| text(field).ok_or_else(|| missing(field));
    let count = |field: &str| number(field).ok_or_else(|| missing(field));
    let name = format!("{}.{}.{}", part("service")?, part("proto")?, part("name")?);
    Ok((name, format!("{} {} {} {}", count("priority")?, count("weight")?, count("port")?, part("target")?)))
}

fn read(cloud: &mut Cloud, call: &Call, zone: &str, before: Option<&Value>) -> Result<Value, Refusal> {
    let field = |name: &str| {
        let own = before.and_then(|before| before[name].as_str());
        call.text(name).or(own).map(str::to_owned).ok_or_else(|| Refusal::missing(name))
    };
    let kind = field("type")?;
    let (name, content) = match kind.as_str() {
        "SRV" => service(call.value("data").or_else(|| before.map(|before| &before["data"])))?,
        _ => (field("name")?, field("content")?),
    };
    if !KINDS.contains(&kind.as_str()) {
        return Err(Refusal::invalid(format!("type {kind} is not supported")));
    }
    if (kind == "A" && content.parse::<std::net::Ipv4Addr>().is_err())
        || (kind == "AAAA" && content.parse::<std::net::Ipv6Addr>().is_err())
    {
        return Err(Refusal::invalid(format!("content {content} is no address for a record of type {kind}")));
    }
    let domain =
        cloud.state.public_zones.get(zone).and_then(|zone| zone["name"].as_str()).unwrap_or_default().to_owned();
    let name = name.trim_end_matches('.').to_lowercase();
    // A name that is not in the zone is meant to be below it.
    let name = match name.as_str() {
        "@" => domain.clone(),
        own if own == domain || own.ends_with(&format!(".{domain}")) => own.to_owned(),
        own => format!("{own}.{domain}"),
    };
    let own_id = before.and_then(|before| before["id"].as_str()).unwrap_or_default();
    let others = || {
        let same =
            |record: &&Value| record["zone_id"] == zone && record["name"] == name.as_str() && record["id"] != own_id;
        cloud.state.public_records.values().filter(same)
    };
    if others().any(|other| other["type"] == "CNAME" || kind == "CNAME")
        || others().any(|other| other["type"] == kind.as_str() && other["content"] == content.as_str())
    {
        let message = format!("An A, AAAA, or CNAME record with that host already exists: {name}");
        return Err(Refusal::conflict(message));
    }
    let time = cloud.time_now();
    let id = if own_id.is_empty() { cloud.hex(32) } else { own_id.to_owned() };
    let created = before.map_or_else(|| json!(time), |before| before["created_on"].clone());
    let value = |name: &str, usual: Value| {
        call.value(name).or_else(|| before.map(|before| &before[name])).cloned().unwrap_or(usual)
    };
    Ok(json!({
        "id": id,
        "created_on": created,
        "modified_on": time,
        "name": name,
        "type": kind,
        "content": content,
        "zone_id": zone,
        "zone_name": domain,
        "proxiable": true,
        "proxied": value("proxied", json!(false)),
        "ttl": value("ttl", json!(120)),
        "priority": value("priority", Value::Null),
        "data": value("data", Value::Null),
    }))
}
