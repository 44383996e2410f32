//! The virtual addresses, which nobody else may have, and the names that lead to them.

use std::net::{IpAddr, SocketAddr};

use futures::future::join_all;
use landfall_config::LoadBalancer;
use landfall_platform::Finding;

use super::{Subject, unanswered};
use crate::{Mark, client::Vm};

/// Ports that something answers on if the address belongs to a cluster already.
const PORTS: [u16; 4] = [6443, 22623, 443, 80];

pub(super) async fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if subject.config.load_balancer == LoadBalancer::Managed {
        findings.extend(unused(subject).await);
    }
    if subject.config.dns.is_none() {
        findings.extend(names(subject).await);
    }
    findings
}

async fn unused(subject: &Subject<'_>) -> Vec<Finding> {
    const CHECK: &str = "virtual addresses";
    let vms = match subject.client.all_vms().await {
        Ok(vms) => vms,
        Err(error) => return vec![unanswered(CHECK, &error)],
    };
    let mark = Mark::new(subject.infra_id.clone());
    let (own, others): (Vec<Vm>, Vec<Vm>) = vms.into_iter().partition(|vm| mark.is_on(&vm.description));
    let vips = subject.config.api_vips().iter().chain(subject.config.ingress_vips());
    let answers = join_all(vips.map(|vip| async {
        let probes = PORTS.map(|port| subject.surroundings.answers(SocketAddr::new(*vip, port)));
        (*vip, join_all(probes).await.into_iter().zip(PORTS).find(|(answers, _)| *answers).map(|(_, port)| port))
    }))
    .await;
    answers
        .into_iter()
        .map(|(vip, port)| {
            let holder = others.iter().find(|vm| vm.addresses().any(|address| address == vip));
            let hint = "choose an unused address, or release this one";
            match (holder, port) {
                (Some(vm), _) => Finding::problem(CHECK, format!("{vip} is an address of machine {}", vm.name), hint),
                (None, Some(port)) if own.is_empty() => {
                    Finding::problem(CHECK, format!("something answers at {vip} on port {port}"), hint)
                }
                (None, Some(_)) => Finding::ok(CHECK, format!("{vip} is held by the cluster itself")),
                (None, None) => Finding::ok(CHECK, format!("{vip} is unused")),
            }
        })
        .collect()
}

/// Records that the user makes.
async fn names(subject: &Subject<'_>) -> Vec<Finding> {
    let domain = subject.config.cluster_domain();
    let (api, ingress) = (subject.config.api_vips(), subject.config.ingress_vips());
    let records =
        [(format!("api.{domain}"), api), (format!("api-int.{domain}"), api), (format!("test.apps.{domain}"), ingress)];
    join_all(records.map(async |(name, expected)| record(subject, &name, expected).await)).await
}

async fn record(subject: &Subject<'_>, name: &str, expected: &[IpAddr]) -> Finding {
    const CHECK: &str = "DNS";
    let list = |addresses: &[IpAddr]| addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let shown = name.replacen("test.apps.", "*.apps.", 1);
    let wanted = if expected.is_empty() { "your load balancer".to_owned() } else { list(expected) };
    let hint = format!("make a record for {shown} that points to {wanted}, or set 'dns'");
    match subject.surroundings.resolve(name).await {
        Err(_) => Finding::notice(CHECK, format!("{shown} is not known here"), hint),
        Ok(found) if expected.is_empty() || found.iter().any(|address| expected.contains(address)) => {
            Finding::ok(CHECK, format!("{shown} is {}", list(&found)))
        }
        Ok(found) => Finding::notice(CHECK, format!("{shown} is {}", list(&found)), hint),
    }
}
