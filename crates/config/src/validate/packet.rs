//! The Packet section.

use std::collections::HashSet;

use crate::{
    Dns, EndpointHolder, InstallConfig, Platform, Problem, Role,
    packet::{self, AssetHost, Endpoint, Os, ServiceLoadBalancer},
    path,
    report::Report,
};

const LONGEST_TAG: usize = 80;
const SECTION: &str = "platform.packet";

pub(super) fn check(config: &InstallConfig, report: &mut Report) {
    let Platform::Packet(packet) = &config.platform else { return };
    let at = |field: &str| path::key(SECTION, field);
    exactly_one(report, (&at("project"), packet.project.is_some()), (&at("newProject"), packet.new_project.is_some()));
    let (metros, facilities) = (!packet.metros.is_empty(), !packet.facilities.is_empty());
    exactly_one(report, (&at("metros"), metros), (&at("facilities"), facilities));
    for (field, codes) in [("metros", &packet.metros), ("facilities", &packet.facilities)] {
        unique(report, &at(field), codes.iter().map(String::as_str));
        for (i, code) in codes.iter().enumerate().filter(|(_, code)| !is_code(code)) {
            let rule = "must be the code of a place: a few lower case letters and digits";
            report.problem(Problem::new(path::index(&at(field), i), rule).value(code));
        }
    }
    for (i, tag) in packet.tags.iter().enumerate().filter(|(_, tag)| tag.chars().count() > LONGEST_TAG) {
        let rule = format!("must have at most {LONGEST_TAG} characters");
        report.problem(Problem::new(path::index(&at("tags"), i), rule).value(tag));
    }
    unique(report, &at("virtualNetworks"), packet.virtual_networks.iter().map(|network| network.name.as_str()));
    unique(report, &at("addressBlocks"), packet.address_blocks.iter().map(|block| block.name.as_str()));
    for (i, network) in packet.virtual_networks.iter().enumerate() {
        if network.id.is_some() && network.vxlan.is_some() {
            let place = path::key(&path::index(&at("virtualNetworks"), i), "vxlan");
            report.problem(Problem::new(place, "must be left out: the network with this id has a number already"));
        }
    }
    if let AssetHost::Url(url) = &packet.asset_host
        && url.scheme() != "https"
    {
        let rule = "must begin with https://: what the bootstrap machine fetches there holds secrets";
        report.problem(Problem::new(path::key(&at("assetHost"), "url"), rule).value(url));
    }
    bucket(packet, report);
    live_system(packet, report);
    arguments(packet, report);
    let announces =
        packet.cloud_controller_manager.as_ref().is_some_and(|own| own.services != ServiceLoadBalancer::None);
    if announces && packet.endpoint == Endpoint::Bgp && config.endpoint_holder() == EndpointHolder::Platform {
        let place = path::key(&at("cloudControllerManager"), "services");
        let rule = "must be none with endpoint bgp: a machine has one BGP session, and that is taken";
        report.problem(Problem::new(place, rule));
    }
    if packet.cloud_controller_manager.is_some() && packet.new_project.is_some() {
        let rule = "must be left out with newProject: the manager is told its project before there is one";
        report.problem(Problem::new(at("cloudControllerManager"), rule));
    }
    if packet.project_ssh_keys && config.ssh_key.is_none() {
        let rule = "must be left out: there is no sshKey to add";
        report.problem(Problem::new(at("projectSshKeys"), rule));
    }
    // It stands in a script.
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-/:@".contains(letter);
    if let Some(image) = packet.kube_vip_image.as_ref().filter(|image| !image.chars().all(fits)) {
        report.problem(Problem::new(at("kubeVipImage"), "must be the name of an image").value(image));
    }
    endpoint(config, packet, report);
    pools(config, packet, report);
}

/// iPXE has no digests of what it fetches. The root file system needs none here: the initramfs has its digest.
fn live_system(packet: &packet::Platform, report: &mut Report) {
    let Os::Ipxe(ipxe) = &packet.os else { return };
    let place = path::key(&path::key(SECTION, "os"), "ipxe");
    for (field, url) in [("kernel", &ipxe.kernel), ("initramfs", &ipxe.initramfs)] {
        if url.scheme() != "https" && !ipxe.trust_boot_network {
            let rule = "must begin with https://: nothing else verifies what machines boot";
            let problem = Problem::new(path::key(&place, field), rule).value(url);
            report.problem(problem.suggest(
                "if every network between the machines and this server is yours, set \
                 platform.packet.os.ipxe.trustBootNetwork",
            ));
        }
    }
}

/// The script travels in plain, and an argument may name a config. Ignition has no digest to compare a config with that an argument
/// names; the installer of CoreOS has.
fn arguments(packet: &packet::Platform, report: &mut Report) {
    let Os::Ipxe(ipxe) = &packet.os else { return };
    let given = |wanted: &str| {
        ipxe.kernel_arguments.iter().flat_map(|text| text.split_whitespace()).any(|word| word.starts_with(wanted))
    };
    let is_pinned = given("coreos.inst.ignition_hash=");
    let place = path::key(&path::key(&path::key(SECTION, "os"), "ipxe"), "kernelArguments");
    for (i, argument) in ipxe.kernel_arguments.iter().enumerate() {
        for (name, url) in argument.split_whitespace().filter_map(|word| word.split_once('=')) {
            let is_config = match name {
                "ignition.config.url" => true,
                "coreos.inst.ignition_url" => !is_pinned,
                _ => false,
            };
            if is_config && !url.starts_with("https://") {
                let rule = "must name a config by https:// (or with coreos.inst.ignition_hash): in plain it can be replaced on its way";
                report.problem(Problem::new(path::index(&place, i), rule).value(argument));
            }
        }
        if argument.split_whitespace().any(|word| word == "coreos.inst.insecure") {
            let rule = "must be left out: the image must be verified";
            report.problem(Problem::new(path::index(&place, i), rule).value(argument));
        }
    }
}

