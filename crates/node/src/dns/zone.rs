//! The names of the cluster: a pure function of the facts and of the nodes that are known.

use std::{collections::HashMap, net::IpAddr};

use landfall_assets::NodeFacts;

use crate::kube::ClusterNode;

/// The names of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Zone {
    /// Addresses by name, in lower case and without the last dot.
    addresses: HashMap<String, Vec<IpAddr>>,
    /// What every name below it leads to.
    apps: Option<(String, Vec<IpAddr>)>,
    /// The beginning and the end of names that only a machine of the cluster can have.
    machine: (String, String),
    /// Names by address.
    names: HashMap<IpAddr, String>,
}

/// What the zone says about a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It leads to these addresses, of either family.
    Addresses(Vec<IpAddr>),
    /// It is the reverse name of an address, whose name this is.
    Name(String),
}

impl Zone {
    /// The names of a cluster with these nodes.
    pub fn new(facts: &NodeFacts, nodes: &[ClusterNode]) -> Self {
        let domain = facts.cluster.domain.to_lowercase();
        let machine = (format!("{}-", facts.cluster.infra_id), format!(".{domain}"));
        let mut zone = Self { machine, ..Self::default() };
        for node in nodes.iter().filter(|node| !node.addresses.is_empty()) {
            let short = node.name.to_lowercase();
            // A node that was named with its domain has both names too.
            let full = if short.ends_with(&format!(".{domain}")) { short.clone() } else { format!("{short}.{domain}") };
            for address in &node.addresses {
                zone.names.insert(*address, full.clone());
            }
            zone.addresses.insert(short, node.addresses.clone());
            zone.addresses.insert(full, node.addresses.clone());
        }
        // After the nodes: none of them can take the API's name.
        if let Some(vips) = &facts.vips {
            for name in [&facts.api.name, &facts.api.internal_name] {
                zone.addresses.insert(name.to_lowercase(), vips.api.clone());
            }
            zone.apps = Some((format!(".apps.{domain}"), vips.ingress.clone()));
        }
        zone
    }

    /// What is said about a name, given without its last dot; nothing if the site's servers are to be asked.
    pub fn find(&self, name: &str) -> Option<Found> {
        let name = name.to_lowercase();
        if let Some(addresses) = self.addresses.get(&name) {
            return Some(Found::Addresses(addresses.clone()));
        }
        let (suffix, addresses) = self.apps.as_ref()?;
        name.ends_with(suffix).then(|| Found::Addresses(addresses.clone()))
    }

    /// The node name in a name that only a machine of the cluster can have, whether it is known or not.
    pub fn machine_in<'a>(&self, name: &'a str) -> Option<&'a str> {
        let (beginning, end) = &self.machine;
        let short = name.strip_suffix(end.as_str())?;
        (short.starts_with(beginning) && !short.contains('.')).then_some(short)
    }

    /// The name of an address.
    pub fn find_address(&self, address: IpAddr) -> Option<Found> {
        self.names.get(&address).cloned().map(Found::Name)
    }
}

#[cfg(test)]
mod tests {
    use landfall_assets::MachineRole;

    use super::*;
    use crate::testing;

    fn zone() -> Zone {
        let node = |name: &str, address: &str| ClusterNode {
            name: name.to_owned(),
            role: MachineRole::Worker,
            addresses: vec![address.parse().unwrap()],
            pod_networks: Vec::new(),
        };
        Zone::new(
            &testing::facts("worker"),
            &[node("demo-w0", "198.51.100.31"), node("api.demo.example.com", "198.51.100.66")],
        )
    }

    fn addresses(name: &str) -> Option<Vec<String>> {
        zone().find(name).map(|found| match found {
            Found::Addresses(addresses) => addresses.iter().map(ToString::to_string).collect(),
            Found::Name(name) => vec![name],
        })
    }

    #[test]
    fn the_clusters_names_are_known_in_any_case() {
        assert_eq!(addresses("api.demo.example.com").unwrap(), ["198.51.100.5"], "and no node can take it");
        assert_eq!(addresses("API-int.Demo.example.com").unwrap(), ["198.51.100.5"]);
        assert_eq!(addresses("a.b.apps.demo.example.com").unwrap(), ["198.51.100.6"]);
        assert_eq!(addresses("demo-w0").unwrap(), ["198.51.100.31"]);
        assert_eq!(addresses("demo-w0.demo.example.com").unwrap(), ["198.51.100.31"]);
        assert_eq!(
            zone().find_address("198.51.100.31".parse().unwrap()),
            Some(Found::Name("demo-w0.demo.example.com".into()))
        );
    }

    #[test]
    fn everything_else_is_not_ours() {
        for name in [
            "example.com",
            "demo.example.com",
            "apps.demo.example.com",
            "www.demo.example.com",
            "xapps.demo.example.com",
            "",
        ] {
            assert_eq!(addresses(name), None, "{name}");
        }
        assert_eq!(zone().find_address("198.51.100.99".parse().unwrap()), None);
    }

    #[test]
    fn names_of_machines_are_told_from_others() {
        let zone = zone();
        assert_eq!(zone.machine_in("demo-x7k2p-master-7.demo.example.com"), Some("demo-x7k2p-master-7"));
        for name in ["demo-x7k2p.demo.example.com", "www.demo.example.com", "demo-x7k2p-a.b.demo.example.com"] {
            assert_eq!(zone.machine_in(name), None, "{name}");
        }
    }

    #[test]
    fn with_a_load_balancer_of_the_users_own_its_names_are_the_sites() {
        let mut facts = testing::facts("worker");
        facts.vips = None;
        assert_eq!(Zone::new(&facts, &[]).find("api.demo.example.com"), None);
    }
}
