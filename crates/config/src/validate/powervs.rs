//! The PowerVS section.

use ipnet::IpNet;

use super::machine_pools::{self, located};
use crate::{
    Dns, EndpointHolder, InstallConfig, Platform, Problem, path,
    powervs::{self, Image, ProcessorType, Publish, Service, ServiceEndpoints, ZONES},
    report::Report,
};

const SECTION: &str = "platform.powervs";
/// The DHCP service of the platform hands out one network of this size.
const NETWORK_PREFIX: u8 = 24;
const MIN_MEMORY_GIB: u32 = 4;

pub(super) fn check(config: &InstallConfig, report: &mut Report) {
    let Platform::Powervs(powervs) = &config.platform else { return };
    place(powervs, report);
    endpoints(&at("serviceEndpoints"), &powervs.service_endpoints, report);
    given(powervs, report);
    endpoint(config, powervs, report);
    machine_pools::power_only(config, "PowerVS", report);
    network(config, report);
    pools(config, report);
}

fn at(field: &str) -> String {
    path::key(SECTION, field)
}

fn place(powervs: &powervs::Platform, report: &mut Report) {
    let Some(zone) = powervs::zone(&powervs.zone) else {
        let names: Vec<&str> = ZONES.iter().map(|zone| zone.name).collect();
        let problem = Problem::new(at("zone"), "must be a zone of PowerVS").value(&powervs.zone);
        report.problem(problem.suggest(format!("zones are {}", names.join(", "))));
        return;
    };
    if let Some(region) = powervs.region.as_ref().filter(|region| *region != zone.region) {
        let rule = format!("must be that of the zone, '{}'", zone.region);
        report.problem(Problem::new(at("region"), rule).value(region).suggest("leave it out"));
    }
    match &powervs.vpc_region {
        Some(region) if powervs::vpc_region(region).is_none() => {
            report.problem(Problem::new(at("vpcRegion"), "must be a region of VPC, like us-south").value(region));
        }
        None if zone.vpc_region.is_none() => report.problem(
            Problem::new(at("vpcRegion"), format!("is missing: there is no VPC region next to {}", zone.name))
                .suggest("name one; the transit gateway will be a global one"),
        ),
        _ => {}
    }
    let needs_storage = !matches!(powervs.image, Image::Existing(_));
    if zone.cos_region.is_none() && needs_storage {
        let rule = "must be 'existing': there is no object storage next to the zone to import from";
        report.problem(Problem::new(at("image"), rule));
    }
}

/// Addresses of services: encrypted, except on this computer, and one for each.
pub(super) fn endpoints(list: &str, endpoints: &ServiceEndpoints, report: &mut Report) {
    let mut seen: Vec<Service> = Vec::new();
    for (i, endpoint) in endpoints.0.iter().enumerate() {
        let place = path::index(list, i);
        if seen.contains(&endpoint.name) {
            let problem = Problem::new(path::key(&place, "name"), "must be unique in the list");
            report.problem(problem.value(endpoint.name.name()));
        }
        seen.push(endpoint.name);
        let is_here = super::sources::is_here(&endpoint.url);
        let fits = endpoint.url.scheme() == "https" || endpoint.url.scheme() == "http" && is_here;
        if !fits {
            let rule = "must begin with https://: requests carry credentials";
            report.problem(Problem::new(path::key(&place, "url"), rule).value(&endpoint.url));
        }
    }
}

/// What exists already.
fn given(powervs: &powervs::Platform, report: &mut Report) {
    if !powervs.vpc_subnets.is_empty() && powervs.vpc_name.is_none() {
        let rule = "must be left out without platform.powervs.vpcName: a new VPC has no subnets yet";
        report.problem(Problem::new(at("vpcSubnets"), rule));
    }
    if matches!(powervs.image, Image::Existing(_)) && powervs.service_instance_guid.is_none() {
        let rule = "must be imported: a new workspace has no image yet";
        let problem = Problem::new(path::key(&at("image"), "existing"), rule);
        report.problem(problem.suggest("name the workspace that has it (platform.powervs.serviceInstanceGUID)"));
    }
    if powervs.publish == Publish::Internal && powervs.vpc_name.is_none() {
        let rule =
            "is missing: with publish: internal only those in the VPC reach the cluster, and you have to be there";
        report.problem(Problem::new(at("vpcName"), rule));
    }
}

