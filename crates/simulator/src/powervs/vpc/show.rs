//! Load balancers as they are shown.

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::balancers::{Listener, LoadBalancer, Member, Pool, Provisioning};
use super::{href, reference};
use crate::powervs::balancing;
use crate::powervs::cloud::Cloud;

pub(super) fn balancer(cloud: &Cloud, own: &LoadBalancer) -> Value {
    let listeners = own
        .listeners
        .keys()
        .map(|id| json!({ "id": id, "href": href(cloud, &format!("load_balancers/{}/listeners/{id}", own.id)) }));
    let pools = own.pools.values().map(|pool| {
        let href = href(cloud, &format!("load_balancers/{}/pools/{}", own.id, pool.id));
        json!({ "id": pool.id, "href": href, "name": pool.name })
    });
    let subnets = own.subnets.iter().filter_map(|id| cloud.state.subnets.get(id)).map(reference);
    let groups = own.security_groups.iter().filter_map(|id| cloud.state.security_groups.get(id)).map(reference);
    let addresses = |all: &[Ipv4Addr]| all.iter().map(|own| json!({ "address": own })).collect::<Vec<Value>>();
    let online = own.status.is_in_effect();
    json!({
        "id": own.id,
        "crn": own.crn,
        "href": href(cloud, &format!("load_balancers/{}", own.id)),
        "name": own.name,
        "resource_type": "load_balancer",
        "access_mode": if own.is_public { "public" } else { "private" },
        "advanced_health_checks_supported": false,
        "asymmetric_routing_supported": false,
        "attached_load_balancer_pool_members": [],
        "availability": "region",
        "created_at": cloud.time(own.created),
        "failsafe_policy_actions": ["fail"],
        "fqdn_pool_members_supported": false,
        "hostname": own.hostname,
        "instance_groups_supported": true,
        "is_private_path": false,
        "is_public": own.is_public,
        "listeners": listeners.collect::<Vec<_>>(),
        "logging": { "datapath": { "active": false } },
        "mtls_supported": false,
        "operating_status": if online { "online" } else { "offline" },
        "pools": pools.collect::<Vec<_>>(),
        "private_ips": own.private_addresses.iter().map(|address| json!({
            "address": address,
            "href": href(cloud, &format!("subnets/{}/reserved_ips/{}", own.subnets.first().map_or("", String::as_str), own.id)),
            "id": format!("0717-{}", Cloud::fixed_hex(&address.to_string(), 32)),
            "name": "address",
            "resource_type": "subnet_reserved_ip",
        })).collect::<Vec<_>>(),
        "profile": { "family": "application", "href": href(cloud, "load_balancer/profiles/dynamic"), "name": "dynamic" },
        "provisioning_status": own.status.word(),
        "public_ips": addresses(&own.public_addresses),
        "resource_group": own.group,
        "route_mode": false,
        "security_groups": groups.collect::<Vec<_>>(),
        "security_groups_supported": true,
        "source_ip_session_persistence_supported": true,
        "subnets": subnets.collect::<Vec<_>>(),
        "udp_supported": false,
    })
}

pub(super) fn listener(cloud: &Cloud, own: &LoadBalancer, listener: &Listener) -> Value {
    let mut shown = json!({
        "id": listener.id,
        "href": href(cloud, &format!("load_balancers/{}/listeners/{}", own.id, listener.id)),
        "accept_proxy_protocol": false,
        "created_at": cloud.time(listener.created),
        "port": listener.port,
        "port_min": listener.port,
        "port_max": listener.port,
        "protocol": listener.protocol,
        "provisioning_status": listener.status.word(),
    });
    if !listener.connection_limit.is_null() {
        shown["connection_limit"] = listener.connection_limit.clone();
    }
    if let Some(pool) = listener.pool.as_ref().and_then(|id| own.pools.get(id)) {
        let href = href(cloud, &format!("load_balancers/{}/pools/{}", own.id, pool.id));
        shown["default_pool"] = json!({ "id": pool.id, "href": href, "name": pool.name });
    }
    shown
}

pub(super) fn pool(cloud: &Cloud, own: &LoadBalancer, pool: &Pool) -> Value {
    let base = format!("load_balancers/{}/pools/{}", own.id, pool.id);
    let members =
        pool.members.keys().map(|id| json!({ "id": id, "href": href(cloud, &format!("{base}/members/{id}")) }));
    let mut shown = json!({
        "id": pool.id,
        "href": href(cloud, &base),
        "name": pool.name,
        "algorithm": pool.algorithm,
        "created_at": cloud.time(pool.created),
        "failsafe_policy": { "action": "fail", "healthy_member_threshold_count": 0 },
        "health_monitor": pool.monitor,
        "members": members.collect::<Vec<_>>(),
        "protocol": pool.protocol,
        "provisioning_status": pool.status.word(),
        "proxy_protocol": "disabled",
    });
    if !pool.persistence.is_null() {
        shown["session_persistence"] = pool.persistence.clone();
    }
    shown
}

pub(super) fn member(cloud: &Cloud, own: &LoadBalancer, pool: &Pool, member: &Member) -> Value {
    let base = format!("load_balancers/{}/pools/{}/members/{}", own.id, pool.id, member.id);
    let health = if member.status == Provisioning::CreatePending {
        "unknown"
    } else {
        balancing::health(cloud, own, pool, member)
    };
    json!({
        "id": member.id,
        "href": href(cloud, &base),
        "created_at": cloud.time(member.created),
        "health": health,
        "port": member.port,
        "provisioning_status": member.status.word(),
        "target": { "address": member.address },
        "weight": member.weight,
    })
}
