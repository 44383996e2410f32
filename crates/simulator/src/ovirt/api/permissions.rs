//! Permissions: who has which role on what.

use super::call::{Call, Done, Outcome};
use super::found::{Found, Lookup, parse_id};
use super::kind::{Kind, Subject};
use super::refs;
use super::view::View;
use crate::ovirt::fault::Fault;
use crate::ovirt::model::{Holder, Object, Permission};
use crate::ovirt::representation::types::PERMISSION;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// Writes a permission.
pub(crate) fn render(view: &mut View, element: &'static str, permission: &Permission) {
    view.open(element, format_args!("permissions/{}", permission.id), permission.id);
    view.reference("role", "roles", permission.role);
    match permission.holder {
        Holder::User(user) => view.reference("user", "users", user),
        Holder::Group(group) => view.reference("group", "groups", group),
    }
    match permission.object {
        Object::DataCenter(id) => view.reference("data_center", "datacenters", id),
        Object::Cluster(id) => view.reference("cluster", "clusters", id),
        Object::Host(id) => view.reference("host", "hosts", id),
        Object::StorageDomain(id) => view.reference("storage_domain", "storagedomains", id),
        Object::Vm(id) => view.reference("vm", "vms", id),
        Object::Template(id) => view.reference("template", "templates", id),
        Object::Disk(id) => view.reference("disk", "disks", id),
        // The representation has no element for these.
        Object::System
        | Object::Network(_)
        | Object::VnicProfile(_)
        | Object::CpuProfile(_)
        | Object::DiskProfile(_)
        | Object::Quota(_)
        | Object::MacPool(_) => {}
    }
    view.close();
}

/// A permission; there is nothing under it.
pub(crate) fn at<'s>(permission: &'s Permission, parts: &[&str]) -> Lookup<'s> {
    if parts.is_empty() { Ok(Found::subject(Subject::Permission(permission))) } else { Err(Fault::not_found()) }
}

/// The permissions on an object, or one of them.
pub(crate) fn of<'s>(state: &'s State, object: Object, parts: &[&str]) -> Lookup<'s> {
    let on_it = move |permission: &&Permission| permission.object == object;
    select(state, on_it, parts)
}

/// The permissions of a user or group, or one of them.
pub(crate) fn held<'s>(state: &'s State, holder: Holder, parts: &[&str]) -> Lookup<'s> {
    select(state, move |permission| permission.holder == holder, parts)
}

fn select<'s>(state: &'s State, wanted: impl Fn(&&Permission) -> bool, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => {
            let found = state.permissions.iter().filter(wanted).map(Subject::Permission);
            Ok(Found::subjects(Kind::Permission, found.collect()))
        }
        [id] => {
            let found = state.permissions.get(parse_id(id)?).filter(|permission| wanted(permission));
            found.map(|permission| Found::subject(Subject::Permission(permission))).ok_or_else(Fault::not_found)
        }
        _ => Err(Fault::not_found()),
    }
}

/// Grants a role on an object; granting it again changes nothing.
pub(crate) fn add(call: &mut Call, object: Object) -> Outcome {
    let tree = call.read(&PERMISSION)?;
    let state = &mut *call.state;
    let role = refs::required(state, &tree, "role", Kind::Role, "Permission", "add")?;
    let holder = match (user(state, &tree)?, refs::reference(state, &tree, "group", Kind::Group)?) {
        (Some(user), _) => Holder::User(user),
        (None, Some(group)) => Holder::Group(group),
        (None, None) => return Err(Fault::incomplete("Permission", "user|group.id", "add")),
    };
    Ok(Done::Created { path: format!("permissions/{}", grant(state, role, holder, object)), job: None })
}

/// Grants a role of a user's own: `POST users/{id}/permissions` with an object in the body.
pub(crate) fn add_for(call: &mut Call, holder: Holder) -> Outcome {
    let tree = call.read(&PERMISSION)?;
    let state = &mut *call.state;
    let role = refs::required(state, &tree, "role", Kind::Role, "Permission", "add")?;
    let object = object(state, &tree)?.unwrap_or(Object::System);
    Ok(Done::Created { path: format!("permissions/{}", grant(state, role, holder, object)), job: None })
}

fn object(state: &State, tree: &crate::ovirt::representation::Tree) -> Result<Option<Object>, Fault> {
    /// An element, the kind it refers to, and what a permission is then on.
    type Place = (&'static str, Kind, fn(Id) -> Object);
    let kinds: [Place; 7] = [
        ("vm", Kind::Vm, Object::Vm),
        ("template", Kind::Template, Object::Template),
        ("disk", Kind::Disk, Object::Disk),
        ("cluster", Kind::Cluster, Object::Cluster),
        ("data_center", Kind::DataCenter, Object::DataCenter),
        ("host", Kind::Host, Object::Host),
        ("storage_domain", Kind::StorageDomain, Object::StorageDomain),
    ];
    for (field, kind, object) in kinds {
        if let Some(id) = refs::reference(state, tree, field, kind)? {
            return Ok(Some(object(id)));
        }
    }
    Ok(None)
}

/// Users are given by id, or by what they log in with.
fn user(state: &State, tree: &crate::ovirt::representation::Tree) -> Result<Option<Id>, Fault> {
    let Some(given) = tree.sub("user") else { return Ok(None) };
    if let Some(login) = given.text("user_name").or_else(|| given.text("principal")) {
        let found = state.users.iter().find(|user| user.is_called(login)).map(|user| user.id);
        return found.map(Some).ok_or_else(|| Fault::missing("User", format_args!("user_name={login}")));
    }
    refs::resolve(state, given, Kind::User)
}

/// Grants a role and returns the permission, new or old.
pub(crate) fn grant(state: &mut State, role: Id, holder: Holder, object: Object) -> Id {
    let same = |given: &&Permission| given.role == role && given.holder == holder && given.object == object;
    if let Some(permission) = state.permissions.iter().find(same) {
        return permission.id;
    }
    let id = state.new_id();
    state.permissions.insert(Permission { id, name: "".into(), role, holder, object });
    id
}

/// Revokes a permission.
pub(crate) fn remove(call: &mut Call, id: Id) -> Outcome {
    call.state.permissions.remove(id).ok_or_else(Fault::not_found)?;
    Ok(Done::Removed { job: None })
}

/// Drops the permissions on something that is gone.
pub(crate) fn forget(state: &mut State, object: Object) {
    state.permissions.remove_where(|permission| permission.object == object);
}

/// Drops the permissions of somebody who is gone.
pub(crate) fn forget_holder(state: &mut State, holder: Holder) {
    state.permissions.remove_where(|permission| permission.holder == holder);
}
