//! The Packet section.

use landfall_config::{EndpointHolder, packet, parse_tree, parse_yaml, tree};
use serde_json::Value;

use crate::support::problems_of;

const EXAMPLE: &str = include_str!("../../../../../examples/packet/install-config.yaml");

fn changed(assignments: &[&str]) -> Value {
    let mut config = parse_yaml(EXAMPLE.as_bytes()).unwrap();
    for assignment in assignments {
        tree::set(&mut config, assignment).unwrap_or_else(|error| panic!("{assignment}: {error}"));
    }
    config
}

#[test]
fn the_example_is_good_and_the_platform_holds_its_endpoint() {
    let config = parse_tree(changed(&[])).unwrap().config;
    assert_eq!(config.endpoint_holder(), EndpointHolder::Platform);
    assert_eq!(config.packet_pool(&config.control_plane).plans[0], "c3.small.x86");
    let theirs = parse_tree(changed(&["loadBalancer=userManaged"])).unwrap().config;
    assert_eq!(theirs.endpoint_holder(), EndpointHolder::User);
}

#[test]
fn the_bootstrap_machine_uses_no_reserved_hardware_unless_told() {
    let reserved = "controlPlane.platform.packet.hardwareReservations=[next-available]";
    let config = parse_tree(changed(&[reserved])).unwrap().config;
    assert!(config.packet_bootstrap().hardware_reservations.is_empty());
    assert_eq!(config.packet_pool(&config.control_plane).hardware_reservations, ["next-available"]);
}

#[test]
fn every_rule_with_something_that_breaks_it() {
    for (assignment, path, fragment) in [
        ("platform.packet.newProject={}", "platform.packet.newProject", "must be left out"),
        ("platform.packet.metros=[]", "platform.packet.metros", "is missing"),
        ("platform.packet.facilities=[ewr1]", "platform.packet.facilities", "must be left out"),
        ("platform.packet.metros=[Dallas]", "platform.packet.metros[0]", "must be the code of a place"),
        ("platform.packet.metros=[da, da]", "platform.packet.metros[1]", "must be unique"),
        ("platform.packet.assetHost={url: 'http://assets.example.com'}", "platform.packet.assetHost.url", "https://"),
        (
            "platform.packet.assetHost={bucket: {name: Assets}}",
            "platform.packet.assetHost.bucket.name",
            "lower case letters",
        ),
        (
            "platform.packet.assetHost={bucket: {name: assets, endpoint: 'http://s3.example.com'}}",
            "platform.packet.assetHost.bucket.endpoint",
            "https://",
        ),
        (
            "platform.packet.assetHost={bucket: {name: assets, linkMinutes: 20000}}",
            "platform.packet.assetHost.bucket.linkMinutes",
            "from 10 to 10080",
        ),
        ("platform.packet.os.ipxe.kernel='http://mirror.example.com/k'", "platform.packet.os.ipxe.kernel", "https://"),
        (
            "platform.packet.os.ipxe.initramfs='tftp://mirror.example.com/i'",
            "platform.packet.os.ipxe.initramfs",
            "https://",
        ),
        (
            "platform.packet.os.ipxe.kernelArguments=['ignition.config.url=http://assets.example.com/a.ign']",
            "platform.packet.os.ipxe.kernelArguments[0]",
            "https://",
        ),
        (
            "platform.packet.os.ipxe.kernelArguments=['a=b coreos.inst.ignition_url=http://assets.example.com/a.ign']",
            "platform.packet.os.ipxe.kernelArguments[0]",
            "coreos.inst.ignition_hash",
        ),
        (
            "platform.packet.os.ipxe.kernelArguments=[nosmt, coreos.inst.insecure]",
            "platform.packet.os.ipxe.kernelArguments[1]",
            "must be verified",
        ),
        ("platform.packet.ingressAddress='2001:db8::1'", "platform.packet.ingressAddress", "must be an IPv4 address"),
        ("platform.packet.ingressAddress=127.66.1.0", "platform.packet.ingressAddress", "must differ"),
        ("platform.packet.endpoint=anycast", "platform.packet.endpoint", "must be"),
        (
            "controlPlane.platform.packet.spot={maxPriceCents: 20}",
            "controlPlane.platform.packet.spot",
            "two minutes' notice",
        ),
        ("controlPlane.platform.packet.publicIPv4=false", "controlPlane.platform.packet.publicIPv4", "must be true"),
        ("compute[0].platform.packet.publicIPv4=false", "compute[0].platform.packet.publicIPv4", "must be true"),
        (
            "compute[0].platform.packet.hardwareReservations=[mine]",
            "compute[0].platform.packet.hardwareReservations[0]",
            "must be an id",
        ),
    ] {
        let problems = problems_of(changed(&[assignment]));
        let told = problems.iter().any(|problem| problem.path == path && problem.rule.contains(fragment));
        assert!(told, "{assignment}: {problems:?}");
    }
}

