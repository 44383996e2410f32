//! keepalived, for a pair of load balancers.

use std::net::IpAddr;

use askama::Template;
use landfall_assets::Cluster;

use crate::{Balancer, Inventory, template};

/// The first of the pair holds the addresses if both are well.
const PRIORITIES: [u8; 2] = [150, 100];

/// The configuration of one of the pair. All addresses move together: one host balances, the other waits.
pub(super) fn configuration(cluster: &Cluster<'_>, inventory: &Inventory, balancer: &Balancer) -> String {
    let place = inventory.load_balancers.iter().position(|other| other.name == balancer.name).unwrap_or_default();
    let mut vips: Vec<IpAddr> =
        cluster.config.api_vips().iter().chain(cluster.config.ingress_vips()).copied().collect();
    vips.sort_unstable();
    vips.dedup();
    let instances = [true, false].into_iter().filter_map(|v4| {
        let like = |address: &&IpAddr| address.is_ipv4() == v4;
        let own = balancer.addresses.iter().find(like)?;
        let vips: Vec<String> =
            vips.iter().filter(like).map(|vip| format!("{vip}/{}", if v4 { 32 } else { 128 })).collect();
        let others = inventory.load_balancers.iter().filter(|other| other.name != balancer.name);
        let peers: Vec<IpAddr> = others.filter_map(|other| other.addresses.iter().find(like)).copied().collect();
        (!vips.is_empty()).then_some(Instance {
            name: if v4 { "v4" } else { "v6" },
            router_id: router_id(inventory, v4),
            own: *own,
            peers,
            vips,
        })
    });
    template::text(&Configuration {
        name: &balancer.name,
        interface: &balancer.interface,
        priority: PRIORITIES[place.min(1)],
        instances: instances.collect(),
    })
}

/// A VRRP router id made from the infra id, which is random: two clusters on a segment rarely share one, and only peers are
/// listened to.
fn router_id(inventory: &Inventory, v4: bool) -> u8 {
    let sum = inventory.infra_id.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    u8::try_from((sum + u32::from(!v4)) % 255 + 1).unwrap_or(1)
}

#[derive(Template)]
#[template(path = "keepalived.conf", escape = "none")]
struct Configuration<'a> {
    name: &'a str,
    interface: &'a str,
    priority: u8,
    instances: Vec<Instance>,
}

struct Instance {
    name: &'static str,
    router_id: u8,
    own: IpAddr,
    peers: Vec<IpAddr>,
    vips: Vec<String>,
}
