//! Which host a VM runs on: filters take hosts away, weights order what is left.

use std::collections::BTreeSet;

use super::lifecycle::hosts;
use super::model::{AffinityGroup, Host, HostStatus, Vm};
use super::state::State;
use super::table::Id;

/// What the engine says when there is nothing to choose from.
const NO_HOSTS: &str = "There are no hosts to use. Check that the cluster contains at least one host in Up state.";

/// A place that is looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) vm: &'a Vm,
    /// A host that is out of the question, as the present one is for a migration.
    pub(crate) except: Option<Id>,
    /// The hosts that the client restricts this run to; empty means no restriction.
    pub(crate) only: &'a [Id],
}

/// The best host for a VM, or why each host is none, one line per host.
pub(crate) fn choose(state: &State, search: Search) -> Result<Id, Vec<String>> {
    let candidates: Vec<&Host> = state
        .hosts
        .iter()
        .filter(|host| host.cluster == search.vm.cluster && host.status == HostStatus::Up)
        .filter(|host| Some(host.id) != search.except)
        .filter(|host| search.only.is_empty() || search.only.contains(&host.id))
        .collect();
    if candidates.is_empty() {
        return Err(vec![NO_HOSTS.to_owned()]);
    }
    let groups = Groups::of(state, search.vm);
    let mut reasons = Vec::new();
    let mut fitting = Vec::new();
    for host in candidates {
        match objection(state, search.vm, host, &groups) {
            Some((filter, detail)) => {
                let name = &host.name;
                reasons.push(format!("The host {name} did not satisfy internal filter {filter} because {detail}."));
            }
            None => fitting.push(host),
        }
    }
    let cost = |host: &Host| groups.cost(state, search.vm, host);
    fitting
        .into_iter()
        .min_by(|a, b| {
            let free = |host| std::cmp::Reverse(hosts::free_bytes(state, host));
            cost(a).total_cmp(&cost(b)).then_with(|| free(a).cmp(&free(b))).then_with(|| a.name.cmp(&b.name))
        })
        .map(|host| host.id)
        .ok_or(reasons)
}

/// Whether a VM would break fewer rules on another host than where it runs.
pub(crate) fn improves(state: &State, vm: &Vm, host: Id) -> bool {
    let groups = Groups::of(state, vm);
    let cost = |host: Id| state.hosts.get(host).map(|host| groups.cost(state, vm, host));
    vm.host.and_then(cost).zip(cost(host)).is_some_and(|(here, there)| there < here)
}

/// Why a host cannot run a VM: the filter, and what it says. Filters come in the order in which the engine has them.
fn objection(state: &State, vm: &Vm, host: &Host, groups: &Groups) -> Option<(&'static str, String)> {
    if !vm.placement.hosts.is_empty() && !vm.placement.hosts.contains(&host.id) {
        return Some(("PinToHost", "it is not one of the hosts that the VM is pinned to".into()));
    }
    if vm.cpus() > host.cpus() {
        return Some(("CPU", "it does not have enough CPU cores to run the VM".into()));
    }
    let free = hosts::free_bytes(state, host).saturating_add(host.vms.get(&vm.id).copied().unwrap_or_default());
    if state.cause.no_capacity || vm.guaranteed_bytes() > free {
        let free = if state.cause.no_capacity { 0 } else { free };
        return Some(("Memory", format!("its available memory is too low ({} MB) to run the VM", free >> 20)));
    }
    groups.violation(state, vm, host)
}

/// The affinity groups that a VM is in.
struct Groups<'s>(Vec<&'s AffinityGroup>);

impl<'s> Groups<'s> {
    fn of(state: &'s State, vm: &Vm) -> Self {
        let has = |group: &&AffinityGroup| group.cluster == vm.cluster && vms_of(state, group).contains(&vm.id);
        Self(state.affinity_groups.iter().filter(has).collect())
    }

    /// The first hard rule that running `vm` on `host` would break.
    fn violation(&self, state: &State, vm: &Vm, host: &Host) -> Option<(&'static str, String)> {
        for group in self.0.iter().filter(|group| group.hosts_rule.enabled && group.hosts_rule.enforcing) {
            if breaks_hosts_rule(state, group, host.id) {
                return Some(("VmToHostsAffinityGroups", detail(group.hosts_rule.positive, &group.name)));
            }
        }
        for group in self.0.iter().filter(|group| group.vms_rule.enabled && group.vms_rule.enforcing) {
            if breaks_vms_rule(state, group, vm.id, host.id) {
                return Some(("VmAffinityGroups", detail(group.vms_rule.positive, &group.name)));
            }
        }
        None
    }

    /// How many soft rules running `vm` on `host` would break, by their priorities.
    fn cost(&self, state: &State, vm: &Vm, host: &Host) -> f64 {
        let soft = self.0.iter().map(|group| {
            let vms = group.vms_rule.enabled && breaks_vms_rule(state, group, vm.id, host.id);
            let hosts = group.hosts_rule.enabled && breaks_hosts_rule(state, group, host.id);
            group.priority.max(0.0) * f64::from(u8::from(vms) + u8::from(hosts))
        });
        soft.sum()
    }
}

fn detail(positive: bool, group: &str) -> String {
    if positive {
        format!("it did not match positive affinity rules {group}")
    } else {
        format!("it matched negative affinity rules {group}")
    }
}

fn breaks_hosts_rule(state: &State, group: &AffinityGroup, host: Id) -> bool {
    let hosts = hosts_of(state, group);
    !hosts.is_empty() && hosts.contains(&host) != group.hosts_rule.positive
}

/// Whether `vm` on `host` would be apart from a member it must be with, or with one it must be apart from.
fn breaks_vms_rule(state: &State, group: &AffinityGroup, vm: Id, host: Id) -> bool {
    let mut others = vms_of(state, group)
        .into_iter()
        .filter(|other| *other != vm)
        .filter_map(|other| state.vms.get(other))
        .filter_map(|other| other.destination.or(other.host))
        .peekable();
    if group.vms_rule.positive {
        others.peek().is_some() && others.all(|place| place != host)
    } else {
        others.any(|place| place == host)
    }
}

/// The VMs of a group, with those that its labels stand for.
pub(crate) fn vms_of(state: &State, group: &AffinityGroup) -> BTreeSet<Id> {
    let labelled = group.vm_labels.iter().filter_map(|label| state.affinity_labels.get(*label));
    labelled.flat_map(|label| label.vms.iter()).chain(&group.vms).copied().collect()
}

fn hosts_of(state: &State, group: &AffinityGroup) -> BTreeSet<Id> {
    let labelled = group.host_labels.iter().filter_map(|label| state.affinity_labels.get(*label));
    labelled.flat_map(|label| label.hosts.iter()).chain(&group.hosts).copied().collect()
}

/// The running VMs of a group that break one of its rules.
pub(crate) fn offenders(state: &State, group: &AffinityGroup) -> Vec<Id> {
    if !group.vms_rule.enabled && !group.hosts_rule.enabled {
        return Vec::new();
    }
    let running = vms_of(state, group).into_iter().filter_map(|vm| Some((vm, state.vms.get(vm)?.host?)));
    running
        .filter(|(vm, host)| {
            (group.vms_rule.enabled && breaks_vms_rule(state, group, *vm, *host))
                || (group.hosts_rule.enabled && breaks_hosts_rule(state, group, *host))
        })
        .map(|(vm, _)| vm)
        .collect()
}
