//! The virtual addresses, which nobody else may have, and the names that lead to them.

use std::net::IpAddr;

use landfall_config::LoadBalancer;
use landfall_platform::Finding;
use landfall_wire::{addresses_are_unused, names_lead_there};

use super::Subject;
use crate::site::Found;

pub(super) async fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if subject.config.load_balancer == LoadBalancer::Managed {
        // What is on a server that does not answer cannot be known, and that it does not answer is told elsewhere.
        let answers = subject.site.ask().await;
        let all: Vec<Found> = answers.into_iter().filter_map(|(_, answer)| answer.ok()).flatten().collect();
        let (own, others): (Vec<&Found>, Vec<&Found>) = all.iter().partition(|found| subject.site.is_ours(found));
        let holder = |address: IpAddr| {
            let found = others.iter().find(|found| found.address == Some(address))?;
            Some(format!("{} on {}", found.partition.name, found.host))
        };
        findings.extend(addresses_are_unused(subject.config, subject.surroundings, !own.is_empty(), holder).await);
    }
    if subject.config.dns.is_none() {
        findings.extend(names_lead_there(subject.config, subject.surroundings).await);
    }
    findings
}
