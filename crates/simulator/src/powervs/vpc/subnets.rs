//! Subnets of VPCs.

use ipnet::Ipv4Net;
use serde_json::{Value, json};

use super::{find, group, href, listed, named, new_id, new_name, page, reference, rename};
use crate::powervs::agenda::Event;
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::knobs::Kind;
use crate::powervs::places;
use crate::powervs::reply::{Answer, Refusal, empty, json_reply};

pub(super) fn subnets(cloud: &mut Cloud, call: &Call, method: &str, rest: &[&str]) -> Answer {
    match (method, rest) {
        ("GET", []) => listed(cloud, call, "subnets", "subnets", &cloud.state.subnets),
        ("POST", []) => create_subnet(cloud, call),
        ("GET", [id]) => Ok(json_reply(200, find(&cloud.state.subnets, "subnet", id)?)),
        ("PATCH", [id]) => {
            find(&cloud.state.subnets, "subnet", id)?;
            rename(&mut cloud.state.subnets, id, call);
            Ok(json_reply(200, find(&cloud.state.subnets, "subnet", id)?))
        }
        ("DELETE", [id]) => delete_subnet(cloud, id),
        ("GET", [id, "reserved_ips"]) => {
            find(&cloud.state.subnets, "subnet", id)?;
            page(cloud, call, &format!("subnets/{id}/reserved_ips"), "reserved_ips", &[])
        }
        ("GET", [id, "public_gateway"]) => {
            let subnet = find(&cloud.state.subnets, "subnet", id)?;
            let gateway = subnet["public_gateway"]["id"].as_str();
            let gateway =
                gateway.ok_or_else(|| Refusal::new(404, "not_found", "not found: the subnet has no public gateway"))?;
            Ok(json_reply(200, find(&cloud.state.public_gateways, "public gateway", gateway)?))
        }
        ("PUT", [id, "public_gateway"]) => {
            let subnet = find(&cloud.state.subnets, "subnet", id)?;
            let gateway = call.need("id").or_else(|_| call.need("crn"))?.rsplit(':').next().unwrap_or_default();
            let gateway = find(&cloud.state.public_gateways, "public gateway", gateway)?.clone();
            if gateway["zone"]["name"] != subnet["zone"]["name"] {
                return Err(Refusal::new(400, "bad_field", "the public gateway is in another zone"));
            }
            if let Some(subnet) = cloud.state.subnets.get_mut(*id) {
                subnet["public_gateway"] = reference(&gateway);
            }
            Ok(json_reply(201, &gateway))
        }
        ("DELETE", [id, "public_gateway"]) => {
            find(&cloud.state.subnets, "subnet", id)?;
            if let Some(Value::Object(subnet)) = cloud.state.subnets.get_mut(*id) {
                subnet.shift_remove("public_gateway");
            }
            Ok(empty(204))
        }
        _ => Err(Refusal::no_route()),
    }
}

