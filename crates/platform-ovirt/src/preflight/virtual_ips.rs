//! The virtual addresses, which nobody else may have, and the names that lead to them.

use landfall_config::LoadBalancer;
use landfall_platform::Finding;
use landfall_wire::{addresses_are_unused, names_lead_there};

use super::{Subject, unanswered};
use crate::{Mark, client::Vm};

pub(super) async fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if subject.config.load_balancer == LoadBalancer::Managed {
        findings.extend(unused(subject).await);
    }
    if subject.config.dns.is_none() {
        findings.extend(names_lead_there(subject.config, subject.surroundings).await);
    }
    findings
}

async fn unused(subject: &Subject<'_>) -> Vec<Finding> {
    let vms = match subject.client.all_vms().await {
        Ok(vms) => vms,
        Err(error) => return vec![unanswered("virtual addresses", &error)],
    };
    let mark = Mark::new(subject.infra_id.clone());
    let (own, others): (Vec<Vm>, Vec<Vm>) = vms.into_iter().partition(|vm| mark.is_on(&vm.description));
    let holder = |vip| others.iter().find(|vm| vm.addresses().any(|address| address == vip)).map(|vm| vm.name.clone());
    addresses_are_unused(subject.config, subject.surroundings, !own.is_empty(), holder).await
}