fn bucket(packet: &packet::Platform, report: &mut Report) {
    let AssetHost::Bucket(bucket) = &packet.asset_host else { return };
    let at = |field: &str| path::key(&path::key(&path::key(SECTION, "assetHost"), "bucket"), field);
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '.');
    if !bucket.name.chars().all(fits) || bucket.name.starts_with(['-', '.']) || bucket.name.ends_with(['-', '.']) {
        let rule = "must have lower case letters, digits, hyphens and dots only, and a letter or digit at both ends";
        report.problem(Problem::new(at("name"), rule).value(&bucket.name));
    }
    if let Some(url) = bucket.endpoint.as_ref().filter(|url| url.scheme() != "https") {
        let rule = "must begin with https://: what the bootstrap machine fetches there holds secrets";
        report.problem(Problem::new(at("endpoint"), rule).value(url));
    }
}

fn endpoint(config: &InstallConfig, packet: &packet::Platform, report: &mut Report) {
    let at = |field: &str| path::key(SECTION, field);
    let given = [("apiAddress", packet.api_address), ("ingressAddress", packet.ingress_address)];
    if config.endpoint_holder() == EndpointHolder::User {
        return;
    }
    if packet.endpoint == Endpoint::DnsRoundRobin {
        for (field, _) in given.iter().filter(|(_, address)| address.is_some()) {
            report.problem(Problem::new(at(field), "must be left out: with dnsRoundRobin there is no such address"));
        }
    }
    for (field, address) in given.iter().filter_map(|(field, address)| Some((field, (*address)?))) {
        if address.is_ipv6() {
            report.problem(Problem::new(at(field), "must be an IPv4 address: elastic addresses are").value(address));
        }
    }
    // Addresses that are not known yet, and those of machines, can only be told by names.
    let late = packet.endpoint == Endpoint::DnsRoundRobin || given.iter().any(|(_, address)| address.is_none());
    match &config.dns {
        None if late => report.problem(
            Problem::new("dns", "is missing: the addresses of API and ingress are known only during the installation")
                .suggest(
                    "say where the records are made, or name elastic addresses that are reserved already \
                 (platform.packet.apiAddress and ingressAddress)",
                ),
        ),
        Some(Dns::Manual(_)) if late => report.problem(
            Problem::new(
                "dns.manual",
                "cannot be used: the addresses of API and ingress are known only during the installation",
            )
            .suggest(
                "reserve the elastic addresses first and name them (platform.packet.apiAddress and ingressAddress)",
            ),
        ),
        _ => {}
    }
    if packet.api_address.is_some() && packet.api_address == packet.ingress_address {
        report.problem(Problem::new(at("ingressAddress"), "must differ from platform.packet.apiAddress"));
    }
}

fn pools(config: &InstallConfig, packet: &packet::Platform, report: &mut Report) {
    let control_plane = (Role::Master, "controlPlane.platform.packet".to_owned(), &config.control_plane);
    let compute = config.compute.iter().enumerate();
    let compute =
        compute.map(|(i, pool)| (Role::Worker, format!("{}.platform.packet", path::index("compute", i)), pool));
    for (role, place, pool) in std::iter::once(control_plane).chain(compute) {
        let resolved = config.packet_pool(pool);
        let masters = role == Role::Master;
        if masters && resolved.spot.is_some() {
            let rule = "must be left out: a control plane cannot be taken away with two minutes' notice";
            report.problem(Problem::new(path::key(&place, "spot"), rule));
        }
        if !resolved.public_ipv4 && masters {
            report.problem(Problem::new(path::key(&place, "publicIPv4"), "must be true for masters"));
        }
        if !resolved.public_ipv4 && matches!(packet.os, Os::Ipxe(_)) {
            let rule = "must be true: the platform starts machines from the network only with a public address";
            report.problem(Problem::new(path::key(&place, "publicIPv4"), rule).suggest("use platform.packet.os.slug"));
        }
        if resolved.spot.is_some() && !resolved.hardware_reservations.is_empty() {
            let rule = "must be left out: reserved hardware is paid for already";
            report.problem(Problem::new(path::key(&place, "spot"), rule));
        }
        unique(report, &path::key(&place, "plans"), resolved.plans.iter().map(String::as_str));
        for (i, id) in resolved.hardware_reservations.iter().enumerate() {
            if id != "next-available" && uuid::Uuid::try_parse(id).is_err() {
                let place = path::index(&path::key(&place, "hardwareReservations"), i);
                report.problem(Problem::new(place, "must be an id, or next-available").value(id));
            }
        }
    }
}

fn exactly_one(report: &mut Report, first: (&str, bool), second: (&str, bool)) {
    match (first.1, second.1) {
        (true, true) => report.problem(Problem::new(second.0, format!("must be left out where {} is given", first.0))),
        (false, false) => {
            report.problem(Problem::new(first.0, "is missing").suggest(format!("give it, or {}", second.0)));
        }
        _ => {}
    }
}

fn unique<'a>(report: &mut Report, list: &str, names: impl Iterator<Item = &'a str>) {
    let mut seen = HashSet::new();
    for (i, name) in names.enumerate() {
        if !seen.insert(name) {
            report.problem(Problem::new(path::index(list, i), "must be unique in the list").value(name));
        }
    }
}

fn is_code(code: &str) -> bool {
    (2..=8).contains(&code.len()) && code.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
}
