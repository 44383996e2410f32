//! New load balancers, and the addresses that they get.

use std::net::Ipv4Addr;

use indexmap::IndexMap;
use ipnet::Ipv4Net;
use serde_json::Value;

use super::{LoadBalancer, Provisioning, listeners::read_listener, pools::read_pool};
use crate::powervs::agenda::Event;
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::knobs::{Kind, Limited};
use crate::powervs::reply::{Answer, Refusal, json_reply};
use crate::powervs::vpc::{REGION, find, group, new_id, new_name, show};

/// The first address in the network of guests that a load balancer may have.
const FIRST: u32 = 16;

/// And the first that it may not have.
const END: u32 = 256;

pub(super) fn create(cloud: &mut Cloud, call: &Call) -> Answer {
    let is_public = call.value("is_public").and_then(Value::as_bool).ok_or_else(|| Refusal::missing("is_public"))?;
    let mut subnets = Vec::new();
    for subnet in call.list("subnets") {
        let id = subnet["id"].as_str().ok_or_else(|| Refusal::missing("subnets.id"))?;
        let found = find(&cloud.state.subnets, "subnet", id)?;
        if found["status"] != "available" {
            return Err(Refusal::new(409, "subnet_not_available", format!("the subnet {id} is not available")));
        }
        subnets.push(found.clone());
    }
    let first = subnets.first().ok_or_else(|| Refusal::missing("subnets"))?.clone();
    let vpc = first["vpc"]["id"].as_str().unwrap_or_default().to_owned();
    if subnets.iter().any(|subnet| subnet["vpc"]["id"] != vpc.as_str()) {
        return Err(Refusal::new(400, "bad_field", "the subnets of a load balancer must be of one VPC"));
    }
    let most = cloud.options.quota(Limited::LoadBalancers);
    if cloud.state.load_balancers.len() >= most {
        let message = format!("The quota of {most} load balancers is reached");
        return Err(Refusal::new(400, "load_balancer_over_quota", message));
    }
    let name = new_name(cloud, call, |cloud, name| cloud.state.load_balancers.values().any(|own| own.name == name))?;
    let zone = first["zone"]["name"].as_str().unwrap_or_default();
    let region = crate::powervs::places::vpc_region_of(zone).unwrap_or(REGION);
    let mut groups: Vec<String> =
        call.list("security_groups").iter().filter_map(|own| Some(own["id"].as_str()?.to_owned())).collect();
    for own in &groups {
        find(&cloud.state.security_groups, "security group", own)?;
    }
    if groups.is_empty() {
        let default = find(&cloud.state.vpcs, "VPC", &vpc)?["default_security_group"]["id"].as_str().map(str::to_owned);
        groups.extend(default);
    }
    let group_shown = group(cloud, call)?;
    let id = new_id(cloud, region, false);
    let hostname = format!("{}-{region}.lb.appdomain.cloud", cloud.hex(8));
    let (public, private) = addresses(cloud, &subnets, is_public)?;
    let now = cloud.state.now;
    let mut pools = IndexMap::new();
    for wanted in call.list("pools") {
        let pool = read_pool(cloud, wanted)?;
        pools.insert(pool.id.clone(), pool);
    }
    let mut listeners = IndexMap::new();
    for wanted in call.list("listeners") {
        let listener = read_listener(cloud, wanted, &listeners, &pools)?;
        listeners.insert(listener.id.clone(), listener);
    }
    let own = LoadBalancer {
        crn: cloud.crn("is", region, "", "load-balancer", &id),
        id: id.clone(),
        name,
        region: region.to_owned(),
        vpc,
        subnets: subnets.iter().filter_map(|subnet| Some(subnet["id"].as_str()?.to_owned())).collect(),
        group: group_shown,
        is_public,
        hostname,
        public_addresses: public,
        private_addresses: private,
        status: Provisioning::CreatePending,
        security_groups: groups,
        listeners,
        pools,
        created: now,
    };
    let shown = show::balancer(cloud, &own);
    cloud.state.load_balancers.insert(id.clone(), own);
    cloud.later(Kind::LoadBalancer, &id, Event::Done);
    Ok(json_reply(201, &shown))
}

/// Its public and private addresses. Where guests live on loopback addresses, load balancers do too.
fn addresses(cloud: &Cloud, subnets: &[Value], is_public: bool) -> Result<(Vec<Ipv4Addr>, Vec<Ipv4Addr>), Refusal> {
    let taken: Vec<Ipv4Addr> = cloud
        .state
        .load_balancers
        .values()
        .flat_map(|own| own.public_addresses.iter().chain(&own.private_addresses))
        .copied()
        .collect();
    let full = || Refusal::new(400, "load_balancer_over_quota", "there is no address left");
    if cloud.state.light {
        let first = u32::from(cloud.state.network.network());
        let mut all = (FIRST..END).map(|number| Ipv4Addr::from(first + number));
        let private = free(&taken, all.by_ref()).ok_or_else(full)?;
        let public = if is_public { vec![free(&taken, all.by_ref()).ok_or_else(full)?] } else { Vec::new() };
        return Ok((public, vec![private]));
    }
    let mut private = Vec::new();
    for subnet in subnets.iter().take(2) {
        let block = subnet["ipv4_cidr_block"].as_str().unwrap_or_default().parse::<Ipv4Net>().unwrap_or_default();
        private.push(free(&taken, block.hosts().skip(4)).ok_or_else(full)?);
    }
    let mut everywhere = (0xA930_0010_u32..0xA930_FFFF).map(Ipv4Addr::from);
    let public = if is_public { vec![free(&taken, everywhere.by_ref()).ok_or_else(full)?] } else { Vec::new() };
    Ok((public, private))
}

fn free(taken: &[Ipv4Addr], mut candidates: impl Iterator<Item = Ipv4Addr>) -> Option<Ipv4Addr> {
    candidates.find(|address| !taken.contains(address))
}
