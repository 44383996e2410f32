//! Ways out of VPCs: public gateways, and the addresses that they have.

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::{find, group, href, listed, named, new_id, new_name, reference, rename};
use crate::powervs::agenda::Event;
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::knobs::Kind;
use crate::powervs::places;
use crate::powervs::reply::{Answer, Refusal, empty, json_reply};

pub(super) fn public_gateways(cloud: &mut Cloud, call: &Call, method: &str, rest: &[&str]) -> Answer {
    match (method, rest) {
        ("GET", []) => listed(cloud, call, "public_gateways", "public_gateways", &cloud.state.public_gateways),
        ("POST", []) => create_gateway(cloud, call),
        ("GET", [id]) => Ok(json_reply(200, find(&cloud.state.public_gateways, "public gateway", id)?)),
        ("PATCH", [id]) => {
            find(&cloud.state.public_gateways, "public gateway", id)?;
            rename(&mut cloud.state.public_gateways, id, call);
            Ok(json_reply(200, find(&cloud.state.public_gateways, "public gateway", id)?))
        }
        ("DELETE", [id]) => {
            find(&cloud.state.public_gateways, "public gateway", id)?;
            if let Some(subnet) = cloud.state.subnets.values().find(|subnet| subnet["public_gateway"]["id"] == *id) {
                let message = format!("The public gateway is in use by subnet {}", subnet["id"]).replace('"', "");
                return Err(Refusal::new(409, "public_gateway_in_use", message));
            }
            if let Some(gateway) = cloud.state.public_gateways.get_mut(*id) {
                gateway["status"] = json!("deleting");
            }
            cloud.later(Kind::PublicGateway, id, Event::Gone);
            Ok(empty(204))
        }
        _ => Err(Refusal::no_route()),
    }
}

fn create_gateway(cloud: &mut Cloud, call: &Call) -> Answer {
    let vpc = named(call, "vpc").ok_or_else(|| Refusal::missing("vpc"))?.to_owned();
    let vpc = find(&cloud.state.vpcs, "VPC", &vpc)?.clone();
    let (region, zone) = zone_of(cloud, call)?;
    let same = |gateway: &&Value| gateway["vpc"]["id"] == vpc["id"] && gateway["zone"]["name"] == zone["name"];
    if cloud.state.public_gateways.values().any(|gateway| same(&gateway)) {
        let message = "The VPC has a public gateway in this zone already";
        return Err(Refusal::new(400, "validation_unique_failed", message));
    }
    let name = new_name(cloud, call, |cloud, name| {
        cloud.state.public_gateways.values().any(|gateway| gateway["name"] == name)
    })?;
    let group_shown = group(cloud, call)?;
    let id = new_id(cloud, region, false);
    let own_href = href(cloud, &format!("public_gateways/{id}"));
    let crn = cloud.crn("is", region, "", "public-gateway", &id);
    let target = json!({ "id": id, "crn": crn, "href": own_href, "name": name, "resource_type": "public_gateway" });
    let address = match named(call, "floating_ip") {
        Some(address) => find(&cloud.state.floating_ips, "floating IP", address)?.clone(),
        None => add_address(cloud, region, &zone, &format!("{name}-ip"), &group_shown, Some(&target)),
    };
    let document = json!({
        "id": id,
        "crn": crn,
        "href": own_href,
        "name": name,
        "resource_type": "public_gateway",
        "status": "pending",
        "floating_ip": {
            "id": address["id"], "crn": address["crn"], "href": address["href"], "name": address["name"], "address": address["address"],
        },
        "resource_group": group_shown,
        "vpc": reference(&vpc),
        "zone": zone,
        "created_at": cloud.time_now(),
    });
    cloud.state.public_gateways.insert(id.clone(), document.clone());
    cloud.later(Kind::PublicGateway, &id, Event::Done);
    Ok(json_reply(201, &document))
}

pub(super) fn floating_ips(cloud: &mut Cloud, call: &Call, method: &str, rest: &[&str]) -> Answer {
    match (method, rest) {
        ("GET", []) => listed(cloud, call, "floating_ips", "floating_ips", &cloud.state.floating_ips),
        ("POST", []) => {
            let (region, zone) = zone_of(cloud, call)?;
            let name = new_name(cloud, call, |cloud, name| {
                cloud.state.floating_ips.values().any(|address| address["name"] == name)
            })?;
            let group = group(cloud, call)?;
            Ok(json_reply(201, &add_address(cloud, region, &zone, &name, &group, None)))
        }
        ("GET", [id]) => Ok(json_reply(200, find(&cloud.state.floating_ips, "floating IP", id)?)),
        ("PATCH", [id]) => {
            find(&cloud.state.floating_ips, "floating IP", id)?;
            rename(&mut cloud.state.floating_ips, id, call);
            Ok(json_reply(200, find(&cloud.state.floating_ips, "floating IP", id)?))
        }
        ("DELETE", [id]) => {
            if find(&cloud.state.floating_ips, "floating IP", id)?.get("target").is_some() {
                return Err(Refusal::new(409, "floating_ip_in_use", format!("the floating IP {id} is in use")));
            }
            cloud.state.floating_ips.shift_remove(*id);
            Ok(empty(204))
        }
        _ => Err(Refusal::no_route()),
    }
}

fn add_address(
    cloud: &mut Cloud,
    region: &str,
    zone: &Value,
    name: &str,
    group: &Value,
    target: Option<&Value>,
) -> Value {
    let id = new_id(cloud, region, false);
    let number = u32::try_from(cloud.state.ids).unwrap_or_default();
    let address = Ipv4Addr::from(0xA92E_0000 + number % 0xFFFF);
    let mut document = json!({
        "id": id,
        "crn": cloud.crn("is", zone["name"].as_str().unwrap_or_default(), "", "floating-ip", &id),
        "href": href(cloud, &format!("floating_ips/{id}")),
        "name": name,
        "address": address,
        "status": "available",
        "resource_group": group,
        "zone": zone,
        "created_at": cloud.time_now(),
    });
    if let Some(target) = target {
        document["target"] = target.clone();
    }
    cloud.state.floating_ips.insert(id, document.clone());
    document
}

fn zone_of(cloud: &Cloud, call: &Call) -> Result<(&'static str, Value), Refusal> {
    let zone = call.value("zone").and_then(|zone| zone["name"].as_str()).ok_or_else(|| Refusal::missing("zone"))?;
    let region = places::vpc_region_of(zone)
        .ok_or_else(|| Refusal::new(400, "bad_field", format!("zone not found: {zone} does not exist")))?;
    Ok((region, json!({ "name": zone, "href": href(cloud, &format!("regions/{region}/zones/{zone}")) })))
}
