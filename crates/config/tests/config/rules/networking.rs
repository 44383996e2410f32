//! Address ranges.

use landfall_config::NetworkType;

use super::{DUAL, refused, welcome};
use crate::support::{accepted, assert_notice, assert_problem};

#[test]
fn network_types() {
    let secret = "pullSecret={\"auths\":{\"a\":{\"auth\":\"b\"}}}";
    refused(&[
        (
            "networking.networkType=OVNKubernetes",
            "networking.networkType",
            "must be 'Routed' or 'None' with distribution 'kubernetes'",
        ),
        (
            "networking.networkType=OpenShiftSDN",
            "networking.networkType",
            "must be 'Routed', 'None' or 'OVNKubernetes'",
        ),
    ]);
    assert_problem(
        &["distribution=okd", secret, "networking.networkType=None"],
        "networking.networkType",
        "must be 'OVNKubernetes' with distribution 'okd'",
    );
    assert_problem(
        &["distribution=okd", secret, "networking.clusterNetwork[0].cidr=100.64.0.0/14"],
        "networking.clusterNetwork[0].cidr",
        "must not overlap 100.64.0.0/16, which OVN-Kubernetes uses inside",
    );
    assert_eq!(accepted(&[]).config.networking.network_type, Some(NetworkType::Routed));
    let okd = accepted(&["distribution=okd", secret]).config;
    assert_eq!(okd.networking.network_type, Some(NetworkType::OvnKubernetes));
}

#[test]
fn address_ranges() {
    refused(&[
        ("networking.machineNetwork[0].cidr=192.0.2.1/24", "networking.machineNetwork[0].cidr", "write 192.0.2.0/24"),
        ("networking.serviceNetwork=[172.30.1.0/16]", "networking.serviceNetwork[0]", "write 172.30.0.0/16"),
        (
            "networking.machineNetwork[1].cidr=192.0.2.128/25",
            "networking.machineNetwork[1].cidr",
            "must not overlap networking.machineNetwork[0].cidr (192.0.2.0/24)",
        ),
        (
            "networking.clusterNetwork[0].cidr=172.16.0.0/12",
            "networking.serviceNetwork[0]",
            "must not overlap networking.clusterNetwork[0].cidr",
        ),
        (
            "networking.machineNetwork[1].cidr=10.128.0.0/16",
            "networking.clusterNetwork[0].cidr",
            "must not overlap networking.machineNetwork[1].cidr",
        ),
        ("networking.machineNetwork[1].cidr=224.0.0.0/8", "networking.machineNetwork[1].cidr", "is for multicast"),
        ("networking.machineNetwork[1].cidr=169.254.3.0/24", "networking.machineNetwork[1].cidr", "is link-local"),
        (
            "networking.machineNetwork[0].cidr=192.0.2.0",
            "networking.machineNetwork[0].cidr",
            "must have a prefix length\n    write 192.0.2.0/24",
        ),
        ("networking.machineNetwork[0].cidr=x", "networking.machineNetwork[0].cidr", "must be a network"),
        ("networking.clusterNetwork=[]", "networking.clusterNetwork", "must have at least one network"),
        ("networking.serviceNetwork=[]", "networking.serviceNetwork", "must have at least one network"),
        ("networking.serviceNetwork=[172.0.0.0/11]", "networking.serviceNetwork[0]", "prefix length from 12 to 28"),
        ("networking.serviceNetwork=[172.30.0.0/29]", "networking.serviceNetwork[0]", "prefix length from 12 to 28"),
        (
            "networking.serviceNetwork=[172.30.0.0/16, 172.31.0.0/16]",
            "networking.serviceNetwork",
            "at most one IPv4 network",
        ),
        (
            "networking.clusterNetwork=[{cidr: 10.128.0.0/14}, {cidr: 10.132.0.0/14}]",
            "networking.clusterNetwork",
            "at most one IPv4 network with distribution 'kubernetes'",
        ),
        ("networking.machineNetwork[0].cidr=192.0.2.0/29", "networking.machineNetwork", "must have 8 IPv4 addresses"),
    ]);
    assert_notice(&["networking.machineNetwork[1].cidr=127.0.0.0/8"], "networking.machineNetwork[1].cidr", "loopback");
    welcome(&["networking.serviceNetwork=[172.30.0.0/28]", "networking.clusterNetwork[0].cidr=100.64.0.0/14"]);
    let many: Vec<String> = (0..33).map(|i| format!("{{cidr: 192.0.{}.0/24}}", i + 2)).collect();
    assert_problem(
        &[&format!("networking.machineNetwork=[{}]", many.join(", "))],
        "networking",
        "must have at most 32 networks, not 35",
    );
}

