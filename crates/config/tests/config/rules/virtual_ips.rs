//! Virtual addresses.

use super::{DUAL, refused};
use crate::support::{accepted, assert_problem};

#[test]
fn virtual_addresses() {
    refused(&[
        (
            "platform.ovirt.api_vips=[198.51.100.5]",
            "platform.ovirt.api_vips[0]",
            "must lie in the machine network (192.0.2.0/24)",
        ),
        (
            "platform.ovirt.ingress_vips=[192.0.2.5]",
            "platform.ovirt.ingress_vips[0]",
            "must differ from platform.ovirt.api_vips[0]",
        ),
        (
            "platform.ovirt.api_vips=[192.0.2.0]",
            "platform.ovirt.api_vips[0]",
            "must not be the first address of 192.0.2.0/24",
        ),
        (
            "platform.ovirt.api_vips=[192.0.2.255]",
            "platform.ovirt.api_vips[0]",
            "must not be the broadcast address of 192.0.2.0/24",
        ),
        ("platform.ovirt.api_vips=", "platform.ovirt.api_vips", "is missing\n    name an unused address"),
        ("platform.ovirt.ingress_vips=[]", "platform.ovirt.ingress_vips", "is missing"),
        ("platform.ovirt.api_vips=[192.0.2.7, 192.0.2.8]", "platform.ovirt.api_vips", "at most one IPv4 address"),
        (
            "platform.ovirt.api_vips=[192.0.2.5/24]",
            "platform.ovirt.api_vips[0]",
            "must be one address, not a network\n    write 192.0.2.5",
        ),
        ("platform.ovirt.api_vips=[demo]", "platform.ovirt.api_vips[0]", "must be an IP address"),
    ]);
    let without_network = "networking.machineNetwork=";
    for (assignment, path, fragment) in [
        (
            "platform.ovirt.api_vips=[10.128.0.5]",
            "platform.ovirt.api_vips[0]",
            "must not lie in 10.128.0.0/14, which is inside the cluster",
        ),
        ("platform.ovirt.api_vips=[172.30.0.5]", "platform.ovirt.api_vips[0]", "must not lie in 172.30.0.0/16"),
        (
            "platform.ovirt.api_vips=['fd00::5']",
            "platform.ovirt.api_vips[0]",
            "must be an IPv4 address like the first of networking.serviceNetwork",
        ),
        (
            "platform.ovirt.api_vips=[192.0.2.5, 'fd00::5']",
            "platform.ovirt.api_vips[1]",
            "must be left out: networking.serviceNetwork has no IPv6 network",
        ),
        (
            "platform.ovirt.api_vips=[224.0.0.1]",
            "platform.ovirt.api_vips[0]",
            "must be an address that a machine can have",
        ),
        (
            "platform.ovirt.api_vips=[169.254.0.1]",
            "platform.ovirt.api_vips[0]",
            "must be an address that a machine can have",
        ),
        (
            "platform.ovirt.api_vips=[0.0.0.0]",
            "platform.ovirt.api_vips[0]",
            "must be an address that a machine can have",
        ),
    ] {
        assert_problem(&[without_network, assignment], path, fragment);
    }
}

#[test]
fn virtual_addresses_are_never_compared_with_a_network_that_nobody_gave() {
    for vips in [["10.0.5.5", "10.0.5.6"], ["198.51.100.5", "203.0.113.6"]] {
        let parsed = accepted(&[
            "networking.machineNetwork=",
            &format!("platform.ovirt.api_vips=[{}]", vips[0]),
            &format!("platform.ovirt.ingress_vips=[{}]", vips[1]),
        ]);
        assert_eq!(parsed.config.networking.machine_network, []);
        assert!(parsed.notices.iter().any(|notice| notice.path == "networking.machineNetwork"));
    }
}

#[test]
fn dual_stack_virtual_addresses_come_in_order() {
    let config = accepted(&[
        DUAL,
        "platform.ovirt.api_vips=['fd00::5', 192.0.2.5]",
        "platform.ovirt.ingress_vips=[192.0.2.6, 'fd00::6']",
    ])
    .config;
    assert_eq!(config.api_vips(), ["192.0.2.5".parse::<std::net::IpAddr>().unwrap(), "fd00::5".parse().unwrap()]);
    accepted(&[DUAL]);
}

#[test]
fn a_load_balancer_of_ones_own_may_be_anywhere() {
    for vips in ["", "[198.51.100.5]"] {
        accepted(&[
            "loadBalancer=userManaged",
            &format!("platform.ovirt.api_vips={vips}"),
            &format!("platform.ovirt.ingress_vips={vips}"),
        ]);
    }
}
