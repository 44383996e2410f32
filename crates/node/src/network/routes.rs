//! Routes to the pods of other nodes.

use std::net::IpAddr;

use ipnet::IpNet;
use serde::Deserialize;

use crate::{Error, kube::ClusterNode, program::Program};

/// The routing protocol number that marks Landfall's routes, so that those of nodes that are gone are found and no other is
/// touched. Not taken in the kernel's and iproute2's lists.
const PROTOCOL: &str = "76";

/// A route to the pods of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodRoute {
    /// The pods.
    pub pods: IpNet,
    /// Their node.
    pub node: IpAddr,
}

/// The routes that a node needs among nodes: to the pods of every other one, by its address of the same family.
pub fn pod_routes(own_name: &str, nodes: &[ClusterNode]) -> Vec<PodRoute> {
    let mut routes: Vec<PodRoute> = nodes
        .iter()
        .filter(|node| node.name != own_name)
        .flat_map(|node| {
            node.pod_networks.iter().filter_map(|&pods| {
                let like = |address: &&IpAddr| address.is_ipv4() == pods.addr().is_ipv4();
                Some(PodRoute { pods, node: *node.addresses.iter().find(like)? })
            })
        })
        .collect();
    routes.sort();
    routes
}

/// Makes the machine's routes to pods be these.
pub(super) async fn ensure(routes: &[PodRoute]) -> Result<(), Error> {
    for family in ["-4", "-6"] {
        let wanted: Vec<&PodRoute> =
            routes.iter().filter(|route| route.pods.addr().is_ipv4() == (family == "-4")).collect();
        let present = present(family).await?;
        for route in wanted.iter().filter(|route| !present.contains(route)) {
            ip(family, "replace", route).await?;
            tracing::info!(pods = %route.pods, node = %route.node, "route added");
        }
        for route in present.iter().filter(|route| wanted.iter().all(|wanted| wanted.pods != route.pods)) {
            ip(family, "delete", route).await?;
            tracing::info!(pods = %route.pods, node = %route.node, "route of a node that is gone removed");
        }
    }
    Ok(())
}

async fn ip(family: &str, verb: &str, route: &PodRoute) -> Result<(), Error> {
    let (pods, node) = (route.pods.to_string(), route.node.to_string());
    Program::new("ip", [family, "route", verb, &pods, "via", &node, "proto", PROTOCOL]).run().await?;
    Ok(())
}

async fn present(family: &str) -> Result<Vec<PodRoute>, Error> {
    #[derive(Deserialize)]
    struct Shown {
        dst: String,
        gateway: Option<IpAddr>,
    }
    let listing = Program::new("ip", [family, "-json", "route", "show", "proto", PROTOCOL]).run().await?;
    // Without routes some versions write nothing at all.
    let listing = if listing.trim().is_empty() { "[]" } else { listing.as_str() };
    let shown: Vec<Shown> = serde_json::from_str(listing)
        .map_err(|error| Error::NotUnderstood { path: "the answer of ip route".into(), reason: error.to_string() })?;
    Ok(shown
        .into_iter()
        .filter_map(|route| {
            // A single address is shown without a prefix.
            let pods = route.dst.parse::<IpNet>().ok().or_else(|| Some(route.dst.parse::<IpAddr>().ok()?.into()))?;
            Some(PodRoute { pods, node: route.gateway? })
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use landfall_assets::MachineRole;

    use super::*;

    fn node(name: &str, address: &str, pods: &[&str]) -> ClusterNode {
        ClusterNode {
            name: name.to_owned(),
            role: MachineRole::Worker,
            addresses: vec![address.parse().unwrap()],
            pod_networks: pods.iter().map(|network| network.parse().unwrap()).collect(),
        }
    }

    #[test]
    fn each_other_node_with_pods_gets_a_route() {
        let nodes = [
            node("a", "198.51.100.11", &["10.128.0.0/23"]),
            node("b", "198.51.100.12", &["10.128.2.0/23", "fd01:0:0:2::/64"]),
            node("new", "198.51.100.13", &[]),
        ];
        let routes = pod_routes("a", &nodes);
        let wanted = PodRoute { pods: "10.128.2.0/23".parse().unwrap(), node: "198.51.100.12".parse().unwrap() };
        assert_eq!(routes, [wanted], "and none over a family in which the node has no address");
    }
}