#[test]
fn host_prefixes() {
    let cluster = |rest: &str| format!("networking.clusterNetwork=[{{cidr: {rest}}}]");
    let path = "networking.clusterNetwork[0].hostPrefix";
    refused(&[
        (&cluster("10.128.0.0/14, hostPrefix: 13"), path, "must be at least 14"),
        (&cluster("10.128.0.0/20, hostPrefix: 31"), path, "must be at most 30"),
        (&cluster("10.0.0.0/9, hostPrefix: 26"), path, "must be at most 25, which is 16 more"),
        (&cluster("10.128.0.0/14, hostPrefix: 129"), path, "must be a whole number from 1 to 128"),
        (
            &cluster("10.128.0.0/22, hostPrefix: 24"),
            "networking.clusterNetwork",
            "for each of 6 machines (with the bootstrap machine), and has 4",
        ),
    ]);
    welcome(&[&cluster("10.128.0.0/14, hostPrefix: 30"), &cluster("10.128.0.0/21, hostPrefix: 24")]);
    assert_problem(
        &[DUAL, "networking.clusterNetwork[1].hostPrefix=40"],
        "networking.clusterNetwork[1].hostPrefix",
        "must be at least 48",
    );
    let secret = "pullSecret={\"auths\":{\"a\":{\"auth\":\"b\"}}}";
    assert_problem(
        &[DUAL, "distribution=okd", secret, "networking.clusterNetwork[1].hostPrefix=60"],
        "networking.clusterNetwork[1].hostPrefix",
        "must be 64 for IPv6",
    );
    let config = accepted(&[DUAL]).config;
    let prefixes: Vec<_> = config.networking.cluster_network.iter().map(|network| network.host_prefix).collect();
    assert_eq!(prefixes, [Some(23), Some(64)]);
}

#[test]
fn address_families() {
    accepted(&[DUAL]);
    for (assignment, path, fragment) in [
        (
            "networking.serviceNetwork=[172.30.0.0/16]",
            "networking.serviceNetwork",
            "must have an IPv6 network, because networking.clusterNetwork has one",
        ),
        (
            "networking.clusterNetwork=[{cidr: 10.128.0.0/14}]",
            "networking.clusterNetwork",
            "must have an IPv6 network, because networking.serviceNetwork has one",
        ),
        ("networking.machineNetwork=[{cidr: 192.0.2.0/24}]", "networking.machineNetwork", "must have an IPv6 network"),
        (
            "networking.machineNetwork=[{cidr: 'fd00::/64'}, {cidr: 192.0.2.0/24}]",
            "networking.machineNetwork",
            "must have an IPv4 network first",
        ),
        (
            "networking.clusterNetwork=[{cidr: 'fd01::/48'}, {cidr: 10.128.0.0/14}]",
            "networking.clusterNetwork",
            "must have an IPv4 network first",
        ),
        ("networking.serviceNetwork[1]=fd02::/64", "networking.serviceNetwork[1]", "prefix length from 108 to 124"),
    ] {
        assert_problem(&[DUAL, assignment], path, fragment);
    }
    accepted(&[
        "networking={machineNetwork: [{cidr: 'fd00::/64'}], clusterNetwork: [{cidr: 'fd01::/48'}], serviceNetwork: ['fd02::/112']}",
        "platform.ovirt.api_vips=['fd00::5']",
        "platform.ovirt.ingress_vips=['fd00::6']",
    ]);
}

