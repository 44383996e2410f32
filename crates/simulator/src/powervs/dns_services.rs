//! DNS Services: zones that only permitted networks see, and resolvers in VPCs.

use serde_json::{Value, json};

use super::agenda::Event;
use super::call::Call;
use super::cloud::Cloud;
use super::knobs::Kind;
use super::reply::{Answer, Refusal, empty, json_reply, without};

pub(super) fn answer(cloud: &mut Cloud, call: &Call) -> Answer {
    let parts = call.parts();
    let ["instances", instance, rest @ ..] = parts.as_slice() else { return Err(Refusal::no_route()) };
    let known = cloud.state.instances.get(*instance).is_some_and(|own| own.service == "dns-svcs");
    if !known {
        return Err(Refusal::not_found("instance", instance));
    }
    match (call.method.as_str(), rest) {
        ("GET", ["dnszones"]) => {
            let zones: Vec<&Value> = of_instance(&cloud.state.private_zones, instance);
            page(cloud, call, &format!("instances/{instance}/dnszones"), "dnszones", &zones)
        }
        ("POST", ["dnszones"]) => {
            let name = call.need("name")?.to_owned();
            let description = call.text("description").unwrap_or_default().to_owned();
            let label = call.text("label").unwrap_or_default().to_owned();
            let zone = add_zone(cloud, instance, &name, &description, &label);
            Ok(json_reply(200, &zone))
        }
        ("GET", ["dnszones", zone]) => Ok(json_reply(200, find(cloud, instance, zone)?)),
        ("PATCH", ["dnszones", zone]) => {
            find(cloud, instance, zone)?;
            if let Some(own) = cloud.state.private_zones.get_mut(*zone) {
                for field in ["description", "label"] {
                    if let Some(value) = call.value(field) {
                        own[field] = value.clone();
                    }
                }
            }
            Ok(json_reply(200, find(cloud, instance, zone)?))
        }
        ("DELETE", ["dnszones", zone]) => {
            find(cloud, instance, zone)?;
            if cloud.state.permitted_networks.values().any(|own| own["linked_zone_id"] == *zone) {
                return Err(Refusal::conflict("the zone has permitted networks, which must be removed before"));
            }
            cloud.state.private_zones.shift_remove(*zone);
            cloud.state.private_records.retain(|_, record| record["zone"] != *zone);
            Ok(empty(204))
        }
        (method, ["dnszones", zone, "resource_records", rest @ ..]) => {
            find(cloud, instance, zone)?;
            records(cloud, call, instance, zone, method, rest)
        }
        (method, ["dnszones", zone, "permitted_networks", rest @ ..]) => {
            find(cloud, instance, zone)?;
            networks(cloud, call, zone, method, rest)
        }
        (method, ["custom_resolvers", rest @ ..]) => resolvers(cloud, call, instance, method, rest),
        _ => Err(Refusal::no_route()),
    }
}

fn of_instance<'a>(documents: &'a super::state::Documents, instance: &str) -> Vec<&'a Value> {
    documents.values().filter(|own| own["instance_id"] == instance).collect()
}

/// Makes a zone; until a network may see it, it is not active.
pub(super) fn add_zone(cloud: &mut Cloud, instance: &str, name: &str, description: &str, label: &str) -> Value {
    let digits = cloud.id();
    let (id, time) = (format!("{name}:{digits}"), cloud.time_now());
    let zone = json!({
        "id": id,
        "created_on": time,
        "modified_on": time,
        "instance_id": instance,
        "name": name,
        "description": description,
        "state": "pending_network_add",
        "label": label,
    });
    cloud.state.private_zones.insert(id, zone.clone());
    zone
}

fn find<'a>(cloud: &'a Cloud, instance: &str, zone: &str) -> Result<&'a Value, Refusal> {
    let found = cloud.state.private_zones.get(zone).filter(|own| own["instance_id"] == instance);
    found.ok_or_else(|| Refusal::not_found("zone", zone))
}

