//! Networks, and the collections under them.

use super::call::{Call, Done, Outcome, require};
use super::found::{Found, Lookup, subject};
use super::kind::{Kind, Subject};
use super::view::View;
use super::{permissions, refs};
use crate::ovirt::defaults;
use crate::ovirt::fault::Fault;
use crate::ovirt::messages::attempt;
use crate::ovirt::model::{Cluster, Network, Object, VnicProfile};
use crate::ovirt::representation::Tree;
use crate::ovirt::representation::types::NETWORK;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

const LINKS: &[&str] = &["networklabels", "permissions", "vnicprofiles"];

/// What clients can configure besides names.
const CONFIGURABLE: [&str; 6] = ["mtu", "stp", "vlan", "vdsm_name", "port_isolation", "dns_resolver_configuration"];

/// Writes a network.
pub(crate) fn render(view: &mut View, element: &'static str, network: &Network) {
    let path = format_args!("networks/{}", network.id);
    view.open(element, path, network.id);
    body(view, network);
    view.links(path, LINKS);
    view.close();
}

/// Writes a network as a cluster has it: with its role there.
pub(crate) fn render_in_cluster(view: &mut View, element: &'static str, network: &Network, cluster: &Cluster) {
    let management = cluster.management_network == network.id;
    view.open(element, format_args!("clusters/{}/networks/{}", cluster.id, network.id), network.id);
    body(view, network);
    view.reference("cluster", "clusters", cluster.id);
    view.out.text("display", management);
    view.out.text("required", management);
    view.out.text("status", "operational");
    view.links(format_args!("networks/{}", network.id), LINKS);
    view.close();
}

fn body(view: &mut View, network: &Network) {
    view.names(&network.name, &network.description, &network.comment);
    view.out.tree(&network.config);
    view.out.open_list("usages", "usage");
    if network.for_vms {
        view.out.text("usage", "vm");
    }
    let managed = view.state.clusters.iter().any(|cluster| cluster.management_network == network.id);
    for usage in ["default_route", "display", "management", "migration"].into_iter().filter(|_| managed) {
        view.out.text("usage", usage);
    }
    view.close();
    view.reference("data_center", "datacenters", network.data_center);
}

/// A network, or what is under it.
pub(crate) fn at<'s>(state: &'s State, network: &'s Network, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::subject(Subject::Network(network))),
        ["vnicprofiles"] => {
            let profiles = state.vnic_profiles.iter().filter(|profile| profile.network == network.id);
            Ok(Found::subjects(Kind::VnicProfile, profiles.map(Subject::VnicProfile).collect()))
        }
        ["vnicprofiles", id, rest @ ..] => match subject(state, Kind::VnicProfile, id)? {
            Subject::VnicProfile(profile) if profile.network == network.id => {
                super::vnic_profiles::at(state, profile, rest)
            }
            _ => Err(Fault::not_found()),
        },
        ["permissions", rest @ ..] => permissions::of(state, Object::Network(network.id), rest),
        ["networklabels"] => Ok(Found::nothing("network_labels", "network_label")),
        _ => Err(Fault::not_found()),
    }
}

/// Makes a network, with a vNIC profile of the same name as the engine does.
pub(crate) fn add(call: &mut Call, data_center: Option<Id>) -> Outcome {
    let tree = call.read(&NETWORK)?;
    let name = require(&tree, "Network", "name", "add")?;
    let state = &mut *call.state;
    let data_center = match data_center {
        Some(data_center) => data_center,
        None => refs::required(state, &tree, "data_center", Kind::DataCenter, "Network", "add")?,
    };
    name_is_free(state, data_center, name, None, "add")?;
    let id = state.new_id();
    let mut network = Network {
        id,
        name: name.into(),
        description: "".into(),
        comment: "".into(),
        data_center,
        config: defaults::network(name),
        for_vms: true,
    };
    configure(&mut network, &tree);
    let for_vms = network.for_vms;
    state.networks.insert(network);
    if for_vms && tree.bool("profile_required") != Some(false) {
        let profile = VnicProfile {
            id: state.new_id(),
            name: name.into(),
            description: "".into(),
            network: id,
            config: defaults::vnic_profile(),
        };
        state.vnic_profiles.insert(profile);
    }
    Ok(Done::Created { path: format!("networks/{id}"), job: None })
}

/// Changes a network.
pub(crate) fn update(call: &mut Call, id: Id) -> Outcome {
    let tree = call.read(&NETWORK)?;
    let data_center = call.state.networks.get(id).ok_or_else(Fault::not_found)?.data_center;
    if let Some(name) = tree.text("name") {
        name_is_free(call.state, data_center, name, Some(id), "edit")?;
        call.state.networks.rename(id, name);
    }
    configure(call.state.networks.get_mut(id).ok_or_else(Fault::not_found)?, &tree);
    Ok(Done::Updated { path: format!("networks/{id}") })
}

fn name_is_free(
    state: &State,
    data_center: Id,
    name: &str,
    own: Option<Id>,
    action: &'static str,
) -> Result<(), Fault> {
    let taken = state.networks.named(name).any(|other| other.data_center == data_center && Some(other.id) != own);
    if taken {
        return Err(attempt(action, "Network").conflict(&format!(
            "The name of the logical network '{name}' is already used by an existing logical network in the same \
             data-center.\n-Please choose a different name."
        )));
    }
    Ok(())
}

fn configure(network: &mut Network, tree: &Tree) {
    if let Some(description) = tree.text("description") {
        network.description = description.into();
    }
    if let Some(comment) = tree.text("comment") {
        network.comment = comment.into();
    }
    if let Some(mut usages) = tree.texts("usages") {
        network.for_vms = usages.any(|usage| usage == "vm");
    }
    for name in CONFIGURABLE {
        if let Some(value) = tree.get(name) {
            network.config.set(name, value.clone());
        }
    }
}

/// Removes a network that no interface uses.
pub(crate) fn remove(call: &mut Call, id: Id) -> Outcome {
    let state = &mut *call.state;
    let refuse = attempt("remove", "Network");
    if state.clusters.iter().any(|cluster| cluster.management_network == id) {
        return Err(refuse.conflict("The management network cannot be removed."));
    }
    let profiles: Vec<Id> =
        state.vnic_profiles.iter().filter(|profile| profile.network == id).map(|profile| profile.id).collect();
    let used = |nics: &[crate::ovirt::model::Nic]| {
        nics.iter().any(|nic| nic.profile.is_some_and(|profile| profiles.contains(&profile)))
    };
    if state.vms.iter().any(|vm| used(&vm.nics)) || state.templates.iter().any(|template| used(&template.nics)) {
        return Err(refuse.conflict("The Network is in use by VMs or Templates."));
    }
    state.networks.remove(id).ok_or_else(Fault::not_found)?;
    state.vnic_profiles.remove_where(|profile| profile.network == id);
    for cluster in state.clusters.iter_mut() {
        cluster.networks.remove(&id);
    }
    permissions::forget(state, Object::Network(id));
    Ok(Done::Removed { job: None })
}