fn create_subnet(cloud: &mut Cloud, call: &Call) -> Answer {
    let vpc = named(call, "vpc").ok_or_else(|| Refusal::missing("vpc"))?.to_owned();
    let vpc = find(&cloud.state.vpcs, "VPC", &vpc)?.clone();
    let vpc_id = vpc["id"].as_str().unwrap_or_default().to_owned();
    let asked = call.text("ipv4_cidr_block").map(str::parse::<Ipv4Net>).transpose();
    let asked = asked.map_err(|_| Refusal::invalid("ipv4_cidr_block is no IPv4 network"))?;
    let zone = call.value("zone").and_then(|zone| zone["name"].as_str()).map(str::to_owned);
    let prefixes: Vec<(String, String, Ipv4Net)> = cloud
        .state
        .address_prefixes
        .iter()
        .filter(|(_, prefix)| prefix["vpc"] == vpc_id.as_str())
        .filter_map(|(id, prefix)| {
            Some((id.clone(), prefix["zone"]["name"].as_str()?.to_owned(), prefix["cidr"].as_str()?.parse().ok()?))
        })
        .collect();
    let zone = match (zone, asked) {
        (Some(zone), _) => zone,
        (None, Some(block)) => {
            let found = prefixes.iter().find(|(_, _, prefix)| prefix.contains(&block));
            found.map(|(_, zone, _)| zone.clone()).ok_or_else(|| Refusal::missing("zone"))?
        }
        (None, None) => return Err(Refusal::missing("zone")),
    };
    let region = places::vpc_region_of(&zone)
        .ok_or_else(|| Refusal::new(400, "bad_field", format!("zone not found: {zone} does not exist")))?;
    let taken: Vec<Ipv4Net> = cloud
        .state
        .subnets
        .values()
        .filter(|subnet| subnet["vpc"]["id"] == vpc_id.as_str())
        .filter_map(|subnet| subnet["ipv4_cidr_block"].as_str()?.parse().ok())
        .collect();
    let overlaps = |block: &Ipv4Net| taken.iter().any(|other| other.contains(block) || block.contains(other));
    // The zones of a VPC made at the address without a region may be any region's.
    let number = zone.rsplit('-').next().unwrap_or("1");
    let in_zone = |own: &str| own == zone || (call.region().is_none() && own.rsplit('-').next() == Some(number));
    let (prefix, block) = if let Some(block) = asked {
        let found = prefixes.iter().find(|(_, own, prefix)| in_zone(own) && prefix.contains(&block));
        let found = found.ok_or_else(|| Refusal::invalid(format!("{block} is in no address prefix of {zone}")))?;
        if overlaps(&block) {
            return Err(Refusal::new(400, "overlapping_cidr", format!("{block} overlaps another subnet")));
        }
        (found.0.clone(), block)
    } else {
        let count = call.value("total_ipv4_address_count").and_then(Value::as_u64).unwrap_or(256);
        if !count.is_power_of_two() || !(8..=8_388_608).contains(&count) {
            return Err(Refusal::invalid("total_ipv4_address_count must be a power of two from 8 to 8388608"));
        }
        let bits = u8::try_from(32 - count.trailing_zeros()).unwrap_or(24);
        let blocks = prefixes.iter().filter(|(_, own, _)| in_zone(own)).flat_map(|(id, _, prefix)| {
            prefix.subnets(bits).into_iter().flatten().map(move |block| (id.clone(), block))
        });
        let mut free = blocks.filter(|(_, block)| !overlaps(block));
        free.next().ok_or_else(|| Refusal::new(400, "over_quota", format!("no room for a subnet in {zone}")))?
    };
    let is_taken = |cloud: &Cloud, name: &str| {
        cloud.state.subnets.values().any(|subnet| subnet["vpc"]["id"] == vpc_id.as_str() && subnet["name"] == name)
    };
    let name = new_name(cloud, call, is_taken)?;
    let id = new_id(cloud, region, true);
    let total = 1_u64 << (32 - block.prefix_len());
    let mut document = json!({
        "id": id,
        "crn": cloud.crn("is", &zone, "", "subnet", &id),
        "href": href(cloud, &format!("subnets/{id}")),
        "name": name,
        "resource_type": "subnet",
        "status": "pending",
        "ip_version": "ipv4",
        "ipv4_cidr_block": block.trunc(),
        "available_ipv4_address_count": total - 5,
        "total_ipv4_address_count": total,
        "network_acl": vpc["default_network_acl"],
        "routing_table": vpc["default_routing_table"],
        "resource_group": group(cloud, call)?,
        "vpc": reference(&vpc),
        "zone": { "name": zone, "href": href(cloud, &format!("regions/{region}/zones/{zone}")) },
        "created_at": cloud.time_now(),
    });
    if let Some(gateway) = named(call, "public_gateway") {
        document["public_gateway"] = reference(find(&cloud.state.public_gateways, "public gateway", gateway)?);
    }
    if let Some(prefix) = cloud.state.address_prefixes.get_mut(&prefix) {
        prefix["has_subnets"] = json!(true);
    }
    cloud.state.subnets.insert(id.clone(), document.clone());
    cloud.later(Kind::Subnet, &id, Event::Done);
    Ok(json_reply(201, &document))
}

fn delete_subnet(cloud: &mut Cloud, id: &str) -> Answer {
    find(&cloud.state.subnets, "subnet", id)?;
    let holder = cloud.state.load_balancers.values().find(|own| own.subnets.iter().any(|subnet| subnet == id));
    if let Some(holder) = holder {
        let message = format!("The subnet is in use by load balancer {}", holder.id);
        return Err(Refusal::new(409, "subnet_in_use", message));
    }
    if let Some(subnet) = cloud.state.subnets.get_mut(id) {
        subnet["status"] = json!("deleting");
    }
    cloud.later(Kind::Subnet, id, Event::Gone);
    Ok(empty(204))
}