#[test]
fn a_manager_of_services_needs_a_project_and_a_session_of_its_own() {
    let manager = "platform.packet.cloudControllerManager={}";
    assert!(parse_tree(changed(&[manager])).is_ok());
    let bgp = problems_of(changed(&[manager, "platform.packet.endpoint=bgp"]));
    assert!(bgp.iter().any(|problem| problem.path == "platform.packet.cloudControllerManager.services"), "{bgp:?}");
    let script = problems_of(changed(&["platform.packet.kubeVipImage=a$(reboot)"]));
    assert!(script.iter().any(|problem| problem.path == "platform.packet.kubeVipImage"), "{script:?}");
    assert!(parse_tree(changed(&["platform.packet.kubeVipImage=ghcr.io/kube-vip/kube-vip@sha256:00"])).is_ok());
    let quiet = "platform.packet.cloudControllerManager={services: none}";
    assert!(parse_tree(changed(&[quiet, "platform.packet.endpoint=bgp"])).is_ok());
    let new = problems_of(changed(&[manager, "platform.packet.project=", "platform.packet.newProject={}"]));
    assert!(new.iter().any(|problem| problem.path == "platform.packet.cloudControllerManager"), "{new:?}");
}

#[test]
fn keys_that_are_not_there_cannot_be_added() {
    let problems = problems_of(changed(&["platform.packet.projectSshKeys=true", "sshKey="]));
    assert!(problems.iter().any(|problem| problem.path == "platform.packet.projectSshKeys"), "{problems:?}");
}

#[test]
fn addresses_that_are_not_known_yet_need_names() {
    let mut config = changed(&[]);
    config["platform"]["packet"].as_object_mut().unwrap().remove("apiAddress");
    assert!(problems_of(config.clone()).iter().any(|problem| problem.path == "dns"));
    tree::set(&mut config, "dns={manual: {}}").unwrap();
    assert!(problems_of(config).iter().any(|problem| problem.path == "dns.manual"));
    let round_robin = problems_of(changed(&["platform.packet.endpoint=dnsRoundRobin"]));
    assert!(round_robin.iter().any(|problem| problem.path == "platform.packet.apiAddress"), "{round_robin:?}");
}

#[test]
fn kernel_arguments_may_name_a_config_that_is_verified() {
    for arguments in [
        "['ignition.config.url=https://assets.example.com/a.ign']",
        "['coreos.inst.ignition_url=http://assets.example.com/a.ign coreos.inst.ignition_hash=sha256-00']",
        "['coreos.inst.ignition_url=http://assets.example.com/a.ign', 'coreos.inst.ignition_hash=sha256-00', nosmt]",
    ] {
        let problems = problems_of(changed(&[&format!("platform.packet.os.ipxe.kernelArguments={arguments}")]));
        assert!(problems.is_empty(), "{arguments}: {problems:?}");
    }
}

#[test]
fn kernels_come_in_plain_only_over_a_network_that_the_user_trusts() {
    let plain = [
        "platform.packet.os.ipxe.kernel='http://mirror.example.com/k'",
        "platform.packet.os.ipxe.initramfs='http://mirror.example.com/i'",
    ];
    let refused = problems_of(changed(&plain));
    assert_eq!(refused.len(), 2, "{refused:?}");
    let trusted = [plain[0], plain[1], "platform.packet.os.ipxe.trustBootNetwork=true"];
    let config = parse_tree(changed(&trusted)).unwrap_or_else(|error| panic!("{error}")).config;
    let packet::Os::Ipxe(ipxe) = &config.platform.packet().unwrap().os else { panic!("not started from the network") };
    assert!(ipxe.trust_boot_network);
    // The initramfs has the digest of the root file system.
    let rootfs = "platform.packet.os.ipxe.rootfs='http://mirror.example.com/r'";
    assert!(parse_tree(changed(&[rootfs])).is_ok());
}
