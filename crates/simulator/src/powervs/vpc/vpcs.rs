//! VPCs, and their address prefixes.

use ipnet::Ipv4Net;
use serde_json::{Value, json};

use super::{REGION, find, group, href, listed, new_id, new_name, page, reference, rename, security};
use crate::powervs::agenda::Event;
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::knobs::{Kind, Limited};
use crate::powervs::places;
use crate::powervs::reply::{Answer, Refusal, empty, json_reply};

/// The prefixes that a VPC has in its zones unless it brings its own.
const PREFIXES: [&str; 3] = ["10.240.0.0/18", "10.240.64.0/18", "10.240.128.0/18"];

pub(super) fn vpcs(cloud: &mut Cloud, call: &Call, method: &str, rest: &[&str]) -> Answer {
    match (method, rest) {
        ("GET", []) => listed(cloud, call, "vpcs", "vpcs", &cloud.state.vpcs),
        ("POST", []) => create_vpc(cloud, call),
        ("GET", [id]) => Ok(json_reply(200, find(&cloud.state.vpcs, "VPC", id)?)),
        ("PATCH", [id]) => {
            find(&cloud.state.vpcs, "VPC", id)?;
            rename(&mut cloud.state.vpcs, id, call);
            Ok(json_reply(200, find(&cloud.state.vpcs, "VPC", id)?))
        }
        ("DELETE", [id]) => delete_vpc(cloud, id),
        ("GET", [id, "default_security_group"]) => {
            let vpc = find(&cloud.state.vpcs, "VPC", id)?;
            let group = vpc["default_security_group"]["id"].as_str().unwrap_or_default();
            Ok(json_reply(200, find(&cloud.state.security_groups, "security group", group)?))
        }
        (_, [id, "address_prefixes", rest @ ..]) => {
            find(&cloud.state.vpcs, "VPC", id)?;
            prefixes(cloud, call, id, method, rest)
        }
        _ => Err(Refusal::no_route()),
    }
}

fn create_vpc(cloud: &mut Cloud, call: &Call) -> Answer {
    let region = call.region().unwrap_or(REGION);
    let most = cloud.options.quota(Limited::Vpcs);
    let there = cloud.state.vpcs.values().filter(|vpc| vpc["crn"].as_str().is_some_and(|crn| crn.contains(region)));
    if there.count() >= most {
        let message =
            format!("Creating a new VPC will put the user over quota. Allocated: {most}, Requested: 1, Quota: {most}");
        return Err(Refusal::new(400, "over_quota", message));
    }
    let name = new_name(cloud, call, |cloud, name| cloud.state.vpcs.values().any(|vpc| vpc["name"] == name))?;
    let group_shown = group(cloud, call)?;
    let id = new_id(cloud, region, false);
    let (acl, table) = (new_id(cloud, region, false), new_id(cloud, region, false));
    let crn = cloud.crn("is", region, "", "vpc", &id);
    let own_href = href(cloud, &format!("vpcs/{id}"));
    let own = json!({ "id": id, "crn": crn, "href": own_href, "name": name, "resource_type": "vpc" });
    let default = security::create(cloud, region, &format!("{name}-default"), &own, &group_shown, true);
    let document = json!({
        "id": id,
        "crn": crn,
        "href": own_href,
        "name": name,
        "resource_type": "vpc",
        "status": "pending",
        "classic_access": call.value("classic_access").and_then(Value::as_bool).unwrap_or(false),
        "created_at": cloud.time_now(),
        "cse_source_ips": [],
        "default_security_group": reference(&default),
        "default_network_acl": {
            "id": acl,
            "crn": cloud.crn("is", region, "", "network-acl", &acl),
            "href": href(cloud, &format!("network_acls/{acl}")),
            "name": format!("{name}-acl"),
        },
        "default_routing_table": {
            "id": table,
            "crn": cloud.crn("is", region, "", "routing-table", &table),
            "href": href(cloud, &format!("vpcs/{id}/routing_tables/{table}")),
            "name": format!("{name}-table"),
            "resource_type": "routing_table",
        },
        "dns": {
            "enable_hub": false,
            "resolution_binding_count": 0,
            "resolver": {
                "type": "system",
                "configuration": "default",
                "servers": [{ "address": "161.26.0.10" }, { "address": "161.26.0.11" }],
            },
        },
        "health_reasons": [],
        "health_state": "ok",
        "public_address_ranges": [],
        "resource_group": group_shown,
    });
    cloud.state.vpcs.insert(id.clone(), document.clone());
    if call.text("address_prefix_management") != Some("manual") {
        for (number, cidr) in (1..).zip(PREFIXES) {
            add_prefix(cloud, &id, &format!("{region}-{number}"), cidr, None);
        }
    }
    cloud.later(Kind::Vpc, &id, Event::Done);
    Ok(json_reply(201, &document))
}

