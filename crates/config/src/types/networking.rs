//! Address ranges of machines, pods and services.

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::format;

/// Address ranges of machines, pods and services. For dual stack give one range of each family, IPv4 first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Networking {
    /// How pods reach each other. Default: `Routed` for Kubernetes, `OVNKubernetes` for OpenShift and OKD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_type: Option<NetworkType>,
    /// Networks that the machines have their addresses in. Virtual IPs must lie in one of them. Default: not known, so
    /// that nothing can be checked against them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machine_network: Vec<MachineNetwork>,
    /// Ranges from which every node gets a part for its pods.
    #[serde(default = "Networking::default_cluster_network")]
    pub cluster_network: Vec<ClusterNetwork>,
    /// Ranges of service addresses, one per address family.
    #[serde(default = "Networking::default_service_network")]
    #[schemars(with = "Vec<format::Cidr>")]
    pub service_network: Vec<IpNet>,
}

impl Default for Networking {
    fn default() -> Self {
        Self {
            network_type: None,
            machine_network: Vec::new(),
            cluster_network: Self::default_cluster_network(),
            service_network: Self::default_service_network(),
        }
    }
}

impl Networking {
    fn default_cluster_network() -> Vec<ClusterNetwork> {
        vec![ClusterNetwork { cidr: net("10.128.0.0/14"), host_prefix: Some(23) }]
    }

    fn default_service_network() -> Vec<IpNet> {
        vec![net("172.30.0.0/16")]
    }
}

fn net(text: &str) -> IpNet {
    text.parse().expect("built-in network is well formed")
}

/// A network that machines have their addresses in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MachineNetwork {
    /// The network, for example `192.168.10.0/24`.
    #[schemars(with = "format::Cidr")]
    pub cidr: IpNet,
}

/// A range of pod addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterNetwork {
    /// The range, for example `10.128.0.0/14`.
    #[schemars(with = "format::Cidr")]
    pub cidr: IpNet,
    /// Prefix length of the part that each node gets. Default: 23 for IPv4, 64 for IPv6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 128))]
    pub host_prefix: Option<u8>,
}

/// How pods reach each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NetworkType {
    /// A bridge on every node and plain routes between the nodes, which share one network segment. Kubernetes only, where it
    /// is the default.
    Routed,
    /// Nothing is set up: add the manifests of a network plug-in of your choice to `manifests/`. Kubernetes only.
    None,
    /// OVN-Kubernetes. OpenShift and OKD only, where it is the default.
    #[serde(rename = "OVNKubernetes")]
    OvnKubernetes,
}
