//! The PowerVM section.

use landfall_config::{Architecture, EndpointHolder, parse_tree, parse_yaml, powervm::Sharing, tree};
use serde_json::Value;

use crate::support::problems_of;

const EXAMPLE: &str = include_str!("../../../../../examples/powervm/install-config.yaml");

fn changed(assignments: &[&str]) -> Value {
    let mut config = parse_yaml(EXAMPLE.as_bytes()).unwrap();
    for assignment in assignments {
        tree::set(&mut config, assignment).unwrap_or_else(|error| panic!("{assignment}: {error}"));
    }
    config
}

#[test]
fn the_example_is_good_and_the_machines_hold_their_endpoint() {
    let config = parse_tree(changed(&[])).unwrap().config;
    assert_eq!(config.endpoint_holder(), EndpointHolder::Machines);
    assert_eq!(config.architecture(), Architecture::Ppc64le);
    assert_eq!(config.api_vips().len(), 1);
    let pool = config.powervm_pool(&config.control_plane);
    assert_eq!((pool.processors, pool.memory_gib, pool.disk_gib), (2, 16, 120));
    assert_eq!(pool.hosts, ["power-a", "power-b", "power-c"]);
}

#[test]
fn a_pool_goes_before_the_default_and_keeps_to_its_servers() {
    let own = "compute[0].platform.powervm={processors: 4, processingUnits: 4.0, sharing: dedicated, hosts: [power-c, power-a]}";
    let config = parse_tree(changed(&[own])).unwrap().config;
    let pool = config.powervm_pool(&config.compute[0]);
    assert_eq!((pool.processors, pool.sharing, pool.memory_gib), (4, Sharing::Dedicated, 16));
    assert_eq!(pool.hosts, ["power-a", "power-c"]);
}

#[test]
fn every_rule_with_something_that_breaks_it() {
    for (assignment, path, fragment) in [
        ("platform.powervm.hosts=[]", "platform.powervm.hosts", "must name at least one server"),
        ("platform.powervm.hosts[1].name=power-a", "platform.powervm.hosts[1].name", "must be unique"),
        (
            "platform.powervm.hosts[1].address=novalink-a.example.com",
            "platform.powervm.hosts[1].address",
            "each server has a NovaLink of its own",
        ),
        (
            "platform.powervm.hosts[0].address=http://novalink-a.example.com",
            "platform.powervm.hosts[0].address",
            "must begin with https://",
        ),
        (
            "platform.powervm.hosts[0].address=https://me:secret@novalink",
            "platform.powervm.hosts[0].address",
            "must not hold credentials",
        ),
        ("platform.powervm.hosts[0].address=a b", "platform.powervm.hosts[0].address", "must be a host name"),
        (
            "platform.powervm.network={sharedEthernet: {vlan: 4095}}",
            "platform.powervm.network.sharedEthernet.vlan",
            "4094",
        ),
        (
            "platform.powervm.storage={volumeGroup: {name: datavg}}",
            "platform.powervm.image.logicalUnit",
            "must be in a shared storage pool",
        ),
        (
            "platform.powervm={storage: {volumeGroup: {name: datavg}}, image: {disk: fcos.raw}, network: {openVswitch: {bridge: br}}, \
             hosts: [{name: a, address: a}], api_vips: [127.66.0.5], ingress_vips: [127.66.0.6]}",
            "platform.powervm.image.disk",
            "must be a URL",
        ),
        ("platform.powervm.image={disk: 'ftp://a/b'}", "platform.powervm.image.disk", "http://"),
        ("platform.powervm.vrrp={api: 7, ingress: 7}", "platform.powervm.vrrp.ingress", "must differ"),
        ("platform.powervm.api_vips=[]", "platform.powervm.api_vips", "is missing"),
        ("platform.powervm.api_vips=[192.0.2.1]", "platform.powervm.api_vips[0]", "must lie in the machine network"),
        ("metadata.name=a-long-name-it-is", "metadata.name", "must be at most 12 characters"),
        ("compute[0].name=a-long-name-it-is", "metadata.name", "must be at most 1 characters"),
        (
            "compute[0].architecture=amd64",
            "compute[0].architecture",
            "must be 'ppc64le': PowerVM has Power machines only",
        ),
        (
            "compute[0].platform.powervm.hosts=[power-x]",
            "compute[0].platform.powervm.hosts[0]",
            "must be the name of a server",
        ),
        (
            "compute[0].platform.powervm={processors: 8, processingUnits: 0.3}",
            "compute[0].platform.powervm.processingUnits",
            "must be from 0.05 to 1 for each of 8",
        ),
        (
            "controlPlane.platform.powervm={sharing: dedicated, processingUnits: 0.5}",
            "controlPlane.platform.powervm.processingUnits",
            "must be left out",
        ),
        ("controlPlane.platform.powervm.memoryGiB=2", "controlPlane.platform.powervm.memoryGiB", "must be at least 4"),
    ] {
        let problems = problems_of(changed(&[assignment]));
        let told = problems.iter().any(|problem| problem.path == path && problem.to_string().contains(fragment));
        assert!(told, "{assignment}: {problems:#?}");
    }
}

#[test]
fn the_password_of_an_address_is_not_shown() {
    let problems = problems_of(changed(&["platform.powervm.hosts[0].address=https://me:hunter2@novalink"]));
    assert!(!format!("{problems:?}").contains("hunter2"), "{problems:?}");
}

#[test]
fn masters_that_share_a_server_are_told_of() {
    let parsed = parse_tree(changed(&["controlPlane.replicas=5"])).unwrap();
    assert!(parsed.notices.iter().any(|notice| notice.message.contains("some masters share one")));
}