fn delete_vpc(cloud: &mut Cloud, id: &str) -> Answer {
    find(&cloud.state.vpcs, "VPC", id)?;
    let of_vpc = |document: &&Value| document["vpc"]["id"] == id;
    let state = &cloud.state;
    let holder = [&state.subnets, &state.public_gateways]
        .into_iter()
        .flat_map(indexmap::IndexMap::values)
        .find(of_vpc)
        .map(|holder| format!("{} {}", holder["resource_type"], holder["id"]))
        .or_else(|| {
            let groups = state.security_groups.values().filter(of_vpc);
            let mut own = groups.filter(|group| group["is_default"] != json!(true));
            own.next().map(|group| format!("security_group {}", group["id"]))
        });
    if let Some(holder) = holder {
        let message = format!("The VPC is in use by {}", holder.replace('"', ""));
        return Err(Refusal::new(409, "vpc_in_use", message));
    }
    if let Some(vpc) = cloud.state.vpcs.get_mut(id) {
        vpc["status"] = json!("deleting");
    }
    cloud.later(Kind::Vpc, id, Event::Gone);
    Ok(empty(204))
}

fn prefixes(cloud: &mut Cloud, call: &Call, vpc: &str, method: &str, rest: &[&str]) -> Answer {
    let shown = |prefix: &Value| crate::powervs::reply::without(prefix, "vpc");
    let known = |cloud: &Cloud, id: &str| {
        let found = cloud.state.address_prefixes.get(id).filter(|prefix| prefix["vpc"] == vpc).cloned();
        found.ok_or_else(|| Refusal::new(404, "not_found", format!("address prefix not found: {id}")))
    };
    match (method, rest) {
        ("GET", []) => {
            let own = cloud.state.address_prefixes.values().filter(|prefix| prefix["vpc"] == vpc);
            let items: Vec<Value> = own.map(shown).collect();
            page(cloud, call, &format!("vpcs/{vpc}/address_prefixes"), "address_prefixes", &items)
        }
        ("POST", []) => {
            let zone =
                call.value("zone").and_then(|zone| zone["name"].as_str()).ok_or_else(|| Refusal::missing("zone"))?;
            let cidr = call.need("cidr")?;
            cidr.parse::<Ipv4Net>().map_err(|_| Refusal::invalid(format!("cidr {cidr} is no IPv4 network")))?;
            let made = add_prefix(cloud, vpc, zone, cidr, call.text("name"));
            Ok(json_reply(201, &shown(&made)))
        }
        ("GET", [id]) => Ok(json_reply(200, &shown(&known(cloud, id)?))),
        ("DELETE", [id]) => {
            if known(cloud, id)?["has_subnets"] == json!(true) {
                return Err(Refusal::new(409, "address_prefix_in_use", format!("the address prefix {id} has subnets")));
            }
            cloud.state.address_prefixes.shift_remove(*id);
            Ok(empty(204))
        }
        _ => Err(Refusal::no_route()),
    }
}

fn add_prefix(cloud: &mut Cloud, vpc: &str, zone: &str, cidr: &str, name: Option<&str>) -> Value {
    let region = places::vpc_region_of(zone).unwrap_or(REGION);
    let id = new_id(cloud, region, false);
    let prefix = json!({
        "id": id,
        "vpc": vpc,
        "href": href(cloud, &format!("vpcs/{vpc}/address_prefixes/{id}")),
        "name": name.map_or_else(|| format!("prefix-{}", &id[5..13]), str::to_owned),
        "cidr": cidr,
        "created_at": cloud.time_now(),
        "has_subnets": false,
        "is_default": name.is_none(),
        "zone": { "name": zone, "href": href(cloud, &format!("regions/{region}/zones/{zone}")) },
    });
    cloud.state.address_prefixes.insert(id, prefix.clone());
    prefix
}
