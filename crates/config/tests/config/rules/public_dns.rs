//! Where public DNS records are made.

use landfall_config::{Dns, parse};

use super::{refused, welcome};
use crate::support::EXAMPLE;

const EXAMPLES: [&str; 4] = [
    include_str!("../../../../../examples/dns/rfc2136.yaml"),
    include_str!("../../../../../examples/dns/route53.yaml"),
    include_str!("../../../../../examples/dns/cloudflare.yaml"),
    include_str!("../../../../../examples/dns/manual.yaml"),
];

#[test]
fn the_examples_are_good() {
    let sections = EXAMPLES.map(|section| {
        let parsed = parse(format!("{EXAMPLE}{section}").as_bytes());
        parsed.unwrap_or_else(|error| panic!("{section}: {error}")).config.dns.unwrap()
    });
    assert!(matches!(sections, [Dns::Rfc2136(_), Dns::Route53(_), Dns::Cloudflare(_), Dns::Manual(_)]));
}

#[test]
fn reverse_zones_endpoints_and_times_to_live() {
    let server = r#"dns={"rfc2136": {"server": "ns1.example.com", "keyName": "k", "keyFile": "f", "reverseZones": ["#;
    let reverse = |zone: &str| format!("{server}\"{zone}\"]}}}}");
    let (forward, glued) = (reverse("example.com"), reverse("xin-addr.arpa"));
    refused(&[
        (&forward, "dns.rfc2136.reverseZones[0]", "must be a zone below in-addr.arpa or ip6.arpa"),
        (&glued, "dns.rfc2136.reverseZones[0]", "must be a zone below in-addr.arpa or ip6.arpa"),
        ("dns.manual.ttl=30", "dns.manual.ttl", "must be from 60 to 86400 seconds"),
        (
            r#"dns={"cloudflare": {"tokenFile": "t", "endpoint": "ftp://example.com"}}"#,
            "dns.cloudflare.endpoint",
            "must be a URL that begins with http:// or https://",
        ),
        (
            r#"dns={"cloudflare": {"tokenFile": "t", "zone": "ample.com"}}"#,
            "dns.cloudflare.zone",
            "must hold the cluster's domain demo.example.com",
        ),
    ]);
    let (four, six) = (reverse("2.0.192.in-addr.arpa"), reverse("8.b.d.0.1.0.0.2.ip6.arpa."));
    welcome(&[&four, &six, "dns.manual.ttl=60", "dns.route53.zone=com"]);
}
