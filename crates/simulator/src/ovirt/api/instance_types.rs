//! Instance types: sizes of VMs with a name.

use std::sync::Arc;

use super::call::{Call, Done, Outcome, require};
use super::found::{Found, Lookup};
use super::kind::Subject;
use super::view::View;
use super::vms::{config_body, configurable, sized};
use crate::ovirt::defaults;
use crate::ovirt::fault::Fault;
use crate::ovirt::messages::{Attempt, attempt};
use crate::ovirt::model::InstanceType;
use crate::ovirt::representation::types::INSTANCE_TYPE;
use crate::ovirt::table::Id;

const ADD: Attempt = attempt("add", "Instance Type");
const EDIT: Attempt = attempt("edit", "Instance Type");

/// Writes an instance type.
pub(crate) fn render(view: &mut View, element: &'static str, kind: &InstanceType) {
    let path = format_args!("instancetypes/{}", kind.id);
    view.open(element, path, kind.id);
    view.names(&kind.name, &kind.description, "");
    config_body(view, &kind.config);
    view.date("creation_time", kind.created);
    view.links(path, &["graphicsconsoles", "nics", "watchdogs"]);
    view.close();
}

/// An instance type, or what is under it.
pub(crate) fn at<'s>(kind: &'s InstanceType, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::subject(Subject::InstanceType(kind))),
        ["nics"] => Ok(Found::nothing("nics", "nic")),
        ["watchdogs"] => Ok(Found::nothing("watchdogs", "watchdog")),
        ["graphicsconsoles"] => Ok(Found::nothing("graphics_consoles", "graphics_console")),
        _ => Err(Fault::not_found()),
    }
}

/// Makes an instance type.
pub(crate) fn add(call: &mut Call) -> Outcome {
    let tree = call.read(&INSTANCE_TYPE)?;
    let name = require(&tree, "InstanceType", "name", "add")?;
    let state = &mut *call.state;
    if state.instance_types.named(name).next().is_some() {
        return Err(ADD.name_in_use());
    }
    let config = sized(&Arc::new(defaults::hardware()), &configurable(&tree), 100, ADD)?;
    let (id, created) = (state.new_id(), state.now);
    let description = tree.text("description").unwrap_or_default().into();
    state.instance_types.insert(InstanceType { id, name: name.into(), description, config, created });
    Ok(Done::Created { path: format!("instancetypes/{id}"), job: None })
}

/// Changes an instance type.
pub(crate) fn update(call: &mut Call, id: Id) -> Outcome {
    let tree = call.read(&INSTANCE_TYPE)?;
    let state = &mut *call.state;
    let kind = state.instance_types.get_mut(id).ok_or_else(Fault::not_found)?;
    kind.config = sized(&kind.config, &configurable(&tree), 100, EDIT)?;
    tree.update("description", &mut kind.description);
    if let Some(name) = tree.text("name") {
        state.instance_types.rename(id, name);
    }
    Ok(Done::Updated { path: format!("instancetypes/{id}") })
}

/// Removes an instance type; VMs of it keep their size.
pub(crate) fn remove(call: &mut Call, id: Id) -> Outcome {
    call.state.instance_types.remove(id).ok_or_else(Fault::not_found)?;
    for vm in call.state.vms.iter_mut().filter(|vm| vm.instance_type == Some(id)) {
        vm.instance_type = None;
    }
    Ok(Done::Removed { job: None })
}
