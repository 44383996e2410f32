//! What load balancers do with connections, and whom they think healthy.
//!
//! A member is reachable if its port is one, a running virtual server has its address, one transit gateway joins the load
//! balancer's VPC with that server's workspace, and a security group lets the port of a listener in.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use super::cloud::Cloud;
use super::power::{Instance, Workspace};
use super::transit;
use super::vpc::{LoadBalancer, Member, admits};

/// Where to listen, and where what comes there may go.
pub(super) type Frontends = BTreeMap<SocketAddr, Vec<SocketAddr>>;

/// The virtual server with an address, and its workspace.
fn holder<'a>(cloud: &'a Cloud, address: &str) -> Option<(&'a Workspace, &'a Instance)> {
    let address = address.parse().ok()?;
    cloud.state.workspaces.values().find_map(|own| {
        let interface = own.interfaces.values().find(|interface| interface.address == Some(address))?;
        Some((own, own.instances.get(interface.instance.as_ref()?)?))
    })
}

/// The virtual server that a member stands for, if connections get there.
fn reached<'a>(cloud: &'a Cloud, balancer: &LoadBalancer, member: &Member) -> Option<&'a Instance> {
    let (own, instance) = holder(cloud, &member.address).filter(|_| member.port > 0)?;
    let vpc = cloud.state.vpcs.get(&balancer.vpc)?["crn"].as_str()?;
    let workspace = cloud.crn("power-iaas", &own.zone, &own.guid, "", "");
    (instance.guest_started && transit::joined(cloud, vpc, &workspace)).then_some(instance)
}

/// What a load balancer says of a member.
pub(super) fn health(cloud: &Cloud, balancer: &LoadBalancer, pool: &super::vpc::Pool, member: &Member) -> &'static str {
    let mut ports = balancer.listeners.values().filter(|listener| listener.pool.as_deref() == Some(pool.id.as_str()));
    let let_in = ports.any(|listener| admits(cloud, &balancer.security_groups, listener.port));
    let Some(instance) = reached(cloud, balancer, member).filter(|_| let_in) else { return "faulted" };
    let answers = if cloud.state.light {
        cloud.state.answering.get(&format!("{}:{}", member.address, member.port)).copied()
    } else {
        Some(instance.guest_up)
    };
    match answers {
        Some(true) => "ok",
        Some(false) => "faulted",
        None => "unknown",
    }
}

/// What all load balancers listen on.
pub(super) fn frontends(cloud: &Cloud) -> Frontends {
    let mut frontends = Frontends::new();
    for balancer in cloud.state.load_balancers.values().filter(|own| own.status.is_in_effect()) {
        for listener in balancer.listeners.values().filter(|listener| listener.status.is_in_effect()) {
            if !admits(cloud, &balancer.security_groups, listener.port) {
                continue;
            }
            let pool = listener.pool.as_ref().and_then(|id| balancer.pools.get(id));
            let members = pool.into_iter().flat_map(|pool| pool.members.values());
            let backends: Vec<SocketAddr> = members
                .filter(|member| member.status.is_in_effect() && reached(cloud, balancer, member).is_some())
                .filter_map(|member| Some(SocketAddr::new(member.address.parse().ok()?, member.port)))
                .collect();
            for address in balancer.public_addresses.iter().chain(&balancer.private_addresses) {
                frontends.insert(SocketAddr::new(IpAddr::V4(*address), listener.port), backends.clone());
            }
        }
    }
    frontends
}
