//! Address ranges: exact, apart from each other, large enough, and of the same families.

use ipnet::IpNet;

use super::Report;
use crate::{Distribution, InstallConfig, NetworkType, Problem, path};

const MACHINE: &str = "networking.machineNetwork";
const CLUSTER: &str = "networking.clusterNetwork";
const SERVICE: &str = "networking.serviceNetwork";

/// More ranges than anybody has; all pairs are compared.
const MAX_RANGES: usize = 32;

/// Ranges that OVN-Kubernetes uses inside: joining and transit switches.
const OVN_INTERNAL: [&str; 4] = ["100.64.0.0/16", "100.88.0.0/16", "fd98::/64", "fd97::/64"];

/// Ranges that no machine, pod or service can have addresses in.
const UNUSABLE: [(&str, &str); 6] = [
    ("0.0.0.0/8", "has no usable addresses"),
    ("169.254.0.0/16", "is link-local"),
    ("224.0.0.0/4", "is for multicast"),
    ("240.0.0.0/4", "is reserved"),
    ("fe80::/10", "is link-local"),
    ("ff00::/8", "is for multicast"),
];

struct Range {
    path: String,
    net: IpNet,
}

pub(super) fn check(config: &InstallConfig, report: &mut Report) {
    network_type(config, report);
    let machine = ranges(MACHINE, ".cidr", config.networking.machine_network.iter().map(|network| network.cidr));
    let cluster = ranges(CLUSTER, ".cidr", config.networking.cluster_network.iter().map(|network| network.cidr));
    let service = ranges(SERVICE, "", config.networking.service_network.iter().copied());
    for (path, list) in [(CLUSTER, &cluster), (SERVICE, &service)] {
        if list.is_empty() {
            report.problem(
                Problem::new(path, "must have at least one network").suggest("leave it out to get the default"),
            );
        }
    }
    if machine.is_empty() {
        report.notice(
            MACHINE,
            "is not given: virtual addresses cannot be checked, and a proxy will not be told to leave it out",
        );
    }
    let all: Vec<&Range> = machine.iter().chain(&cluster).chain(&service).collect();
    for range in &all {
        exact_and_usable(range, report);
    }
    if all.len() > MAX_RANGES {
        report
            .problem(Problem::new("networking", format!("must have at most {MAX_RANGES} networks, not {}", all.len())));
        return;
    }
    overlaps(&all, report);
    if config.networking.network_type == Some(NetworkType::OvnKubernetes) {
        ovn_internal(&all, report);
    }
    for (range, prefix) in cluster.iter().zip(config.networking.cluster_network.iter().map(|n| n.host_prefix)) {
        host_prefix(range, prefix, config, report);
    }
    for range in &service {
        service_size(range, report);
    }
    families(config, &machine, &cluster, &service, report);
    capacity(config, &machine, report);
}

fn ranges(list: &str, field: &str, nets: impl Iterator<Item = IpNet>) -> Vec<Range> {
    nets.enumerate().map(|(i, net)| Range { path: format!("{}{field}", path::index(list, i)), net }).collect()
}

fn network_type(config: &InstallConfig, report: &mut Report) {
    let Some(network_type) = config.networking.network_type else { return };
    let (name, fits) = match network_type {
        NetworkType::Routed => ("Routed", !config.distribution.is_openshift()),
        NetworkType::None => ("None", !config.distribution.is_openshift()),
        NetworkType::OvnKubernetes => ("OVNKubernetes", config.distribution.is_openshift()),
    };
    if !fits {
        let possible = if config.distribution.is_openshift() { "'OVNKubernetes'" } else { "'Routed' or 'None'" };
        report.problem(
            Problem::new(
                "networking.networkType",
                format!("must be {possible} with distribution '{}'", config.distribution.name()),
            )
            .value(name),
        );
    }
}

fn exact_and_usable(range: &Range, report: &mut Report) {
    let Range { path, net } = range;
    if net.addr() != net.network() {
        report.problem(
            Problem::new(
                path,
                format!("must be the address of a network: bits after the first {} are set", net.prefix_len()),
            )
            .value(net)
            .suggest(format!("write {}", net.trunc())),
        );
    }
    if let Some((other, why)) = UNUSABLE.iter().find(|(other, _)| overlap(net, &built_in(other))) {
        report.problem(Problem::new(path, format!("must not overlap {other}, which {why}")).value(net));
    }
    if net.addr().is_loopback() {
        report.notice(path, format!("{net} is a loopback network: only simulated machines can be reached there"));
    }
}

fn overlaps(all: &[&Range], report: &mut Report) {
    for (i, range) in all.iter().enumerate() {
        if let Some(other) = all[..i].iter().find(|other| overlap(&range.net, &other.net)) {
            report.problem(
                Problem::new(&range.path, format!("must not overlap {} ({})", other.path, other.net)).value(range.net),
            );
        }
    }
}

fn ovn_internal(all: &[&Range], report: &mut Report) {
    for range in all {
        if let Some(internal) = OVN_INTERNAL.iter().find(|internal| overlap(&range.net, &built_in(internal))) {
            report.problem(
                Problem::new(&range.path, format!("must not overlap {internal}, which OVN-Kubernetes uses inside"))
                    .value(range.net),
            );
        }
    }
}

