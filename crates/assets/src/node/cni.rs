//! The pod network of type `Routed`.

use ipnet::IpNet;
use serde_json::json;

/// The CNI configuration of a node, for the pod networks that the cluster gave it.
///
/// Pods of a node share a bridge; `landfall-node` sets the routes to the bridges of other nodes, and hides pod addresses
/// only from what is outside the cluster. The plug-in's own masquerading would hide them from other nodes too.
pub fn routed_cni_config(pod_networks: &[IpNet]) -> String {
    let ranges: Vec<_> = pod_networks.iter().map(|network| json!([{ "subnet": network }])).collect();
    let routes: Vec<_> = pod_networks
        .iter()
        .map(|network| json!({ "dst": if network.addr().is_ipv4() { "0.0.0.0/0" } else { "::/0" } }))
        .collect();
    let list = json!({
        "cniVersion": "1.0.0",
        "name": "landfall",
        "plugins": [
            {
                "type": "bridge",
                "bridge": "cni0",
                "isGateway": true,
                "hairpinMode": true,
                "ipMasq": false,
                "ipam": { "type": "host-local", "ranges": ranges, "routes": routes },
            },
            { "type": "portmap", "capabilities": { "portMappings": true }, "snat": true },
        ],
    });
    serde_json::to_string_pretty(&list).expect("texts and networks can be written as JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn each_family_has_a_range_and_a_route() {
        let networks = ["10.128.2.0/23", "fd01:0:0:1::/64"].map(|network| network.parse().unwrap());
        let list: Value = serde_json::from_str(&routed_cni_config(&networks)).unwrap();
        let ipam = &list["plugins"][0]["ipam"];
        assert_eq!(ipam["ranges"], json!([[{ "subnet": "10.128.2.0/23" }], [{ "subnet": "fd01:0:0:1::/64" }]]));
        assert_eq!(ipam["routes"], json!([{ "dst": "0.0.0.0/0" }, { "dst": "::/0" }]));
    }
}
