//! The virtual addresses of API and ingress.

use std::{collections::HashMap, net::IpAddr};

use ipnet::IpNet;

use crate::{InstallConfig, LoadBalancer, Platform, Problem, path, report::Report};

/// A virtual address and where it stands.
struct Vip<'a> {
    path: String,
    address: &'a IpAddr,
}

pub(super) fn check(config: &InstallConfig, report: &mut Report) {
    let (api_path, ingress_path) = match config.platform {
        Platform::Ovirt(_) => ("platform.ovirt.api_vips", "platform.ovirt.ingress_vips"),
        Platform::Powervm(_) => ("platform.powervm.api_vips", "platform.powervm.ingress_vips"),
        Platform::Packet(_) | Platform::Powervs(_) => return,
    };
    let (api, ingress) = (config.api_vips(), config.ingress_vips());
    for (path, vips, purpose) in [(api_path, api, "the API"), (ingress_path, ingress, "the ingress")] {
        list(path, vips, purpose, config, report);
    }
    let vips: Vec<Vip<'_>> = located(api_path, api).chain(located(ingress_path, ingress)).collect();
    let mut taken: HashMap<&IpAddr, &str> = HashMap::new();
    for vip in &vips {
        usable(vip, report);
        // A load balancer of the user's tells API and ingress apart by their ports, and may be anywhere.
        if config.load_balancer == LoadBalancer::Managed {
            in_machine_network(vip, config, report);
            if let Some(other) = taken.insert(vip.address, &vip.path) {
                report.problem(
                    Problem::new(&vip.path, format!("must differ from {other}"))
                        .value(vip.address)
                        .suggest("API and ingress each need an unused address of their own"),
                );
            }
        }
        in_cluster(vip, config, report);
    }
}

fn located<'a>(list: &'a str, vips: &'a [IpAddr]) -> impl Iterator<Item = Vip<'a>> {
    vips.iter().enumerate().map(move |(i, address)| Vip { path: path::index(list, i), address })
}

/// One address, or one of each family; the first family is that of the cluster.
fn list(path: &str, vips: &[IpAddr], purpose: &str, config: &InstallConfig, report: &mut Report) {
    let families: Vec<bool> = config.networking.service_network.iter().map(|net| net.addr().is_ipv4()).collect();
    let name = |v4: bool| if v4 { "IPv4" } else { "IPv6" };
    match vips {
        [] if config.load_balancer == LoadBalancer::Managed => {
            let suggestion = format!(
                "name an unused address of the machine network for {purpose}, or set loadBalancer to userManaged"
            );
            report.problem(Problem::new(path, "is missing").suggest(suggestion));
        }
        [] => {}
        [_, _, _, ..] => {
            report.problem(Problem::new(
                path,
                format!("must have one address, or one of each family, not {}", vips.len()),
            ));
        }
        [a, b] if a.is_ipv4() == b.is_ipv4() => {
            report.problem(
                Problem::new(path, format!("must have at most one {} address", name(a.is_ipv4())))
                    .value(format!("{a}, {b}")),
            );
        }
        [first, ..] => {
            if let Some(primary) = families.first().filter(|primary| **primary != first.is_ipv4()) {
                report.problem(
                    Problem::new(
                        path::index(path, 0),
                        format!("must be an {} address like the first of networking.serviceNetwork", name(*primary)),
                    )
                    .value(first),
                );
            } else if let Some(second) = vips.get(1).filter(|second| !families.contains(&second.is_ipv4())) {
                report.problem(
                    Problem::new(
                        path::index(path, 1),
                        format!(
                            "must be left out: networking.serviceNetwork has no {} network",
                            name(second.is_ipv4())
                        ),
                    )
                    .value(second),
                );
            }
        }
    }
}

fn usable(vip: &Vip<'_>, report: &mut Report) {
    let address = vip.address;
    let link_local = match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_broadcast(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    if address.is_unspecified() || address.is_multicast() || link_local {
        report.problem(Problem::new(&vip.path, "must be an address that a machine can have").value(address));
    }
}

/// Only networks that the user named are compared; guessing one would refuse good addresses.
fn in_machine_network(vip: &Vip<'_>, config: &InstallConfig, report: &mut Report) {
    let networks: Vec<IpNet> = config.networking.machine_network.iter().map(|network| network.cidr.trunc()).collect();
    if networks.is_empty() {
        return;
    }
    let Some(network) = networks.iter().find(|network| network.contains(vip.address)) else {
        let names: Vec<String> = networks.iter().map(IpNet::to_string).collect();
        report.problem(
            Problem::new(&vip.path, format!("must lie in the machine network ({})", names.join(", ")))
                .value(vip.address)
                .suggest("use an unused address of it, or correct networking.machineNetwork"),
        );
        return;
    };
    if let IpNet::V4(network) = network
        && network.prefix_len() < 31
    {
        let role = if *vip.address == network.network() {
            Some("first address")
        } else if *vip.address == network.broadcast() {
            Some("broadcast address")
        } else {
            None
        };
        if let Some(role) = role {
            report.problem(Problem::new(&vip.path, format!("must not be the {role} of {network}")).value(vip.address));
        }
    }
}

fn in_cluster(vip: &Vip<'_>, config: &InstallConfig, report: &mut Report) {
    let networking = &config.networking;
    let inside = networking.cluster_network.iter().map(|network| &network.cidr).chain(&networking.service_network);
    for network in inside.filter(|network| network.contains(vip.address)) {
        report.problem(
            Problem::new(&vip.path, format!("must not lie in {network}, which is inside the cluster"))
                .value(vip.address),
        );
    }
}
