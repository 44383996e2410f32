//! The network interfaces of VMs and templates.

use super::call::{Call, Done, Outcome, require};
use super::found::{Found, Lookup, parse_id};
use super::kind::Kind;
use super::view::View;
use super::{refs, reported_devices, statistics};
use crate::ovirt::fault::Fault;
use crate::ovirt::lifecycle::commands::idle;
use crate::ovirt::messages::{Attempt, attempt};
use crate::ovirt::model::{FilterParameter, Nic, Template, Vm, canonical_mac};
use crate::ovirt::representation::Tree;
use crate::ovirt::representation::types::{NETWORK_FILTER_PARAMETER, NIC};
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

const ADD: Attempt = attempt("add", "Interface");
const EDIT: Attempt = attempt("edit", "Interface");

/// Whose interfaces these are.
#[derive(Clone, Copy)]
pub(crate) enum Owner<'s> {
    /// A VM's.
    Vm(&'s Vm),
    /// A template's.
    Template(&'s Template),
}

impl<'s> Owner<'s> {
    fn nics(self) -> &'s [Nic] {
        match self {
            Self::Vm(vm) => &vm.nics,
            Self::Template(template) => &template.nics,
        }
    }

    fn path(self) -> String {
        match self {
            Self::Vm(vm) => format!("vms/{}", vm.id),
            Self::Template(template) => format!("templates/{}", template.id),
        }
    }
}

/// Writes an interface.
pub(crate) fn render(view: &mut View, element: &'static str, owner: Owner, nic: &Nic) {
    let path = format!("{}/nics/{}", owner.path(), nic.id);
    view.open(element, format_args!("{path}"), nic.id);
    view.out.text("name", &nic.name);
    view.out.text("description", &nic.description);
    view.out.text("interface", &nic.interface);
    view.out.text("linked", nic.linked);
    if !nic.mac.is_empty() {
        view.out.open("mac");
        view.out.text("address", &nic.mac);
        view.close();
    }
    view.out.text("plugged", nic.plugged);
    view.out.text("synced", true);
    view.maybe_reference("vnic_profile", "vnicprofiles", nic.profile);
    match owner {
        Owner::Vm(vm) => {
            view.reference("vm", "vms", vm.id);
            view.links(format_args!("{path}"), &["networkfilterparameters", "reporteddevices", "statistics"]);
            view.actions(format_args!("{path}"), &["activate", "deactivate"]);
        }
        Owner::Template(template) => view.reference("template", "templates", template.id),
    }
    view.close();
}

/// The interfaces of an owner, one of them, or what is under it.
pub(crate) fn sub<'s>(owner: Owner<'s>, parts: &[&str]) -> Lookup<'s> {
    let Some((id, rest)) = parts.split_first() else {
        return Ok(Found::list("nics", "nic", move |view| {
            owner.nics().iter().for_each(|nic| render(view, "nic", owner, nic));
        }));
    };
    let id = parse_id(id)?;
    let nic = owner.nics().iter().find(|nic| nic.id == id).ok_or_else(Fault::not_found)?;
    match (owner, rest) {
        (_, []) => Ok(Found::item("nic", move |view, element| render(view, element, owner, nic))),
        (Owner::Vm(vm), ["reporteddevices", rest @ ..]) => reported_devices::sub(vm, Some(nic), rest),
        (Owner::Vm(vm), ["networkfilterparameters", rest @ ..]) => parameters(vm, nic, rest),
        (Owner::Vm(_), ["statistics", rest @ ..]) => {
            statistics::of_nic(format!("{}/nics/{id}", owner.path()), id, rest)
        }
        _ => Err(Fault::not_found()),
    }
}

fn parameters<'s>(vm: &'s Vm, nic: &'s Nic, parts: &[&str]) -> Lookup<'s> {
    let write = |view: &mut View, element, parameter: &FilterParameter| {
        let path = format_args!("vms/{}/nics/{}/networkfilterparameters/{}", vm.id, nic.id, parameter.id);
        view.open(element, path, parameter.id);
        view.out.text("name", &parameter.name);
        view.out.text("value", &parameter.value);
        view.reference_to("nic", format_args!("vms/{}/nics/{}", vm.id, nic.id), nic.id);
        view.close();
    };
    match parts {
        [] => Ok(Found::list("network_filter_parameters", "network_filter_parameter", move |view| {
            nic.filter_parameters.iter().for_each(|parameter| write(view, "network_filter_parameter", parameter));
        })),
        [id] => {
            let id = parse_id(id)?;
            let parameter = nic.filter_parameters.iter().find(|parameter| parameter.id == id);
            let parameter = parameter.ok_or_else(Fault::not_found)?;
            Ok(Found::item("network_filter_parameter", move |view, element| write(view, element, parameter)))
        }
        _ => Err(Fault::not_found()),
    }
}