#[test]
fn proxies() {
    refused(&[
        ("proxy={}", "proxy", "must have httpProxy, httpsProxy or both"),
        ("proxy={httpProxy: 'https://proxy'}", "proxy.httpProxy", "begins with http://"),
        ("proxy={httpProxy: 'proxy:3128'}", "proxy.httpProxy", "begins with http://"),
        ("proxy={httpsProxy: 'socks5://proxy'}", "proxy.httpsProxy", "begins with http:// or https://"),
        ("proxy={httpProxy: 'http://10.128.3.4:3128'}", "proxy.httpProxy", "must not lie in 10.128.0.0/14"),
        ("proxy={httpProxy: 'http://a', noProxy: 'a, b'}", "proxy.noProxy", "only commas"),
        ("proxy={httpProxy: 'http://a', noProxy: '*.a'}", "proxy.noProxy", "must not have '*' in an entry"),
        ("proxy={httpProxy: 'http://a', noProxy: 'a,,b'}", "proxy.noProxy", "empty entry"),
        ("proxy={httpProxy: 'http://a', noProxy: 'a/b'}", "proxy.noProxy", "names, domains, addresses and networks"),
    ]);
    welcome(&[
        "proxy={httpProxy: 'http://user:pass@192.0.2.9:3128', httpsProxy: 'https://proxy'}",
        "proxy={httpsProxy: 'http://proxy', noProxy: '*'}",
        "proxy={httpsProxy: 'http://proxy', noProxy: 'host,.example.com,Example.org,10.0.0.0/8,fd00::1,2001:db8::/32'}",
    ]);
}

#[test]
fn public_dns() {
    let rfc2136 =
        |rest: &str| format!("dns={{rfc2136: {{server: ns1.example.com, keyName: landfall, keyFile: /k{rest}}}}}");
    refused(&[
        ("dns={}", "dns", "must name one of: rfc2136, route53, cloudflare, cis, dnsServices, manual"),
        ("dns={manual: {}, route53: {}}", "dns", "must name exactly one of"),
        ("dns={bind: {}}", "dns.bind", "is not known"),
        (&rfc2136(", ttl: 5"), "dns.rfc2136.ttl", "from 60 to 86400 seconds"),
        (
            &rfc2136(", zone: example.org"),
            "dns.rfc2136.zone",
            "must hold the cluster's domain demo.example.com\n    leave it out to use example.com",
        ),
        (&rfc2136(", zone: ample.com"), "dns.rfc2136.zone", "must hold the cluster's domain"),
        (&rfc2136(", zone: a b"), "dns.rfc2136.zone", "must be a domain"),
        (&rfc2136(", keyAlgorithm: hmac-md5"), "dns.rfc2136.keyAlgorithm", "must be 'hmac-sha256'"),
        ("dns={rfc2136: {server: 'a:b', keyName: k, keyFile: f}}", "dns.rfc2136.server", "must be a host or host:port"),
        ("dns={rfc2136: {server: 'a:0', keyName: k, keyFile: f}}", "dns.rfc2136.server", "must be a host or host:port"),
        (
            "dns={rfc2136: {server: '[::1]x', keyName: k, keyFile: f}}",
            "dns.rfc2136.server",
            "must be a host or host:port",
        ),
        ("dns={rfc2136: {server: a, keyName: 'k k', keyFile: f}}", "dns.rfc2136.keyName", "must be a domain"),
        ("dns={rfc2136: {server: a, keyName: k, keyFile: ''}}", "dns.rfc2136.keyFile", "must not be empty"),
        ("dns={cloudflare: {}}", "dns.cloudflare.tokenFile", "is missing"),
        ("dns={cloudflare: {tokenFile: f, ttl: 0}}", "dns.cloudflare.ttl", "from 60"),
        ("dns={route53: {endpoint: 'file:///x'}}", "dns.route53.endpoint", "http:// or https://"),
    ]);
    welcome(&[
        &rfc2136(", zone: example.com., ttl: 60, keyAlgorithm: hmac-sha512"),
        &rfc2136(", zone: demo.example.com"),
        "dns={rfc2136: {server: '[fd00::1]:5353', keyName: Key.example, keyFile: f}}",
        "dns={rfc2136: {server: 'fd00::1', keyName: k, keyFile: f}}",
        "dns={rfc2136: {server: '192.0.2.53:53', keyName: k, keyFile: f}}",
        "dns={route53: {}}",
        "dns={cloudflare: {tokenFile: f}}",
        "dns={manual: {}}",
    ]);
}
