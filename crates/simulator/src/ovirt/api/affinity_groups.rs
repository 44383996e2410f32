//! The affinity groups of a cluster.

use std::collections::BTreeSet;

use super::affinity_labels::members;
use super::call::{Call, Done, Outcome, require};
use super::found::{Found, Lookup, parse_id};
use super::kind::Kind;
use super::refs;
use super::view::View;
use crate::ovirt::fault::Fault;
use crate::ovirt::lifecycle::enforcement;
use crate::ovirt::messages::attempt;
use crate::ovirt::model::{AffinityGroup, Cluster, Rule};
use crate::ovirt::representation::types::{AFFINITY_GROUP, AFFINITY_LABEL, HOST, VM};
use crate::ovirt::representation::{Tree, decimal};
use crate::ovirt::scheduler;
use crate::ovirt::settings::AffinityGroupAdd;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// Writes an affinity group.
pub(crate) fn render(view: &mut View, element: &'static str, group: &AffinityGroup) {
    let path = format_args!("clusters/{}/affinitygroups/{}", group.cluster, group.id);
    view.open(element, path, group.id);
    view.out.text("name", &group.name);
    view.out.text("description", &group.description);
    view.out.text("broken", !scheduler::offenders(view.state, group).is_empty());
    view.out.text("enforcing", group.vms_rule.enforcing);
    rule(view, "hosts_rule", group.hosts_rule);
    if group.vms_rule.enabled {
        view.out.text("positive", group.vms_rule.positive);
    }
    view.out.text("priority", decimal(group.priority));
    rule(view, "vms_rule", group.vms_rule);
    view.reference("cluster", "clusters", group.cluster);
    refs_list(view, "hosts", "host", "hosts", &group.hosts);
    refs_list(view, "vms", "vm", "vms", &group.vms);
    view.links(path, &["hostlabels", "hosts", "vmlabels", "vms"]);
    view.close();
}

fn rule(view: &mut View, name: &'static str, rule: Rule) {
    view.out.open(name);
    view.out.text("enabled", rule.enabled);
    view.out.text("enforcing", rule.enforcing);
    view.out.text("positive", rule.positive);
    view.close();
}

fn refs_list(view: &mut View, list: &'static str, item: &'static str, path: &str, ids: &BTreeSet<Id>) {
    view.out.open_list(list, item);
    for id in ids {
        view.open(item, format_args!("{path}/{id}"), id);
        view.close();
    }
    view.close();
}

/// The affinity groups of a cluster, one of them, or what is under it.
pub(crate) fn sub<'s>(state: &'s State, cluster: &'s Cluster, parts: &[&str]) -> Lookup<'s> {
    let Some((id, rest)) = parts.split_first() else {
        return Ok(Found::list("affinity_groups", "affinity_group", move |view| {
            for group in state.affinity_groups.iter().filter(|group| group.cluster == cluster.id) {
                render(view, "affinity_group", group);
            }
        }));
    };
    let group = state.affinity_groups.get(parse_id(id)?).filter(|group| group.cluster == cluster.id);
    let group = group.ok_or_else(Fault::not_found)?;
    match rest {
        [] => Ok(Found::item("affinity_group", move |view, element| render(view, element, group))),
        ["vms", rest @ ..] => members(state, Kind::Vm, &group.vms, rest),
        ["hosts", rest @ ..] => members(state, Kind::Host, &group.hosts, rest),
        ["vmlabels", rest @ ..] => members(state, Kind::AffinityLabel, &group.vm_labels, rest),
        ["hostlabels", rest @ ..] => members(state, Kind::AffinityLabel, &group.host_labels, rest),
        _ => Err(Fault::not_found()),
    }
}

/// Makes an affinity group.
pub(crate) fn add(call: &mut Call, cluster: Id) -> Outcome {
    let tree = call.read(&AFFINITY_GROUP)?;
    let name = require(&tree, "AffinityGroup", "name", "add")?;
    let state = &mut *call.state;
    name_is_free(state, name, None, "add")?;
    let none = Rule { enabled: false, positive: false, enforcing: false };
    let id = state.new_id();
    let mut group = AffinityGroup {
        id,
        name: name.into(),
        description: "".into(),
        cluster,
        priority: 1.0,
        vms_rule: none,
        hosts_rule: none,
        vms: BTreeSet::new(),
        hosts: BTreeSet::new(),
        vm_labels: BTreeSet::new(),
        host_labels: BTreeSet::new(),
    };
    configure(state, &mut group, &tree)?;
    state.affinity_groups.insert(group);
    enforcement::arm(state);
    Ok(Done::Created { path: format!("clusters/{cluster}/affinitygroups/{id}"), job: None })
}

fn name_is_free(state: &State, name: &str, own: Option<Id>, action: &'static str) -> Result<(), Fault> {
    if state.affinity_groups.named(name).any(|group| Some(group.id) != own) {
        // A bad request and not a conflict: so the engine classes it.
        return Err(attempt(action, "Affinity Group").invalid("Affinity Group name already exists."));
    }
    Ok(())
}

/// Changes an affinity group; lists that are given replace the members.
pub(crate) fn update(call: &mut Call, cluster: Id, id: Id) -> Outcome {
    let tree = call.read(&AFFINITY_GROUP)?;
    let state = &mut *call.state;
    if let Some(name) = tree.text("name") {
        name_is_free(state, name, Some(id), "edit")?;
    }
    let mut group = state.affinity_groups.remove(id).ok_or_else(Fault::not_found)?;
    let configured = configure(state, &mut group, &tree);
    if let Some(name) = tree.text("name").filter(|_| configured.is_ok()) {
        group.name = name.into();
    }
    state.affinity_groups.insert(group);
    configured?;
    enforcement::arm(state);
    Ok(Done::Updated { path: format!("clusters/{cluster}/affinitygroups/{id}") })
}