fn page(cloud: &Cloud, call: &Call, path: &str, name: &str, items: &[&Value]) -> Answer {
    let limit = call.number("limit", 200, 1000)?;
    let offset = call.query("offset").and_then(|text| text.parse().ok()).unwrap_or(0_usize);
    let href =
        |offset: usize| json!({ "href": format!("{}/dns/v1/{path}?offset={offset}&limit={limit}", cloud.state.url) });
    let shown: Vec<Value> = items.iter().skip(offset).take(limit).map(|own| without(own, "zone")).collect();
    let last = items.len().saturating_sub(1) / limit * limit;
    let mut body = json!({
        name: shown,
        "offset": offset,
        "limit": limit,
        "count": shown.len(),
        "total_count": items.len(),
        "first": href(0),
        "last": href(last),
    });
    if offset + limit < items.len() {
        body["next"] = href(offset + limit);
    }
    Ok(json_reply(200, &body))
}

fn records(cloud: &mut Cloud, call: &Call, instance: &str, zone: &str, method: &str, rest: &[&str]) -> Answer {
    let missing = |id: &str| Refusal::not_found("resource record", id);
    let of_zone =
        |cloud: &Cloud, id: &str| cloud.state.private_records.get(id).filter(|own| own["zone"] == zone).cloned();
    match (method, rest) {
        ("GET", []) => {
            let is = |record: &Value, field: &str| call.query(field).is_none_or(|wanted| record[field] == wanted);
            let fits = |record: &&Value| record["zone"] == zone && is(record, "type") && is(record, "name");
            let found: Vec<&Value> = cloud.state.private_records.values().filter(fits).collect();
            page(
                cloud,
                call,
                &format!("instances/{instance}/dnszones/{zone}/resource_records"),
                "resource_records",
                &found,
            )
        }
        ("POST", []) => {
            let record = read(cloud, call, zone, None)?;
            let id = record["id"].as_str().unwrap_or_default().to_owned();
            cloud.state.private_records.insert(id, record.clone());
            Ok(json_reply(200, &without(&record, "zone")))
        }
        ("GET", [id]) => {
            of_zone(cloud, id).map(|own| json_reply(200, &without(&own, "zone"))).ok_or_else(|| missing(id))
        }
        ("PUT", [id]) => {
            let before = of_zone(cloud, id).ok_or_else(|| missing(id))?;
            let record = read(cloud, call, zone, Some(&before))?;
            cloud.state.private_records.insert((*id).to_owned(), record.clone());
            Ok(json_reply(200, &without(&record, "zone")))
        }
        ("DELETE", [id]) => {
            of_zone(cloud, id).ok_or_else(|| missing(id))?;
            cloud.state.private_records.shift_remove(*id);
            Ok(empty(204))
        }
        _ => Err(Refusal::no_route()),
    }
}