/// Adds an interface to a VM.
pub(crate) fn add(call: &mut Call, vm: Id) -> Outcome {
    let tree = call.read(&NIC)?;
    let name = require(&tree, "Nic", "name", "add")?;
    let state = &mut *call.state;
    idle(state, vm, ADD)?;
    name_is_free(state, vm, name, None)?;
    let profile = profile(state, &tree, vm)?.or(|| default_profile(state, vm));
    let mac = claim_mac(state, &tree, name)?;
    let nic = Nic {
        id: state.new_id(),
        name: name.into(),
        description: tree.text("description").unwrap_or_default().into(),
        interface: tree.text("interface").unwrap_or("virtio").into(),
        mac,
        plugged: tree.bool("plugged").unwrap_or(true),
        linked: tree.bool("linked").unwrap_or(true),
        profile,
        filter_parameters: Vec::new(),
    };
    let id = nic.id;
    state.vms.get_mut(vm).ok_or_else(Fault::not_found)?.nics.push(nic);
    Ok(Done::Created { path: format!("vms/{vm}/nics/{id}"), job: None })
}

/// An interface without a profile gets the one of the cluster's management network.
fn default_profile(state: &State, vm: Id) -> Option<Id> {
    let cluster = state.vms.get(vm).and_then(|vm| state.clusters.get(vm.cluster))?;
    state.vnic_profiles.iter().find(|profile| profile.network == cluster.management_network).map(|profile| profile.id)
}

/// The profile that a description of an interface asks for.
enum Wanted {
    /// It says nothing about it.
    Unsaid,
    /// It wants none.
    NoProfile,
    /// It wants this one.
    Profile(Id),
}

impl Wanted {
    /// The profile to use, where `default` is that of an interface about which nothing is said.
    fn or(self, default: impl FnOnce() -> Option<Id>) -> Option<Id> {
        match self {
            Self::Unsaid => default(),
            Self::NoProfile => None,
            Self::Profile(profile) => Some(profile),
        }
    }
}

fn profile(state: &State, tree: &Tree, vm: Id) -> Result<Wanted, Fault> {
    let Some(given) = tree.sub("vnic_profile") else {
        let network = refs::reference(state, tree, "network", Kind::Network)?;
        let profile = network.and_then(|id| state.vnic_profiles.iter().find(|profile| profile.network == id));
        return Ok(profile.map_or(Wanted::Unsaid, |profile| Wanted::Profile(profile.id)));
    };
    let Some(profile) = refs::resolve(state, given, Kind::VnicProfile)? else { return Ok(Wanted::NoProfile) };
    let network = state.vnic_profiles.get(profile).map(|profile| profile.network);
    let cluster = state.vms.get(vm).and_then(|vm| state.clusters.get(vm.cluster));
    if !network.is_some_and(|network| cluster.is_some_and(|cluster| cluster.networks.contains(&network))) {
        return Err(ADD.conflict("The logical network to which the profile belongs is not attached to the cluster."));
    }
    Ok(Wanted::Profile(profile))
}

fn claim_mac(state: &mut State, tree: &Tree, name: &str) -> Result<Box<str>, Fault> {
    let Some(given) = tree.sub("mac").and_then(|mac| mac.text("address")).filter(|mac| !mac.is_empty()) else {
        return state.mac_pool.take().ok_or_else(|| ADD.conflict("There are no unused MAC addresses in the pool."));
    };
    let mac = canonical_mac(given).ok_or_else(|| {
        ADD.invalid(&format!(
            "The Network Interface {name} has an invalid MAC address {given}. MAC address must be in format \
             \"HH:HH:HH:HH:HH:HH\" where H is a hexadecimal character (either a digit or A-F, case is insignificant)."
        ))
    })?;
    if state.mac_pool.claim(&mac) {
        return Ok(mac);
    }
    let user = state.vms.iter().find(|vm| vm.nics.iter().any(|nic| nic.mac == mac)).map(|vm| vm.name.to_string());
    let user = user.unwrap_or_default();
    Err(Fault::conflict(format!("MAC Address {mac} is already in use by VM or snapshot: {user}.")))
}

fn name_is_free(state: &State, vm: Id, name: &str, own: Option<Id>) -> Result<(), Fault> {
    let taken = |nic: &Nic| *nic.name == *name && Some(nic.id) != own;
    if state.vms.get(vm).is_some_and(|vm| vm.nics.iter().any(taken)) {
        return Err(Fault::conflict("Network interface name is already in use"));
    }
    Ok(())
}

