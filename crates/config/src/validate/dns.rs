//! The public DNS backends.

use std::net::IpAddr;

use super::{domain, powervs, sources};
use crate::{Dns, IbmDns, InstallConfig, Problem, path, report::Report};

/// The smallest time to live that all backends take.
const MIN_TTL: u32 = 60;
const MAX_TTL: u32 = 86400;

pub(super) fn check(config: &InstallConfig, report: &mut Report) {
    match &config.dns {
        None => {}
        Some(Dns::Manual(backend)) => ttl("dns.manual.ttl", backend.ttl, report),
        Some(Dns::Rfc2136(backend)) => {
            server(&backend.server, report);
            if let Some(problem) = domain::domain_name("dns.rfc2136.keyName", &backend.key_name.to_ascii_lowercase()) {
                report.problem(Problem { value: Some(backend.key_name.clone()), ..problem });
            }
            zone("dns.rfc2136.zone", backend.zone.as_deref(), config, report);
            for (i, zone) in backend.reverse_zones.iter().enumerate() {
                reverse_zone(&path::index("dns.rfc2136.reverseZones", i), zone, report);
            }
            ttl("dns.rfc2136.ttl", backend.ttl, report);
        }
        Some(Dns::Route53(backend)) => {
            zone("dns.route53.zone", backend.zone.as_deref(), config, report);
            ttl("dns.route53.ttl", backend.ttl, report);
            if let Some(endpoint) = &backend.endpoint {
                report.check(sources::web_url("dns.route53.endpoint", endpoint.as_str()));
            }
        }
        Some(Dns::Cis(backend)) => ibm("dns.cis", backend, config, report),
        Some(Dns::DnsServices(backend)) => ibm("dns.dnsServices", backend, config, report),
        Some(Dns::Cloudflare(backend)) => {
            zone("dns.cloudflare.zone", backend.zone.as_deref(), config, report);
            ttl("dns.cloudflare.ttl", backend.ttl, report);
            if let Some(endpoint) = &backend.endpoint {
                report.check(sources::web_url("dns.cloudflare.endpoint", endpoint.as_str()));
            }
        }
    }
}

fn ibm(section: &str, backend: &IbmDns, config: &InstallConfig, report: &mut Report) {
    zone(&path::key(section, "zone"), backend.zone.as_deref(), config, report);
    ttl(&path::key(section, "ttl"), backend.ttl, report);
    powervs::endpoints(&path::key(section, "serviceEndpoints"), &backend.service_endpoints, report);
    if let Some(instance) = backend.instance.as_ref().filter(|instance| !instance.starts_with("crn:v1:")) {
        let rule = "must be the CRN of an instance, which begins with crn:v1:";
        report.problem(Problem::new(path::key(section, "instance"), rule).value(instance));
    }
}

/// The records have to lie in the zone.
fn zone(path: &str, zone: Option<&str>, config: &InstallConfig, report: &mut Report) {
    let Some(zone) = zone else { return };
    if let Some(problem) = domain::domain_name(path, zone) {
        report.problem(problem);
        return;
    }
    let cluster = config.cluster_domain();
    if !domain::is_below(&cluster, zone.trim_end_matches('.')) {
        report.problem(
            Problem::new(path, format!("must hold the cluster's domain {cluster}"))
                .value(zone)
                .suggest(format!("leave it out to use {}", config.base_domain.trim_end_matches('.'))),
        );
    }
}

/// A zone that leads from addresses to names.
fn reverse_zone(path: &str, zone: &str, report: &mut Report) {
    if let Some(problem) = domain::domain_name(path, zone) {
        report.problem(problem);
    } else if !["in-addr.arpa", "ip6.arpa"].iter().any(|root| domain::is_below(zone.trim_end_matches('.'), root)) {
        report.problem(
            Problem::new(path, "must be a zone below in-addr.arpa or ip6.arpa")
                .value(zone)
                .suggest("the zone of 192.0.2.0/24 is 2.0.192.in-addr.arpa"),
        );
    }
}

fn ttl(path: &str, ttl: Option<u32>, report: &mut Report) {
    if let Some(ttl) = ttl.filter(|ttl| !(MIN_TTL..=MAX_TTL).contains(ttl)) {
        report.problem(Problem::new(path, format!("must be from {MIN_TTL} to {MAX_TTL} seconds")).value(ttl));
    }
}

/// `host`, `host:port`, an address, or `[IPv6]:port`.
fn server(text: &str, report: &mut Report) {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (host, port) = match (bracketed, text.rsplit_once(':')) {
        (Some((host, rest)), _) => (host, rest.strip_prefix(':').or((!rest.is_empty()).then_some("?"))),
        (None, Some((host, port))) if !host.contains(':') => (host, Some(port)),
        _ => (text, None),
    };
    let is_host = host.parse::<IpAddr>().is_ok() || domain::domain_name("", &host.to_ascii_lowercase()).is_none();
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    if !is_host || !is_port {
        report.problem(
            Problem::new("dns.rfc2136.server", "must be a host or host:port, like ns1.example.com or 192.0.2.53:5353")
                .value(text),
        );
    }
}
