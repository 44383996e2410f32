//! Where the platform leads an address to machines: what they need to take it.

use std::net::IpAddr;

use askama::Template;
use landfall_config::{
    EndpointHolder,
    packet::{self, Endpoint},
};

use crate::{Cluster, MachineRole, NodeFile, NodeUnit, node::paths, template};

/// Any name below the wildcard record of the applications.
const INGRESS_NAME: &str = "ingress.apps";

/// How an address gets to a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The platform assigns it.
    Assigned,
    /// The machine announces it.
    Announced,
}

fn way(cluster: &Cluster<'_>) -> Option<Way> {
    if cluster.config.endpoint_holder() != EndpointHolder::Platform {
        return None;
    }
    match cluster.config.platform.packet()?.endpoint {
        Endpoint::Eip => Some(Way::Assigned),
        Endpoint::Bgp => Some(Way::Announced),
        Endpoint::DnsRoundRobin => None,
    }
}

/// Whether the platform leads an address to one machine after the other.
pub(crate) fn is_led_by_platform(cluster: &Cluster<'_>) -> bool {
    way(cluster).is_some()
}

pub(super) fn files(cluster: &Cluster<'_>) -> Vec<NodeFile> {
    let script = |name: &str, text: String| NodeFile::executable(format!("{}/{name}", paths::SCRIPTS), text);
    let mut files = match way(cluster) {
        None => return Vec::new(),
        Some(Way::Assigned) => vec![script("hold-endpoint", include_str!("../../templates/hold-endpoint").to_owned())],
        Some(Way::Announced) => {
            let image = cluster.config.platform.packet().map(packet::Platform::kube_vip_image).unwrap_or_default();
            vec![script("announce-endpoint", template::text(&Announce { image }))]
        }
    };
    let api: Vec<String> = cluster
        .config
        .api_vips()
        .iter()
        .map(|address| format!("{address} {} {}\n", cluster.api_int_name(), cluster.api_name()))
        .collect();
    if !api.is_empty() {
        files.push(NodeFile::append("/etc/hosts", api.concat()));
    }
    files
}

pub(super) fn units(cluster: &Cluster<'_>, role: MachineRole) -> Vec<NodeUnit> {
    let program = match way(cluster) {
        None => return Vec::new(),
        Some(Way::Assigned) => "hold-endpoint",
        Some(Way::Announced) => "announce-endpoint",
    };
    let host = |known: &[IpAddr], name: String| known.first().map_or(name, ToString::to_string);
    let api = || host(cluster.config.api_vips(), cluster.api_int_name());
    let ingress = || {
        let name = format!("{INGRESS_NAME}.{}", cluster.config.cluster_domain());
        host(cluster.config.ingress_vips(), name)
    };
    // Without workers the masters serve applications, too. Only what is assigned can be two addresses: a machine has one BGP session.
    let is_compact = cluster.config.compute.iter().all(|pool| pool.replicas == 0);
    let hosts = match role {
        MachineRole::Master if is_compact && way(cluster) == Some(Way::Assigned) => format!("{} {}", api(), ingress()),
        MachineRole::Bootstrap | MachineRole::Master => api(),
        MachineRole::Worker => ingress(),
    };
    let unit = template::text(&Unit { program: format!("{}/{program}", paths::SCRIPTS), hosts });
    vec![NodeUnit::enabled("landfall-endpoint.service", unit)]
}

#[derive(Template)]
#[template(path = "units/landfall-endpoint.service", escape = "none")]
struct Unit {
    program: String,
    hosts: String,
}

#[derive(Template)]
#[template(path = "announce-endpoint", escape = "none", ext = "sh")]
struct Announce<'a> {
    image: &'a str,
}
