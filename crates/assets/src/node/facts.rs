//! `/etc/landfall/node.json`: what a machine knows about its cluster before it can ask anybody.

use std::net::IpAddr;

use ipnet::IpNet;
use landfall_config::{ClusterNetwork, Distribution, NetworkType, Role};
use landfall_platform::InfraId;
use serde::{Deserialize, Serialize};

use super::paths;
use crate::{
    Cluster, MachineRole,
    cluster::{API_PORT, CONFIG_SERVER_PORT},
    onprem,
};

/// What a machine knows about its cluster before it can ask anybody. `landfall-node` reads it at every start.
///
/// Nothing in it is secret: secrets are in files of their own, which it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeFacts {
    /// Version of this format, [`NodeFacts::FORMAT`].
    pub format: u32,
    /// What the machine is for.
    pub role: MachineRole,
    /// What is installed.
    pub distribution: Distribution,
    /// Name of the platform.
    pub platform: String,
    /// The cluster.
    pub cluster: ClusterFacts,
    /// How the machines reach the API.
    pub api: ApiFacts,
    /// The virtual addresses; none if a load balancer of the user's own holds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vips: Option<VipFacts>,
    /// Address ranges.
    pub networks: NetworkFacts,
    /// The kubeadm configuration of the machine; none where something else sets up Kubernetes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubeadm: Option<String>,
    /// What the machine serves to others that boot; none if it serves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_server: Option<ConfigServerFacts>,
    /// What the machine serves to others whose firmware boots from the network; none if it serves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_script: Option<BootScriptFacts>,
    /// What only the bootstrap machine does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<BootstrapFacts>,
}

/// The cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterFacts {
    /// Its name.
    pub name: String,
    /// Its domain, below which all its names are.
    pub domain: String,
    /// The mark that everything of the cluster carries.
    pub infra_id: InfraId,
}

/// How the machines reach the API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiFacts {
    /// Its name for clients outside.
    pub name: String,
    /// Its name for the cluster's own machines.
    pub internal_name: String,
    /// Where the cluster's own machines reach it, as `host:port`, without needing a name server where that is possible.
    pub endpoint: String,
    /// The port that API servers listen on.
    pub port: u16,
    /// The port that the config server listens on.
    pub config_server_port: u16,
    /// Whether the platform leads an address to one machine after the other, which each takes in `landfall-endpoint.service`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub led_by_platform: bool,
}

/// The virtual addresses that the cluster's machines hold among themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VipFacts {
    /// Of the API: held by the bootstrap machine, then by masters.
    pub api: Vec<IpAddr>,
    /// Of the ingress: held by masters and workers.
    pub ingress: Vec<IpAddr>,
    /// VRRP router id of the API's addresses.
    pub api_router_id: u8,
    /// VRRP router id of the ingress' addresses.
    pub ingress_router_id: u8,
    /// The port that haproxy takes API connections on. What comes to a virtual address on the API's port is redirected here,
    /// because the local API server listens on that port on all addresses.
    pub balancer_port: u16,
    /// The port on which haproxy says that it runs.
    pub balancer_ready_port: u16,
    /// The port on which haproxy says that it has an API server to send connections to.
    pub balancer_backends_port: u16,
    /// Where keepalived's configuration is written.
    pub keepalived_config: String,
    /// Where haproxy's configuration is written.
    pub haproxy_config: String,
}

/// Address ranges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkFacts {
    /// How pods reach each other; none means that something else takes care of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_type: Option<NetworkType>,
    /// Of machines.
    pub machine: Vec<IpNet>,
    /// Of pods.
    pub cluster: Vec<ClusterNetwork>,
    /// Of services.
    pub service: Vec<IpNet>,
}

/// What a machine serves to others that boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigServerFacts {
    /// File with the server's certificate.
    pub certificate: String,
    /// File with its private key.
    pub key: String,
    /// The roles that are served.
    pub roles: Vec<ServedRole>,
}

/// A role that is served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServedRole {
    /// Which role.
    pub role: MachineRole,
    /// File with its Ignition config.
    pub config: String,
    /// File with what the credentials of the role's machines are made from. Without the file no machine is served: removing it revokes all of
    /// them.
    pub root: String,
}

/// What a machine serves to others whose firmware boots from the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BootScriptFacts {
    /// File with the iPXE script.
    pub file: String,
    /// The port that it is served on.
    pub port: u16,
}

/// What only the bootstrap machine does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BootstrapFacts {
    /// Directory with the manifests that it applies, in the order of their names.
    pub manifests: String,
    /// How many masters must have joined before it may go.
    pub masters: u32,
}

impl NodeFacts {
    /// The version of the format that this program writes and reads.
    pub const FORMAT: u32 = 1;

    pub(crate) fn new(cluster: &Cluster<'_>, role: MachineRole) -> Self {
        let config = cluster.config;
        let kubernetes = config.distribution == Distribution::Kubernetes;
        Self {
            format: Self::FORMAT,
            role,
            distribution: config.distribution,
            platform: config.platform.name().to_owned(),
            cluster: ClusterFacts {
                name: config.metadata.name.clone(),
                domain: config.cluster_domain(),
                infra_id: cluster.infra_id.clone(),
            },
            api: ApiFacts {
                name: cluster.api_name(),
                internal_name: cluster.api_int_name(),
                endpoint: cluster.internal_endpoint(),
                port: API_PORT,
                config_server_port: CONFIG_SERVER_PORT,
                led_by_platform: onprem::is_led_by_platform(cluster),
            },
            vips: onprem::vip_facts(cluster),
            networks: NetworkFacts {
                network_type: config.networking.network_type,
                machine: config.networking.machine_network.iter().map(|network| network.cidr).collect(),
                cluster: config.networking.cluster_network.clone(),
                service: config.networking.service_network.clone(),
            },
            kubeadm: kubernetes.then(|| paths::KUBEADM_CONFIG.to_owned()),
            config_server: kubernetes.then(|| ConfigServerFacts::new(role)).flatten(),
            boot_script: onprem::boot_script_facts(cluster, role),
            bootstrap: (kubernetes && role == MachineRole::Bootstrap).then(|| BootstrapFacts {
                manifests: paths::MANIFESTS.to_owned(),
                masters: config.control_plane.replicas,
            }),
        }
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("texts, numbers and addresses can be written as JSON") + "\n"
    }
}

impl ConfigServerFacts {
    /// The bootstrap machine serves masters and workers; masters go on to serve workers, and nobody serves masters after
    /// the bootstrap machine is gone.
    fn new(role: MachineRole) -> Option<Self> {
        let roles = served_roles(role);
        (!roles.is_empty()).then(|| Self {
            certificate: format!("{}/tls.crt", paths::CONFIG_SERVER),
            key: format!("{}/tls.key", paths::CONFIG_SERVER),
            roles: roles
                .iter()
                .map(|&role| ServedRole {
                    role: role.into(),
                    config: format!("{}/{}.ign", paths::CONFIG_SERVER, role.name()),
                    root: format!("{}/{}.root", paths::CONFIG_SERVER, role.name()),
                })
                .collect(),
        })
    }
}

/// The roles whose configs a machine serves.
pub(crate) fn served_roles(role: MachineRole) -> &'static [Role] {
    match role {
        MachineRole::Bootstrap => &[Role::Master, Role::Worker],
        MachineRole::Master => &[Role::Worker],
        MachineRole::Worker => &[],
    }
}