fn read(cloud: &mut Cloud, call: &Call, zone: &str, before: Option<&Value>) -> Result<Value, Refusal> {
    let old = |name: &str| before.and_then(|before| before[name].as_str());
    let kind = call.text("type").or(old("type")).ok_or_else(|| Refusal::missing("type"))?.to_owned();
    let name = call.text("name").or(old("name")).unwrap_or_default().to_lowercase();
    let rdata = call.value("rdata").or_else(|| before.map(|before| &before["rdata"])).cloned();
    let rdata = rdata.ok_or_else(|| Refusal::missing("rdata"))?;
    let needed = match kind.as_str() {
        "A" | "AAAA" => "ip",
        "CNAME" => "cname",
        "TXT" => "text",
        "PTR" => "ptrdname",
        "MX" => "exchange",
        "SRV" => "target",
        _ => return Err(Refusal::invalid(format!("type {kind} is not supported"))),
    };
    if rdata[needed].as_str().is_none_or(str::is_empty) {
        return Err(Refusal::invalid(format!("rdata of type {kind} needs {needed}")));
    }
    let (service, protocol) = (call.text("service").or(old("service")), call.text("protocol").or(old("protocol")));
    let service =
        (kind == "SRV").then(|| (service.unwrap_or_default().to_owned(), protocol.unwrap_or_default().to_owned()));
    if let Some((service, protocol)) = &service
        && (!service.starts_with('_') || protocol.is_empty())
    {
        return Err(Refusal::invalid("a record of type SRV needs service and protocol"));
    }
    let domain =
        cloud.state.private_zones.get(zone).and_then(|zone| zone["name"].as_str()).unwrap_or_default().to_owned();
    let name = name.trim_end_matches('.');
    let name = match name {
        "" | "@" => domain.clone(),
        own if own == domain || own.ends_with(&format!(".{domain}")) => own.to_owned(),
        own => format!("{own}.{domain}"),
    };
    // The name of a service is put together here.
    let name = match &service {
        Some((service, protocol)) if !name.starts_with(&format!("{service}._{protocol}.")) => {
            format!("{service}._{protocol}.{name}")
        }
        _ => name,
    };
    let own_id = before.and_then(|before| before["id"].as_str()).unwrap_or_default().to_owned();
    let clashes = |record: &&Value| {
        record["zone"] == zone
            && record["name"] == name.as_str()
            && record["id"] != own_id.as_str()
            && (record["type"] == "CNAME" || kind == "CNAME" || record["rdata"] == rdata)
    };
    if cloud.state.private_records.values().any(|record| clashes(&record)) {
        return Err(Refusal::conflict(format!("there is a record for {name} already")));
    }
    let time = cloud.time_now();
    let id = if own_id.is_empty() { format!("{kind}:{}", cloud.id()) } else { own_id };
    let ttl = call.value("ttl").or_else(|| before.map(|before| &before["ttl"])).cloned().unwrap_or(json!(900));
    let mut record = json!({
        "id": id,
        "zone": zone,
        "created_on": before.map_or_else(|| json!(time), |before| before["created_on"].clone()),
        "modified_on": time,
        "name": name,
        "type": kind,
        "ttl": ttl,
        "rdata": rdata,
    });
    if let Some((service, protocol)) = service {
        record["service"] = service.into();
        record["protocol"] = protocol.into();
    }
    Ok(record)
}

fn networks(cloud: &mut Cloud, call: &Call, zone: &str, method: &str, rest: &[&str]) -> Answer {
    let missing = |id: &str| Refusal::not_found("permitted network", id);
    let of_zone = |cloud: &Cloud, id: &str| {
        cloud.state.permitted_networks.get(id).filter(|own| own["linked_zone_id"] == zone).cloned()
    };
    match (method, rest) {
        ("GET", []) => {
            let own: Vec<&Value> =
                cloud.state.permitted_networks.values().filter(|own| own["linked_zone_id"] == zone).collect();
            Ok(json_reply(200, &json!({ "permitted_networks": own })))
        }
        ("POST", []) => {
            let crn = call.value("permitted_network").and_then(|network| network["vpc_crn"].as_str());
            let crn = crn.ok_or_else(|| Refusal::missing("permitted_network.vpc_crn"))?.to_owned();
            if !cloud.state.vpcs.values().any(|vpc| vpc["crn"] == crn.as_str()) {
                return Err(Refusal::not_found("VPC", &crn));
            }
            let (id, time) = (cloud.id(), cloud.time_now());
            let network = json!({
                "id": id,
                "created_on": time,
                "modified_on": time,
                "permitted_network": { "vpc_crn": crn },
                "type": "vpc",
                "state": "ACTIVE",
                "linked_zone_id": zone,
            });
            cloud.state.permitted_networks.insert(id, network.clone());
            cloud.later(Kind::Dns, zone, Event::Done);
            Ok(json_reply(200, &network))
        }
        ("GET", [id]) => of_zone(cloud, id).map(|own| json_reply(200, &own)).ok_or_else(|| missing(id)),
        ("DELETE", [id]) => {
            let own = of_zone(cloud, id).ok_or_else(|| missing(id))?;
            cloud.state.permitted_networks.shift_remove(*id);
            if !cloud.state.permitted_networks.values().any(|own| own["linked_zone_id"] == zone)
                && let Some(own) = cloud.state.private_zones.get_mut(zone)
            {
                own["state"] = json!("pending_network_add");
            }
            Ok(json_reply(202, &own))
        }
        _ => Err(Refusal::no_route()),
    }
}