/// What a node gets has to be a part of the range, of a size that the distribution can hand out.
fn host_prefix(range: &Range, prefix: Option<u8>, config: &InstallConfig, report: &mut Report) {
    let Some(prefix) = prefix else { return };
    let path = range.path.replace(".cidr", ".hostPrefix");
    let of_range = range.net.prefix_len();
    let is_v4 = range.net.addr().is_ipv4();
    let rule = if prefix < of_range {
        format!("must be at least {of_range}, the prefix length of {}", range.net)
    } else if is_v4 && prefix > 30 {
        "must be at most 30, or a node has no addresses for pods".to_owned()
    } else if !is_v4 && config.distribution.is_openshift() && prefix != 64 {
        "must be 64 for IPv6".to_owned()
    } else if config.distribution == Distribution::Kubernetes && prefix - of_range > 16 {
        // kube-controller-manager refuses to start otherwise.
        format!("must be at most {}, which is 16 more than the prefix length of {}", of_range + 16, range.net)
    } else {
        return;
    };
    report.problem(Problem::new(path, rule).value(prefix));
}

/// The API server keeps a bitmap of at most 20 bits; the DNS service has the tenth address.
fn service_size(range: &Range, report: &mut Report) {
    let (largest, smallest) = if range.net.addr().is_ipv4() { (12, 28) } else { (108, 124) };
    if !(largest..=smallest).contains(&range.net.prefix_len()) {
        report.problem(
            Problem::new(&range.path, format!("must have a prefix length from {largest} to {smallest}"))
                .value(range.net),
        );
    }
}

fn families(config: &InstallConfig, machine: &[Range], cluster: &[Range], service: &[Range], report: &mut Report) {
    let count = |list: &[Range], v4: bool| list.iter().filter(|range| range.net.addr().is_ipv4() == v4).count();
    for (v4, name) in [(true, "IPv4"), (false, "IPv6")] {
        if count(service, v4) > 1 {
            report.problem(Problem::new(SERVICE, format!("must have at most one {name} network")));
        }
        if count(cluster, v4) > 1 && config.distribution == Distribution::Kubernetes {
            report.problem(Problem::new(
                CLUSTER,
                format!("must have at most one {name} network with distribution 'kubernetes'"),
            ));
        }
        let (pods, services) = (count(cluster, v4) > 0, count(service, v4) > 0);
        let missing = match (pods, services) {
            (true, false) => Some((SERVICE, CLUSTER)),
            (false, true) => Some((CLUSTER, SERVICE)),
            _ => None,
        };
        if let Some((from, other)) = missing.filter(|_| !cluster.is_empty() && !service.is_empty()) {
            report.problem(Problem::new(from, format!("must have an {name} network, because {other} has one")));
        }
        if pods && !machine.is_empty() && count(machine, v4) == 0 {
            report.problem(Problem::new(MACHINE, format!("must have an {name} network, because {CLUSTER} has one")));
        }
    }
    for (path, list) in [(MACHINE, machine), (CLUSTER, cluster), (SERVICE, service)] {
        let dual = count(list, true) > 0 && count(list, false) > 0;
        if dual && list.first().is_some_and(|range| range.net.addr().is_ipv6()) {
            report.problem(Problem::new(path, "must have an IPv4 network first"));
        }
    }
}

/// All machines need an address, and a part of the pods' range; while installing, the bootstrap machine does too.
fn capacity(config: &InstallConfig, machine: &[Range], report: &mut Report) {
    let machines = 1 + config.machines();
    for (v4, name) in [(true, "IPv4"), (false, "IPv6")] {
        let of_family = |net: &IpNet| net.addr().is_ipv4() == v4;
        let parts: u128 = config
            .networking
            .cluster_network
            .iter()
            .filter(|network| of_family(&network.cidr))
            .filter_map(|network| u32::from(network.host_prefix?).checked_sub(network.cidr.prefix_len().into()))
            .fold(0, |sum, bits| sum.saturating_add(1_u128.checked_shl(bits).unwrap_or(u128::MAX)));
        if parts > 0 && parts < u128::from(machines) {
            report.problem(
                Problem::new(CLUSTER, format!("must have an {name} part for each of {machines} machines (with the bootstrap machine), and has {parts}"))
                    .suggest("use a larger network, or a larger hostPrefix so that each machine gets less"),
            );
        }
        let vips = [config.api_vips(), config.ingress_vips()].concat().iter().filter(|vip| vip.is_ipv4() == v4).count();
        let needed = u128::from(machines) + vips as u128;
        let addresses: u128 = machine
            .iter()
            .filter(|range| of_family(&range.net))
            .fold(0, |sum, range| sum.saturating_add(usable_addresses(&range.net)));
        if addresses > 0 && addresses < needed {
            report.problem(
                Problem::new(MACHINE, format!("must have {needed} {name} addresses for machines (with the bootstrap machine) and virtual addresses, and has {addresses}")),
            );
        }
    }
}

fn usable_addresses(net: &IpNet) -> u128 {
    let bits = u32::from(net.max_prefix_len() - net.prefix_len());
    let all = 1_u128.checked_shl(bits).unwrap_or(u128::MAX);
    if net.addr().is_ipv4() { all.saturating_sub(2) } else { all }
}

fn overlap(a: &IpNet, b: &IpNet) -> bool {
    let (a, b) = (a.trunc(), b.trunc());
    a.contains(&b.network()) || b.contains(&a.network())
}

fn built_in(text: &str) -> IpNet {
    text.parse().expect("built-in network is well formed")
}
