//! keepalived's configuration.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use askama::Template;

use super::{LocalNode, Member};
use crate::{MachineRole, NodeFacts, VipFacts, node::paths, template};

/// The bootstrap machine holds the API's addresses for as long as its keepalived runs: no master gets above it.
const BOOTSTRAP_PRIORITY: u8 = 250;
/// What the first member starts with. The others start lower, each by a step, so that no two are equal.
const FIRST_PRIORITY: u8 = 100;
/// The step between members, if there are few. When the holder is gone the next one waits shorter than the others, in
/// proportion to the priorities: 30 of 256 of an interval of 0.3 s are 35 ms, in which the others hear of it. Members that
/// are closer take the address together, and clients may follow the loser until they are told again a second later.
const STEP: u8 = 30;
/// What is left for the last member.
const LAST_PRIORITY: u8 = 10;
/// What a member gains by being useful: the last useful one is above the first that is not.
const USEFUL_WEIGHT: u8 = 120;

/// keepalived's configuration for a machine among members.
///
/// Without a local machine that is among them there are no instances: a machine that its peers do not know would hold an
/// address beside them. Masters (and the bootstrap machine) take part for the API's addresses, masters and workers for
/// those of the ingress.
pub fn keepalived_config(facts: &NodeFacts, vips: &VipFacts, local: Option<&LocalNode>, members: &[Member]) -> String {
    let mut instances = Vec::new();
    if let Some(local) = local {
        for (service, addresses) in [(Service::Api, &vips.api), (Service::Ingress, &vips.ingress)] {
            let takes_part: Vec<&Member> = members.iter().filter(|member| service.takes(member.role)).collect();
            instances.extend(
                addresses.iter().filter_map(|&vip| Instance::new(service, vips, vip, local, takes_part.as_slice())),
            );
        }
    }
    template::text(&Configuration {
        name: local.map_or(facts.cluster.infra_id.as_str(), |local| &local.name),
        vips,
        scripts: paths::SCRIPTS,
        useful_weight: USEFUL_WEIGHT,
        instances,
    })
}

#[derive(Template)]
#[template(path = "keepalived.conf", escape = "none")]
struct Configuration<'a> {
    name: &'a str,
    vips: &'a VipFacts,
    scripts: &'static str,
    useful_weight: u8,
    instances: Vec<Instance>,
}

impl Configuration<'_> {
    /// Whether an instance uses a check.
    fn checks(&self, name: &str) -> bool {
        self.instances.iter().any(|instance| instance.checks.contains(&name))
    }
}

/// What an address is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Service {
    Api,
    Ingress,
}

/// One virtual address.
struct Instance {
    name: String,
    router_id: u8,
    priority: u8,
    interface: String,
    own: IpAddr,
    peers: Vec<IpAddr>,
    vip: String,
    checks: &'static [&'static str],
}

impl Service {
    fn takes(self, role: MachineRole) -> bool {
        match self {
            Self::Api => role != MachineRole::Worker,
            Self::Ingress => role != MachineRole::Bootstrap,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Ingress => "ingress",
        }
    }
}

impl Instance {
    fn new(service: Service, vips: &VipFacts, vip: IpAddr, local: &LocalNode, members: &[&Member]) -> Option<Self> {
        let mut members: Vec<&&Member> = members.iter().filter(|member| member.address_like(vip).is_some()).collect();
        members.sort();
        let place = members.iter().position(|member| member.name == local.name)?;
        let own = members[place].address_like(vip)?;
        let bootstrap = members[place].role == MachineRole::Bootstrap;
        let prefix = if vip.is_ipv4() { 32 } else { 128 };
        Some(Self {
            name: format!("{}_{}", service.name(), if vip.is_ipv4() { "v4" } else { "v6" }),
            router_id: match service {
                Service::Api => vips.api_router_id,
                Service::Ingress => vips.ingress_router_id,
            },
            priority: if bootstrap { BOOTSTRAP_PRIORITY } else { priority(place, members.len()) },
            interface: local.interface.clone(),
            own,
            peers: peers(vip, local, &members),
            vip: format!("{vip}/{prefix}"),
            checks: match service {
                // It has no balancer, and its own API server is not up yet when kubeadm first needs the address.
                Service::Api if bootstrap => &[],
                Service::Api => &["check_balancer", "check_backends"],
                Service::Ingress => &["check_ingress"],
            },
        })
    }
}

/// What the member at a place among so many starts with. Where there are more members than priorities, the last are equal,
/// which is slower but not wrong.
fn priority(place: usize, count: usize) -> u8 {
    let room = usize::from(FIRST_PRIORITY - LAST_PRIORITY);
    let step = (room / count.saturating_sub(1).max(1)).clamp(1, STEP.into());
    let below = u8::try_from((place * step).min(room)).expect("the room fits");
    FIRST_PRIORITY - below
}

/// The addresses of the others. A machine that is alone talks to itself: without any peer keepalived would fall back to
/// multicast and listen to everybody on the segment who has the same router id.
fn peers(vip: IpAddr, local: &LocalNode, members: &[&&Member]) -> Vec<IpAddr> {
    let others = members.iter().filter(|member| member.name != local.name);
    let mut peers: Vec<IpAddr> = others.filter_map(|member| member.address_like(vip)).collect();
    if peers.is_empty() {
        peers.push(if vip.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
    }
    peers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_far_apart_if_they_are_few_and_never_below_the_last() {
        assert_eq!([0, 1, 2].map(|place| priority(place, 3)), [100, 70, 40]);
        assert_eq!([0, 1, 2, 3, 4].map(|place| priority(place, 5)), [100, 78, 56, 34, 12]);
        assert_eq!(priority(0, 1), 100);
        assert_eq!((priority(0, 500), priority(499, 500)), (100, LAST_PRIORITY));
    }

    #[test]
    fn usefulness_outweighs_the_place_and_the_bootstrap_machine_everything() {
        let (last_useful, first_useful) = (LAST_PRIORITY + USEFUL_WEIGHT, FIRST_PRIORITY + USEFUL_WEIGHT);
        assert!(last_useful > FIRST_PRIORITY && BOOTSTRAP_PRIORITY > first_useful);
    }
}