/// A zone is seen by its network, or a resolver answers.
pub(super) fn settled(cloud: &mut Cloud, id: &str) {
    if let Some(zone) = cloud.state.private_zones.get_mut(id) {
        zone["state"] = json!("active");
    }
    if let Some(resolver) = cloud.state.custom_resolvers.get_mut(id) {
        let enabled = resolver["enabled"] == json!(true);
        resolver["health"] = json!(if enabled { "HEALTHY" } else { "CRITICAL" });
        for location in resolver["locations"].as_array_mut().into_iter().flatten() {
            location["healthy"] = json!(enabled);
        }
    }
}

fn resolvers(cloud: &mut Cloud, call: &Call, instance: &str, method: &str, rest: &[&str]) -> Answer {
    let missing = |id: &str| Refusal::not_found("custom resolver", id);
    let own = |cloud: &Cloud, id: &str| {
        cloud
            .state
            .custom_resolvers
            .get(id)
            .filter(|own| own["instance_id"] == instance)
            .map(|own| without(own, "instance_id"))
    };
    match (method, rest) {
        ("GET", []) => {
            let shown: Vec<Value> = of_instance(&cloud.state.custom_resolvers, instance)
                .into_iter()
                .map(|own| without(own, "instance_id"))
                .collect();
            Ok(json_reply(200, &json!({ "custom_resolvers": shown })))
        }
        ("POST", []) => {
            let name = call.need("name")?.to_owned();
            let wanted = call.list("locations").to_vec();
            if wanted.is_empty() || wanted.len() > 3 {
                return Err(Refusal::invalid("one to three locations are required"));
            }
            let mut locations = Vec::new();
            for location in &wanted {
                let crn = location["subnet_crn"].as_str().unwrap_or_default().to_owned();
                let subnet = cloud.state.subnets.values().find(|subnet| subnet["crn"] == crn.as_str());
                let subnet = subnet.ok_or_else(|| Refusal::not_found("subnet", &crn))?;
                let block = subnet["ipv4_cidr_block"].as_str().unwrap_or_default();
                let block = block.parse::<ipnet::Ipv4Net>().unwrap_or_default();
                let address = std::net::Ipv4Addr::from(u32::from(block.network()) + 4);
                let enabled = location["enabled"].as_bool().unwrap_or(false);
                locations.push(json!({
                    "id": cloud.id(), "subnet_crn": crn, "enabled": enabled, "healthy": false, "dns_server_ip": address,
                }));
            }
            let (id, time) = (cloud.id(), cloud.time_now());
            let resolver = json!({
                "id": id,
                "instance_id": instance,
                "name": name,
                "description": call.text("description").unwrap_or_default(),
                "enabled": false,
                "health": "CRITICAL",
                "locations": locations,
                "created_on": time,
                "modified_on": time,
            });
            cloud.state.custom_resolvers.insert(id, resolver.clone());
            Ok(json_reply(200, &without(&resolver, "instance_id")))
        }
        ("GET", [id]) => own(cloud, id).map(|own| json_reply(200, &own)).ok_or_else(|| missing(id)),
        ("PATCH", [id]) => {
            own(cloud, id).ok_or_else(|| missing(id))?;
            if let Some(own) = cloud.state.custom_resolvers.get_mut(*id) {
                for field in ["name", "description", "enabled"] {
                    if let Some(value) = call.value(field) {
                        own[field] = value.clone();
                    }
                }
            }
            cloud.later(Kind::Dns, id, Event::Done);
            own(cloud, id).map(|own| json_reply(200, &own)).ok_or_else(|| missing(id))
        }
        ("DELETE", [id]) => {
            let own = own(cloud, id).ok_or_else(|| missing(id))?;
            if own["enabled"] == json!(true) {
                return Err(Refusal::conflict("the custom resolver is enabled, and must be disabled before"));
            }
            cloud.state.custom_resolvers.shift_remove(*id);
            Ok(empty(204))
        }
        _ => Err(Refusal::no_route()),
    }
}
