//! Tags: a tree of labels, and their assignment to VMs, templates and hosts.

use super::call::{Call, Done, Outcome, require};
use super::found::{Found, Lookup};
use super::kind::{Kind, Subject};
use super::refs;
use super::view::View;
use crate::ovirt::fault::Fault;
use crate::ovirt::messages::attempt;
use crate::ovirt::model::Tag;
use crate::ovirt::representation::types::TAG;
use crate::ovirt::state::{NIL, State};
use crate::ovirt::table::Id;

/// Writes a tag.
pub(crate) fn render(view: &mut View, element: &'static str, tag: &Tag) {
    view.open(element, format_args!("tags/{}", tag.id), tag.id);
    body(view, tag);
    view.close();
}

fn body(view: &mut View, tag: &Tag) {
    view.out.text("name", &tag.name);
    view.out.text("description", &tag.description);
    view.maybe_reference("parent", "tags", tag.parent);
}

/// A tag; there is nothing under it.
pub(crate) fn at<'s>(tag: &'s Tag, parts: &[&str]) -> Lookup<'s> {
    if parts.is_empty() { Ok(Found::subject(Subject::Tag(tag))) } else { Err(Fault::not_found()) }
}

/// The tags of the thing at `path`, or one of them.
pub(crate) fn assigned<'s>(state: &'s State, path: String, ids: &'s [Id], parts: &[&str]) -> Lookup<'s> {
    let write = move |view: &mut View, element: &'static str, tag: &Tag| {
        view.open(element, format_args!("{path}/tags/{}", tag.id), tag.id);
        body(view, tag);
        view.close();
    };
    let assigned = state.tags.iter().filter(|tag| ids.contains(&tag.id)).collect();
    Found::among(("tags", "tag"), assigned, |tag: &Tag| tag.id, write, parts)
}

/// Makes a tag.
pub(crate) fn add(call: &mut Call) -> Outcome {
    let tree = call.read(&TAG)?;
    let name = require(&tree, "Tag", "name", "add")?;
    let state = &mut *call.state;
    name_is_free(state, name, None)?;
    let parent = refs::reference(state, &tree, "parent", Kind::Tag)?.unwrap_or(NIL);
    let id = state.new_id();
    let description = tree.text("description").unwrap_or_default().into();
    state.tags.insert(Tag { id, name: name.into(), description, parent: Some(parent) });
    Ok(Done::Created { path: format!("tags/{id}"), job: None })
}

fn name_is_free(state: &State, name: &str, own: Option<Id>) -> Result<(), Fault> {
    if state.tags.named(name).any(|tag| Some(tag.id) != own) {
        return Err(Fault::conflict("The specified Tag name already exists."));
    }
    Ok(())
}

/// Changes a tag.
pub(crate) fn update(call: &mut Call, id: Id) -> Outcome {
    let tree = call.read(&TAG)?;
    let state = &mut *call.state;
    let parent = refs::reference(state, &tree, "parent", Kind::Tag)?;
    if let Some(parent) = parent
        && is_under(state, parent, id)
    {
        return Err(attempt("move", "Tag").conflict("A Tag cannot be a parent of itself."));
    }
    if let Some(name) = tree.text("name") {
        name_is_free(state, name, Some(id))?;
        state.tags.rename(id, name);
    }
    let tag = state.tags.get_mut(id).ok_or_else(Fault::not_found)?;
    tree.update("description", &mut tag.description);
    tag.parent = if id == NIL { None } else { parent.or(tag.parent) };
    Ok(Done::Updated { path: format!("tags/{id}") })
}

/// Whether `tag` is `root` or somewhere below it.
fn is_under(state: &State, tag: Id, root: Id) -> bool {
    let parents = std::iter::successors(Some(tag), |at| state.tags.get(*at).and_then(|tag| tag.parent));
    parents.take(state.tags.len() + 1).any(|at| at == root)
}

/// Removes a tag and everything below it.
pub(crate) fn remove(call: &mut Call, id: Id) -> Outcome {
    let state = &mut *call.state;
    if id == NIL {
        return Err(attempt("remove", "Tag").conflict("The root tag cannot be removed."));
    }
    let doomed: Vec<Id> = state.tags.iter().map(|tag| tag.id).filter(|tag| is_under(state, *tag, id)).collect();
    for tag in doomed {
        for vm in state.tagged.remove(&tag).unwrap_or_default() {
            if let Some(vm) = state.vms.get_mut(vm) {
                vm.tags.retain(|assigned| *assigned != tag);
            }
        }
        state.templates.iter_mut().for_each(|template| template.tags.retain(|assigned| *assigned != tag));
        state.hosts.iter_mut().for_each(|host| host.tags.retain(|assigned| *assigned != tag));
        state.tags.remove(tag);
    }
    Ok(Done::Removed { job: None })
}

/// Assigns a tag, given by id or name.
pub(crate) fn assign(call: &mut Call, owner: Kind, id: Id) -> Outcome {
    let tree = call.read(&TAG)?;
    let state = &mut *call.state;
    let tag = refs::resolve(state, &tree, Kind::Tag)?.ok_or_else(|| Fault::incomplete("Tag", "id|name", "add"))?;
    if owner == Kind::Vm {
        state.tagged.entry(tag).or_default().insert(id);
    }
    let tags = tags_of(state, owner, id)?;
    if !tags.contains(&tag) {
        tags.push(tag);
    }
    Ok(Done::Created { path: format!("{}/{id}/tags/{tag}", owner.path()), job: None })
}

/// Takes a tag away from what has it.
pub(crate) fn unassign(call: &mut Call, owner: Kind, id: Id, tag: Id) -> Outcome {
    let tags = tags_of(call.state, owner, id)?;
    let before = tags.len();
    tags.retain(|assigned| *assigned != tag);
    if tags.len() == before {
        return Err(Fault::not_found());
    }
    if let Some(vms) = call.state.tagged.get_mut(&tag).filter(|_| owner == Kind::Vm) {
        vms.remove(&id);
    }
    Ok(Done::Removed { job: None })
}

fn tags_of(state: &mut State, owner: Kind, id: Id) -> Result<&mut Vec<Id>, Fault> {
    match owner {
        Kind::Vm => state.vms.get_mut(id).map(|vm| &mut vm.tags),
        Kind::Template => state.templates.get_mut(id).map(|template| &mut template.tags),
        Kind::Host => state.hosts.get_mut(id).map(|host| &mut host.tags),
        _ => None,
    }
    .ok_or_else(Fault::not_found)
}
