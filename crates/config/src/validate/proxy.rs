//! The HTTP proxy of the machines.

use std::net::IpAddr;

use ipnet::IpNet;
use url::{Host, Url};

use super::{Report, domain};
use crate::{InstallConfig, Problem, Proxy, format};

pub(super) fn check(config: &InstallConfig, report: &mut Report) {
    let Some(proxy) = &config.proxy else { return };
    let Proxy { http_proxy, https_proxy, no_proxy } = proxy;
    if http_proxy.is_none() && https_proxy.is_none() {
        report.problem(Problem::new("proxy", "must have httpProxy, httpsProxy or both"));
    }
    for (path, url, schemes) in
        [("proxy.httpProxy", http_proxy, &["http"][..]), ("proxy.httpsProxy", https_proxy, &["http", "https"])]
    {
        if let Some(url) = url {
            proxy_url(path, url, schemes, config, report);
        }
    }
    if let Some(no_proxy) = no_proxy {
        exceptions(no_proxy, report);
    }
}

fn proxy_url(path: &str, text: &str, schemes: &[&str], config: &InstallConfig, report: &mut Report) {
    let shown = format::without_password(text);
    let wanted = format!("must be a URL that begins with {}://", schemes.join(":// or "));
    let host = match Url::parse(text) {
        Ok(url) if schemes.contains(&url.scheme()) => url.host().map(|host| host.to_owned()),
        _ => None,
    };
    let address = match host {
        None => {
            report.problem(Problem::new(path, wanted).value(shown));
            return;
        }
        Some(Host::Ipv4(address)) => IpAddr::V4(address),
        Some(Host::Ipv6(address)) => IpAddr::V6(address),
        Some(Host::Domain(_)) => return,
    };
    let networking = &config.networking;
    let inside = networking.cluster_network.iter().map(|network| &network.cidr).chain(&networking.service_network);
    for network in inside.filter(|network| network.contains(&address)) {
        report.problem(
            Problem::new(path, format!("must not lie in {network}, which is inside the cluster")).value(&shown),
        );
    }
}

/// `*` alone, or names, `.domains`, addresses and networks with commas between.
fn exceptions(text: &str, report: &mut Report) {
    const PATH: &str = "proxy.noProxy";
    if text == "*" {
        return;
    }
    for entry in text.split(',') {
        let problem = if entry.is_empty() {
            Problem::new(PATH, "must not have an empty entry").value(text)
        } else if entry.contains(char::is_whitespace) {
            Problem::new(PATH, "must have only commas between its entries, no spaces").value(entry)
        } else if entry.contains('*') {
            Problem::new(PATH, "must not have '*' in an entry")
                .value(entry)
                .suggest("write '.example.com' for all names below example.com")
        } else if is_exception(entry) {
            continue;
        } else {
            Problem::new(PATH, "must be made of names, domains, addresses and networks").value(entry)
        };
        report.problem(problem);
    }
}

fn is_exception(entry: &str) -> bool {
    let name = entry.strip_prefix('.').unwrap_or(entry);
    entry.parse::<IpAddr>().is_ok()
        || entry.parse::<IpNet>().is_ok()
        || domain::domain_name("", &name.to_ascii_lowercase()).is_none()
}
