//! The PowerVS section.

use landfall_config::{Architecture, EndpointHolder, parse_tree, parse_yaml, tree};
use serde_json::Value;

use crate::support::problems_of;

const EXAMPLE: &str = include_str!("../../../../../examples/powervs/install-config.yaml");
const RSA: &str = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDJ+xxnWQnOO7F0yzKaPGB+dQUYVJHCyEs6gRHp1iVBpVcgFuaKbkMlRWvqKwKJxNAJZfR7xlQ8wdT9m1FzmRZx0bmzqZ6lRaUXKXN8PZ8JrwQdLQfyGZ9qFNYjWlBIdJZ6nZ3xNlYq9cyb7sfBjOUuT6+VEQ9CGZbG7rT+9KFiQdWqvYbYbHnBgqEpDkRxbYbS6zKLhYDQ9T6mJqhTwQyvXCLwRUO8HPXFq1BBR3bmzvvP2N3hZFSx5BH0sEUX4N2oPmkWfC0yqVhTxHBpD6WJfWjHhUsHQ4t0hO6NCeMOKHlqQj4Ij4gQ9cCNEhFSUuQ3FT6nUlZLZ0vXxZ5kWQ7B demo";

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
    assert_eq!(config.architecture(), Architecture::Ppc64le);
    let section = config.platform.powervs().unwrap();
    assert_eq!(section.region(), "dal");
    assert_eq!((section.vpc_region().as_deref(), section.is_global()), (Some("us-south"), false));
    assert_eq!(config.powervs_pool(&config.control_plane).memory_gib, 32);
    // Not an RSA key: it gets to the machines with their config, and the platform is not bothered with it.
    assert_eq!(config.powervs_ssh_key(), None);
}

#[test]
fn an_rsa_key_is_one_for_the_platform() {
    let config = parse_tree(changed(&[&format!("sshKey='{RSA}'")])).unwrap().config;
    assert_eq!(config.powervs_ssh_key(), Some(RSA));
}

#[test]
fn every_rule_with_something_that_breaks_it() {
    for (assignment, path, fragment) in [
        ("platform.powervs.zone=nowhere1", "platform.powervs.zone", "must be a zone"),
        ("platform.powervs.zone=mon01", "platform.powervs.vpcRegion", "is missing"),
        ("platform.powervs.region=wdc", "platform.powervs.region", "must be that of the zone, 'dal'"),
        ("platform.powervs.vpcRegion=mars", "platform.powervs.vpcRegion", "must be a region of VPC"),
        ("platform.powervs.vpcSubnets=[a]", "platform.powervs.vpcSubnets", "must be left out without"),
        ("platform.powervs.image={existing: mine}", "platform.powervs.image.existing", "must be imported"),
        ("platform.powervs.publish=internal", "platform.powervs.vpcName", "is missing"),
        (
            "platform.powervs.serviceEndpoints=[{name: VPC, url: 'http://vpc.example.com/v1'}]",
            "platform.powervs.serviceEndpoints[0].url",
            "must begin with https://",
        ),
        (
            "platform.powervs.serviceEndpoints=[{name: VPC, url: 'https://a'}, {name: VPC, url: 'https://b'}]",
            "platform.powervs.serviceEndpoints[1].name",
            "must be unique",
        ),
        (
            "compute[0].architecture=amd64",
            "compute[0].architecture",
            "must be 'ppc64le': PowerVS has Power machines only",
        ),
        ("networking.machineNetwork=[{cidr: 192.168.0.0/16}]", "networking.machineNetwork", "exactly one IPv4 network"),
        ("networking.machineNetwork=[]", "networking.machineNetwork", "is missing"),
        ("compute[0].platform.powervs.processors=0.3", "compute[0].platform.powervs.processors", "in steps of 0.25"),
        (
            "compute[0].platform.powervs={procType: Dedicated, processors: 1.5}",
            "compute[0].platform.powervs.processors",
            "must be a whole number",
        ),
        ("controlPlane.platform.powervs.memoryGiB=2", "controlPlane.platform.powervs.memoryGiB", "must be at least 4"),
        ("controlPlane.platform.powervs.smtLevel='9'", "controlPlane.platform.powervs.smtLevel", "must be 1 to 8"),
        (
            "controlPlane.platform.powervs.processors='0.5'",
            "controlPlane.platform.powervs.processors",
            "must be a number",
        ),
        ("dns={manual: {}}", "dns.manual", "cannot be used"),
        ("dns={dnsServices: {}}", "dns.dnsServices", "its zones are private"),
        ("dns={cis: {instance: mine}}", "dns.cis.instance", "must be the CRN"),
        ("dns={cis: {zone: example.org}}", "dns.cis.zone", "must hold the cluster's domain"),
    ] {
        let problems = problems_of(changed(&[assignment]));
        let told = problems.iter().any(|problem| problem.path == path && problem.rule.contains(fragment));
        assert!(told, "{assignment}: {problems:?}");
    }
    let mut without = changed(&[]);
    without.as_object_mut().unwrap().shift_remove("dns");
    assert!(problems_of(without).iter().any(|problem| problem.path == "dns"));
}

#[test]
fn http_is_for_this_computer_only() {
    let here = "platform.powervs.serviceEndpoints=[{name: IAM, url: 'http://127.0.0.1:8080/iam'}]";
    assert!(parse_tree(changed(&[here])).is_ok());
}
