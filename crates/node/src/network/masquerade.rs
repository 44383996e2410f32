//! Hiding pod addresses from what is outside of the cluster.

use std::{fmt::Write as _, net::IpAddr};

use ipnet::IpNet;

/// What may see the addresses of pods; everything else is outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// The ranges of all pods.
    pub pods: Vec<IpNet>,
    /// The addresses of nodes, which have routes back to pods. Other machines in their network have none.
    pub nodes: Vec<IpAddr>,
}

/// The rules, for `nft -f`: a table of their own, replaced in one go.
pub fn masquerade_rules(outside: &Outside) -> String {
    let mut rules = String::new();
    for line in [
        "table inet landfall_pods {}",
        "delete table inet landfall_pods",
        "table inet landfall_pods {",
        "  chain postrouting {",
        "    type nat hook postrouting priority srcnat; policy accept;",
    ] {
        rules.push_str(line);
        rules.push('\n');
    }
    for (family, v4) in [("ip", true), ("ip6", false)] {
        let pods: Vec<String> =
            outside.pods.iter().filter(|network| network.addr().is_ipv4() == v4).map(ToString::to_string).collect();
        if pods.is_empty() {
            continue;
        }
        let nodes = outside.nodes.iter().filter(|address| address.is_ipv4() == v4).map(ToString::to_string);
        let multicast = if v4 { "224.0.0.0/4" } else { "ff00::/8" }.to_owned();
        let inside: Vec<String> = pods.iter().cloned().chain(nodes).chain([multicast]).collect();
        let _ = writeln!(
            rules,
            "    {family} saddr {{ {} }} {family} daddr != {{ {} }} masquerade",
            pods.join(", "),
            inside.join(", ")
        );
    }
    rules.push_str("  }\n}\n");
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_leaves_the_cluster_is_hidden() {
        let rules = masquerade_rules(&Outside {
            pods: vec!["10.128.0.0/14".parse().unwrap(), "fd01::/48".parse().unwrap()],
            nodes: vec!["198.51.100.11".parse().unwrap(), "2001:db8::11".parse().unwrap()],
        });
        assert!(
            rules.contains("ip saddr { 10.128.0.0/14 } ip daddr != { 10.128.0.0/14, 198.51.100.11, 224.0.0.0/4 } masq"),
            "{rules}"
        );
        assert!(
            rules.contains("ip6 saddr { fd01::/48 } ip6 daddr != { fd01::/48, 2001:db8::11, ff00::/8 }"),
            "{rules}"
        );
    }
}