fn configure(state: &State, group: &mut AffinityGroup, tree: &Tree) -> Result<(), Fault> {
    let set = |field: &str, kind| {
        tree.list(field)
            .map(|items| items.filter_map(|given| refs::resolve(state, given, kind).transpose()).collect())
            .transpose()
    };
    let vms: Option<BTreeSet<Id>> = set("vms", Kind::Vm)?;
    if vms.iter().flatten().any(|vm| state.vms.get(*vm).is_none_or(|vm| vm.cluster != group.cluster)) {
        return Err(attempt("edit", "Affinity Group").conflict("VM is not a part of this Cluster."));
    }
    let hosts = set("hosts", Kind::Host)?;
    let vm_labels = set("vm_labels", Kind::AffinityLabel)?;
    let host_labels = set("host_labels", Kind::AffinityLabel)?;
    group.vms = vms.unwrap_or_else(|| std::mem::take(&mut group.vms));
    group.hosts = hosts.unwrap_or_else(|| std::mem::take(&mut group.hosts));
    group.vm_labels = vm_labels.unwrap_or_else(|| std::mem::take(&mut group.vm_labels));
    group.host_labels = host_labels.unwrap_or_else(|| std::mem::take(&mut group.host_labels));
    tree.update("description", &mut group.description);
    group.priority = tree.decimal("priority").unwrap_or(group.priority);
    match tree.sub("vms_rule") {
        Some(given) => group.vms_rule = amended(group.vms_rule, given),
        // The old form, from before VMs had a rule of their own; `enforcing` or `positive` switches the rule on.
        None if tree.has("positive") || tree.has("enforcing") => {
            let positive = tree.bool("positive");
            group.vms_rule = Rule {
                enabled: positive.is_some() || group.vms_rule.enabled,
                positive: positive.unwrap_or(group.vms_rule.positive),
                enforcing: tree.bool("enforcing").unwrap_or(group.vms_rule.enforcing),
            };
        }
        None => {}
    }
    if let Some(given) = tree.sub("hosts_rule") {
        group.hosts_rule = amended(group.hosts_rule, given);
    }
    Ok(())
}

/// A rule that is given without `enabled` is on.
fn amended(rule: Rule, given: &Tree) -> Rule {
    Rule {
        enabled: given.bool("enabled").unwrap_or(true),
        positive: given.bool("positive").unwrap_or(rule.positive),
        enforcing: given.bool("enforcing").unwrap_or(rule.enforcing),
    }
}

/// Removes an affinity group.
pub(crate) fn remove(call: &mut Call, id: Id) -> Outcome {
    call.state.affinity_groups.remove(id).ok_or_else(Fault::not_found)?;
    Ok(Done::Removed { job: None })
}

/// A set of an affinity group that clients can add to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    /// Its VMs.
    Vms,
    /// Its hosts.
    Hosts,
    /// The labels that stand for VMs.
    VmLabels,
    /// The labels that stand for hosts.
    HostLabels,
}

impl Set {
    /// The set at that path.
    pub(crate) fn at(path: &str) -> Option<Self> {
        match path {
            "vms" => Some(Self::Vms),
            "hosts" => Some(Self::Hosts),
            "vmlabels" => Some(Self::VmLabels),
            "hostlabels" => Some(Self::HostLabels),
            _ => None,
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::Vms => Kind::Vm,
            Self::Hosts => Kind::Host,
            Self::VmLabels | Self::HostLabels => Kind::AffinityLabel,
        }
    }

    fn of(self, group: &mut AffinityGroup) -> &mut BTreeSet<Id> {
        match self {
            Self::Vms => &mut group.vms,
            Self::Hosts => &mut group.hosts,
            Self::VmLabels => &mut group.vm_labels,
            Self::HostLabels => &mut group.host_labels,
        }
    }
}

/// Adds a member to a group.
pub(crate) fn add_member(call: &mut Call, id: Id, set: Set) -> Outcome {
    let tree = call.read(match set.kind() {
        Kind::Vm => &VM,
        Kind::Host => &HOST,
        _ => &AFFINITY_LABEL,
    })?;
    let state = &mut *call.state;
    let member =
        refs::resolve(state, &tree, set.kind())?.ok_or_else(|| Fault::incomplete("AffinityGroup", "id|name", "add"))?;
    let group = state.affinity_groups.get_mut(id).ok_or_else(Fault::not_found)?;
    if set == Set::Vms && state.vms.get(member).is_none_or(|vm| vm.cluster != group.cluster) {
        return Err(attempt("edit", "Affinity Group").conflict("VM is not a part of this Cluster."));
    }
    set.of(group).insert(member);
    enforcement::arm(state);
    if set == Set::Vms && state.settings.affinity_group_add == AffinityGroupAdd::Action {
        return Ok(Done::Acted { job: None, pending: false });
    }
    Ok(Done::Created { path: format!("{}/{member}", set.kind().path()), job: None })
}

/// Takes a member out of a group.
pub(crate) fn remove_member(call: &mut Call, id: Id, set: Set, member: Id) -> Outcome {
    let group = call.state.affinity_groups.get_mut(id).ok_or_else(Fault::not_found)?;
    if set.of(group).remove(&member) { Ok(Done::Removed { job: None }) } else { Err(Fault::not_found()) }
}