fn endpoint(config: &InstallConfig, powervs: &powervs::Platform, report: &mut Report) {
    if config.endpoint_holder() != EndpointHolder::Platform {
        return;
    }
    match &config.dns {
        None => report.problem(
            Problem::new("dns", "is missing: the names of the load balancers are known only during the installation")
                .suggest("say where the records are made, for example 'dns: {cis: {}}'"),
        ),
        Some(Dns::Manual(_)) => report.problem(Problem::new(
            "dns.manual",
            "cannot be used: the names of the load balancers are known only during the installation",
        )),
        Some(Dns::DnsServices(_)) if powervs.publish == Publish::External => report.problem(
            Problem::new("dns.dnsServices", "cannot be used with publish: external: its zones are private")
                .suggest("use dns.cis, or platform.powervs.publish: internal"),
        ),
        Some(_) => {}
    }
}

fn network(config: &InstallConfig, report: &mut Report) {
    let rule =
        format!("must be exactly one IPv4 network with a prefix of {NETWORK_PREFIX}: the platform's DHCP serves one");
    match config.networking.machine_network.as_slice() {
        [only] if matches!(only.cidr, IpNet::V4(net) if net.prefix_len() == NETWORK_PREFIX) => {}
        [] => report.problem(
            Problem::new("networking.machineNetwork", format!("is missing: it {rule}"))
                .suggest("for example '[{cidr: 192.168.124.0/24}]', different from that of other clusters that are joined to the VPC"),
        ),
        networks => {
            let given: Vec<String> = networks.iter().map(|network| network.cidr.to_string()).collect();
            report.problem(Problem::new("networking.machineNetwork", rule).value(given.join(", ")));
        }
    }
}

fn pools(config: &InstallConfig, report: &mut Report) {
    let mut level = None;
    for (place, pool) in located(config) {
        let own = path::key(&path::key(&place, "platform"), "powervs");
        let resolved = config.powervs_pool(pool);
        let processors = resolved.processors;
        let (fits, rule) = match resolved.proc_type {
            ProcessorType::Dedicated => {
                (processors >= 1.0 && processors.fract() == 0.0, "must be a whole number from 1 for Dedicated")
            }
            ProcessorType::Shared | ProcessorType::Capped => {
                (processors >= 0.5 && (processors * 4.0).fract() == 0.0, "must be from 0.5 in steps of 0.25")
            }
        };
        if !fits {
            report.problem(Problem::new(path::key(&own, "processors"), rule).value(processors));
        }
        if resolved.memory_gib < MIN_MEMORY_GIB {
            let rule = format!("must be at least {MIN_MEMORY_GIB}");
            report.problem(Problem::new(path::key(&own, "memoryGiB"), rule).value(resolved.memory_gib));
        }
        let is_level =
            |level: &str| ["on", "off"].contains(&level) || level.parse::<u8>().is_ok_and(|n| (1..=8).contains(&n));
        if let Some(smt) = resolved.smt_level.as_deref().filter(|smt| !is_level(smt)) {
            report.problem(Problem::new(path::key(&own, "smtLevel"), "must be 1 to 8, on or off").value(smt));
        }
        if place != "controlPlane" && *level.get_or_insert_with(|| resolved.smt_level.clone()) != resolved.smt_level {
            let rule = "must be the same in all compute pools, because their machines are started with one config";
            report.problem(Problem::new(path::key(&own, "smtLevel"), rule));
        }
    }
}
