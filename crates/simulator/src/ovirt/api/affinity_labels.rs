//! Affinity labels: names for sets of VMs and hosts.

use std::collections::BTreeSet;

use super::call::{Call, Done, Outcome, require};
use super::found::{Found, Lookup, parse_id};
use super::kind::{Kind, Subject};
use super::refs;
use super::view::View;
use crate::ovirt::fault::Fault;
use crate::ovirt::messages::attempt;
use crate::ovirt::model::AffinityLabel;
use crate::ovirt::representation::types::{AFFINITY_LABEL, HOST, VM};
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// Writes an affinity label.
pub(crate) fn render(view: &mut View, element: &'static str, label: &AffinityLabel) {
    let path = format_args!("affinitylabels/{}", label.id);
    view.open(element, path, label.id);
    view.out.text("name", &label.name);
    view.out.text("has_implicit_affinity_group", label.implicit_group);
    view.out.text("read_only", false);
    view.links(path, &["hosts", "vms"]);
    view.close();
}

/// An affinity label, or what is under it.
pub(crate) fn at<'s>(state: &'s State, label: &'s AffinityLabel, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::subject(Subject::AffinityLabel(label))),
        ["vms", rest @ ..] => members(state, Kind::Vm, &label.vms, rest),
        ["hosts", rest @ ..] => members(state, Kind::Host, &label.hosts, rest),
        _ => Err(Fault::not_found()),
    }
}

/// The members of a set, or one of them.
pub(crate) fn members<'s>(state: &'s State, kind: Kind, set: &'s BTreeSet<Id>, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::subjects(kind, set.iter().filter_map(|id| kind.get(state, *id)).collect())),
        [id] => {
            let id = parse_id(id)?;
            let member = Some(id).filter(|id| set.contains(id)).and_then(|id| kind.get(state, id));
            member.map(Found::subject).ok_or_else(Fault::not_found)
        }
        _ => Err(Fault::not_found()),
    }
}

/// Makes an affinity label.
pub(crate) fn add(call: &mut Call) -> Outcome {
    let tree = call.read(&AFFINITY_LABEL)?;
    let name = require(&tree, "AffinityLabel", "name", "add")?;
    let state = &mut *call.state;
    name_is_free(state, name, None, "add")?;
    let set = |field: &str, kind| {
        tree.list(field)
            .into_iter()
            .flatten()
            .filter_map(|given| refs::resolve(state, given, kind).transpose())
            .collect::<Result<BTreeSet<Id>, Fault>>()
    };
    let (vms, hosts) = (set("vms", Kind::Vm)?, set("hosts", Kind::Host)?);
    let implicit_group = tree.bool("has_implicit_affinity_group").unwrap_or(false);
    let id = state.new_id();
    state.affinity_labels.insert(AffinityLabel { id, name: name.into(), vms, hosts, implicit_group });
    Ok(Done::Created { path: format!("affinitylabels/{id}"), job: None })
}

fn name_is_free(state: &State, name: &str, own: Option<Id>, action: &'static str) -> Result<(), Fault> {
    if state.affinity_labels.named(name).any(|label| Some(label.id) != own) {
        return Err(attempt(action, "Affinity Label").name_in_use());
    }
    Ok(())
}

/// Renames an affinity label.
pub(crate) fn update(call: &mut Call, id: Id) -> Outcome {
    let tree = call.read(&AFFINITY_LABEL)?;
    if let Some(name) = tree.text("name") {
        name_is_free(call.state, name, Some(id), "edit")?;
        call.state.affinity_labels.rename(id, name);
    }
    Ok(Done::Updated { path: format!("affinitylabels/{id}") })
}

/// Removes an affinity label.
pub(crate) fn remove(call: &mut Call, id: Id) -> Outcome {
    call.state.affinity_labels.remove(id).ok_or_else(Fault::not_found)?;
    for group in call.state.affinity_groups.iter_mut() {
        group.vm_labels.remove(&id);
        group.host_labels.remove(&id);
    }
    Ok(Done::Removed { job: None })
}

/// Puts the label on a VM or host.
pub(crate) fn add_member(call: &mut Call, id: Id, kind: Kind) -> Outcome {
    let tree = call.read(if kind == Kind::Vm { &VM } else { &HOST })?;
    let member =
        refs::resolve(call.state, &tree, kind)?.ok_or_else(|| Fault::incomplete("AffinityLabel", "id|name", "add"))?;
    set_of(call.state, id, kind)?.insert(member);
    Ok(Done::Created { path: format!("affinitylabels/{id}/{}/{member}", kind.path()), job: None })
}

/// Takes the label off a VM or host.
pub(crate) fn remove_member(call: &mut Call, id: Id, kind: Kind, member: Id) -> Outcome {
    if set_of(call.state, id, kind)?.remove(&member) {
        Ok(Done::Removed { job: None })
    } else {
        Err(Fault::not_found())
    }
}

/// Puts a label on a VM or host, seen from there.
pub(crate) fn assign(call: &mut Call, kind: Kind, member: Id) -> Outcome {
    let tree = call.read(&AFFINITY_LABEL)?;
    let label = refs::resolve(call.state, &tree, Kind::AffinityLabel)?
        .ok_or_else(|| Fault::incomplete("AffinityLabel", "id|name", "add"))?;
    set_of(call.state, label, kind)?.insert(member);
    Ok(Done::Created { path: format!("affinitylabels/{label}"), job: None })
}

fn set_of(state: &mut State, id: Id, kind: Kind) -> Result<&mut BTreeSet<Id>, Fault> {
    let label = state.affinity_labels.get_mut(id).ok_or_else(Fault::not_found)?;
    Ok(if kind == Kind::Vm { &mut label.vms } else { &mut label.hosts })
}