/// Changes an interface of a VM.
pub(crate) fn update(call: &mut Call, vm: Id, id: Id) -> Outcome {
    let tree = call.read(&NIC)?;
    let state = &mut *call.state;
    idle(state, vm, EDIT)?;
    let old = find(state, vm, id)?.mac.clone();
    if let Some(name) = tree.text("name") {
        name_is_free(state, vm, name, Some(id))?;
    }
    let profile = profile(state, &tree, vm)?;
    let asked = tree.sub("mac").and_then(|mac| mac.text("address")).and_then(canonical_mac);
    let new_mac = if tree.sub("mac").is_some_and(|mac| mac.has("address")) && asked.as_deref() != Some(&*old) {
        let mac = claim_mac(state, &tree, tree.text("name").unwrap_or_default())?;
        state.mac_pool.release(&old);
        Some(mac)
    } else {
        None
    };
    let nic = find(state, vm, id)?;
    if let Some(name) = tree.text("name") {
        nic.name = name.into();
    }
    if let Some(description) = tree.text("description") {
        nic.description = description.into();
    }
    if let Some(interface) = tree.text("interface") {
        nic.interface = interface.into();
    }
    nic.plugged = tree.bool("plugged").unwrap_or(nic.plugged);
    nic.linked = tree.bool("linked").unwrap_or(nic.linked);
    nic.profile = profile.or(|| nic.profile);
    nic.mac = new_mac.unwrap_or_else(|| nic.mac.clone());
    Ok(Done::Updated { path: format!("vms/{vm}/nics/{id}") })
}

/// Removes an interface of a VM; a running VM must have it unplugged first.
pub(crate) fn remove(call: &mut Call, vm: Id, id: Id) -> Outcome {
    let state = &mut *call.state;
    let refuse = attempt("remove", "Interface");
    let running = idle(state, vm, refuse)?.is_running();
    let nic = find(state, vm, id)?;
    if running && nic.plugged {
        return Err(refuse.conflict("Cannot remove an active Network Interface. Please unplug it first."));
    }
    let mac = nic.mac.clone();
    state.mac_pool.release(&mac);
    if let Some(vm) = state.vms.get_mut(vm) {
        vm.nics.retain(|nic| nic.id != id);
    }
    Ok(Done::Removed { job: None })
}

/// `activate` and `deactivate`.
pub(crate) fn act(call: &mut Call, vm: Id, id: Id, action: &str) -> Outcome {
    call.read_action()?;
    idle(call.state, vm, EDIT)?;
    find(call.state, vm, id)?.plugged = action == "activate";
    Ok(Done::Acted { job: None, pending: false })
}

/// Adds a parameter to the filter of an interface.
pub(crate) fn add_parameter(call: &mut Call, vm: Id, id: Id) -> Outcome {
    let tree = call.read(&NETWORK_FILTER_PARAMETER)?;
    let name = require(&tree, "NetworkFilterParameter", "name", "add")?.into();
    let value = require(&tree, "NetworkFilterParameter", "value", "add")?.into();
    let parameter = FilterParameter { id: call.state.new_id(), name, value };
    let path = format!("vms/{vm}/nics/{id}/networkfilterparameters/{}", parameter.id);
    find(call.state, vm, id)?.filter_parameters.push(parameter);
    Ok(Done::Created { path, job: None })
}

/// Removes a parameter from the filter of an interface.
pub(crate) fn remove_parameter(call: &mut Call, vm: Id, id: Id, parameter: Id) -> Outcome {
    let parameters = &mut find(call.state, vm, id)?.filter_parameters;
    let before = parameters.len();
    parameters.retain(|given| given.id != parameter);
    if parameters.len() == before { Err(Fault::not_found()) } else { Ok(Done::Removed { job: None }) }
}

fn find(state: &mut State, vm: Id, id: Id) -> Result<&mut Nic, Fault> {
    let vm = state.vms.get_mut(vm).ok_or_else(Fault::not_found)?;
    vm.nics.iter_mut().find(|nic| nic.id == id).ok_or_else(Fault::not_found)
}

/// The interfaces of a template for a new VM, each with an address of its own.
pub(crate) fn copies(state: &mut State, template: Id) -> Vec<Nic> {
    let nics = state.templates.get(template).map(|template| template.nics.clone()).unwrap_or_default();
    fresh(state, nics)
}

/// The interfaces of a VM for its clone, each with an address of its own.
pub(crate) fn copies_of_vm(state: &mut State, vm: Id) -> Vec<Nic> {
    let nics = state.vms.get(vm).map(|vm| vm.nics.clone()).unwrap_or_default();
    fresh(state, nics)
}

fn fresh(state: &mut State, mut nics: Vec<Nic>) -> Vec<Nic> {
    for nic in &mut nics {
        nic.id = state.new_id();
        nic.mac = state.mac_pool.take().unwrap_or_default();
    }
    nics
}
