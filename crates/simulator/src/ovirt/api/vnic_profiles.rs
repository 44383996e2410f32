//! vNIC profiles.

use super::call::{Call, Done, Outcome, require};
use super::found::{Found, Lookup};
use super::kind::{Kind, Subject};
use super::view::View;
use super::{catalogue, permissions, refs};
use crate::ovirt::defaults;
use crate::ovirt::fault::Fault;
use crate::ovirt::messages::attempt;
use crate::ovirt::model::{Object, VnicProfile};
use crate::ovirt::representation::Tree;
use crate::ovirt::representation::types::VNIC_PROFILE;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

const CONFIGURABLE: [&str; 4] = ["port_mirroring", "custom_properties", "pass_through", "migratable"];

/// Writes a vNIC profile.
pub(crate) fn render(view: &mut View, element: &'static str, profile: &VnicProfile) {
    let path = format_args!("vnicprofiles/{}", profile.id);
    view.open(element, path, profile.id);
    view.names(&profile.name, &profile.description, "");
    view.out.tree(&profile.config);
    view.reference("network", "networks", profile.network);
    view.reference("network_filter", "networkfilters", catalogue::DEFAULT_NETWORK_FILTER);
    view.links(path, &["permissions"]);
    view.close();
}

/// A vNIC profile, or what is under it.
pub(crate) fn at<'s>(state: &'s State, profile: &'s VnicProfile, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::subject(Subject::VnicProfile(profile))),
        ["permissions", rest @ ..] => permissions::of(state, Object::VnicProfile(profile.id), rest),
        _ => Err(Fault::not_found()),
    }
}

/// Makes a vNIC profile.
pub(crate) fn add(call: &mut Call, network: Option<Id>) -> Outcome {
    let tree = call.read(&VNIC_PROFILE)?;
    let name = require(&tree, "VnicProfile", "name", "add")?;
    let state = &mut *call.state;
    let network = match network {
        Some(network) => network,
        None => refs::required(state, &tree, "network", Kind::Network, "VnicProfile", "add")?,
    };
    name_is_free(state, network, name, None, "add")?;
    let id = state.new_id();
    let mut profile =
        VnicProfile { id, name: name.into(), description: "".into(), network, config: defaults::vnic_profile() };
    configure(&mut profile, &tree);
    state.vnic_profiles.insert(profile);
    Ok(Done::Created { path: format!("vnicprofiles/{id}"), job: None })
}

/// Changes a vNIC profile.
pub(crate) fn update(call: &mut Call, id: Id) -> Outcome {
    let tree = call.read(&VNIC_PROFILE)?;
    let network = call.state.vnic_profiles.get(id).ok_or_else(Fault::not_found)?.network;
    if let Some(name) = tree.text("name") {
        name_is_free(call.state, network, name, Some(id), "edit")?;
        call.state.vnic_profiles.rename(id, name);
    }
    configure(call.state.vnic_profiles.get_mut(id).ok_or_else(Fault::not_found)?, &tree);
    Ok(Done::Updated { path: format!("vnicprofiles/{id}") })
}

fn name_is_free(state: &State, network: Id, name: &str, own: Option<Id>, action: &'static str) -> Result<(), Fault> {
    if state.vnic_profiles.named(name).any(|other| other.network == network && Some(other.id) != own) {
        return Err(attempt(action, "VM network interface profile").conflict(
            "The VM network interface profile's name is already used by an existing profile for the same \
             network.\n-Please choose a different name.",
        ));
    }
    Ok(())
}

fn configure(profile: &mut VnicProfile, tree: &Tree) {
    tree.update("description", &mut profile.description);
    for name in CONFIGURABLE {
        if let Some(value) = tree.get(name) {
            profile.config.set(name, value.clone());
        }
    }
}

/// Removes a vNIC profile that no interface uses.
pub(crate) fn remove(call: &mut Call, id: Id) -> Outcome {
    let state = &mut *call.state;
    let used = |nics: &[crate::ovirt::model::Nic]| nics.iter().any(|nic| nic.profile == Some(id));
    if state.vms.iter().any(|vm| used(&vm.nics)) || state.templates.iter().any(|template| used(&template.nics)) {
        return Err(
            attempt("remove", "VM network interface profile").conflict("The profile is in use by VMs or Templates.")
        );
    }
    state.vnic_profiles.remove(id).ok_or_else(Fault::not_found)?;
    permissions::forget(state, Object::VnicProfile(id));
    Ok(Done::Removed { job: None })
}
