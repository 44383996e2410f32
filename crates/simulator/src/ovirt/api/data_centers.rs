//! Data centres, and the collections under them.

use std::collections::BTreeSet;

use super::call::{Call, Done, Outcome, require};
use super::found::{Found, Lookup, subject};
use super::kind::{Kind, Subject};
use super::view::View;
use super::{networks, permissions, quotas, storage_domains};
use crate::ovirt::fault::Fault;
use crate::ovirt::messages::attempt;
use crate::ovirt::model::{DataCenter, Object, QuotaMode, StorageDomainStatus};
use crate::ovirt::representation::Tree;
use crate::ovirt::representation::types::DATA_CENTER;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

const LINKS: &[&str] = &["clusters", "iscsibonds", "networks", "permissions", "qoss", "quotas", "storagedomains"];

/// Writes a data centre.
pub(crate) fn render(view: &mut View, element: &'static str, dc: &DataCenter) {
    let path = format_args!("datacenters/{}", dc.id);
    view.open(element, path, dc.id);
    view.names(&dc.name, &dc.description, &dc.comment);
    view.out.text("local", dc.local);
    view.out.text("quota_mode", dc.quota_mode);
    view.out.text("status", status(view.state, dc));
    view.out.text("storage_format", "v5");
    version(view, "version");
    view.out.open_list("supported_versions", "version");
    version(view, "version");
    view.close();
    view.reference("mac_pool", "macpools", view.state.mac_pool.id);
    view.links(path, LINKS);
    view.close();
}

/// A data centre is up when a storage domain serves it.
pub(crate) fn status(state: &State, dc: &DataCenter) -> &'static str {
    let mut domains = state.storage_domains.iter().filter(|domain| domain.data_center == Some(dc.id)).peekable();
    if domains.peek().is_none() {
        return "uninitialized";
    }
    if domains.any(|domain| domain.status == StorageDomainStatus::Active) { "up" } else { "maintenance" }
}

fn version(view: &mut View, element: &'static str) {
    let settings = &view.state.settings;
    view.out.open(element);
    view.out.text("major", settings.version_part(0));
    view.out.text("minor", settings.compatibility_minor());
    view.close();
}

/// What is under a data centre.
pub(crate) fn sub<'s>(state: &'s State, dc: &'s DataCenter, parts: &[&str]) -> Lookup<'s> {
    match parts {
        ["clusters"] => {
            let clusters = state.clusters.iter().filter(|cluster| cluster.data_center == dc.id);
            Ok(Found::subjects(Kind::Cluster, clusters.map(Subject::Cluster).collect()))
        }
        ["clusters", id, rest @ ..] => match subject(state, Kind::Cluster, id)? {
            Subject::Cluster(cluster) if cluster.data_center == dc.id => super::clusters::at(state, cluster, rest),
            _ => Err(Fault::not_found()),
        },
        ["networks"] => {
            let networks = state.networks.iter().filter(|network| network.data_center == dc.id);
            Ok(Found::subjects(Kind::Network, networks.map(Subject::Network).collect()))
        }
        ["networks", id, rest @ ..] => match subject(state, Kind::Network, id)? {
            Subject::Network(network) if network.data_center == dc.id => networks::at(state, network, rest),
            _ => Err(Fault::not_found()),
        },
        ["storagedomains", rest @ ..] => storage_domains::attached(state, dc, rest),
        ["quotas", rest @ ..] => quotas::sub(state, dc, rest),
        ["permissions", rest @ ..] => permissions::of(state, Object::DataCenter(dc.id), rest),
        ["qoss"] => Ok(Found::nothing("qoss", "qos")),
        ["iscsibonds"] => Ok(Found::nothing("iscsi_bonds", "iscsi_bond")),
        _ => Err(Fault::not_found()),
    }
}

/// Makes a data centre.
pub(crate) fn add(call: &mut Call) -> Outcome {
    let tree = call.read(&DATA_CENTER)?;
    let name = require(&tree, "DataCenter", "name", "add")?;
    let state = &mut *call.state;
    name_is_free(state, name, None, "add")?;
    let id = state.new_id();
    let mut dc = DataCenter {
        id,
        name: name.into(),
        description: "".into(),
        comment: "".into(),
        local: false,
        quota_mode: QuotaMode::Disabled,
    };
    configure(&mut dc, &tree);
    state.data_centers.insert(dc);
    Ok(Done::Created { path: format!("datacenters/{id}"), job: None })
}

/// Changes a data centre.
pub(crate) fn update(call: &mut Call, id: Id) -> Outcome {
    let tree = call.read(&DATA_CENTER)?;
    if let Some(name) = tree.text("name") {
        name_is_free(call.state, name, Some(id), "edit")?;
        call.state.data_centers.rename(id, name);
    }
    configure(call.state.data_centers.get_mut(id).ok_or_else(Fault::not_found)?, &tree);
    Ok(Done::Updated { path: format!("datacenters/{id}") })
}

fn name_is_free(state: &State, name: &str, own: Option<Id>, action: &'static str) -> Result<(), Fault> {
    if state.data_centers.named(name).any(|dc| Some(dc.id) != own) {
        return Err(attempt(action, "Data Center").conflict("The Data Center name is already in use."));
    }
    Ok(())
}

fn configure(dc: &mut DataCenter, tree: &Tree) {
    if let Some(description) = tree.text("description") {
        dc.description = description.into();
    }
    if let Some(comment) = tree.text("comment") {
        dc.comment = comment.into();
    }
    dc.local = tree.bool("local").unwrap_or(dc.local);
    dc.quota_mode = tree.text("quota_mode").and_then(QuotaMode::parse).unwrap_or(dc.quota_mode);
}

/// Removes a data centre that nothing is in.
pub(crate) fn remove(call: &mut Call, id: Id) -> Outcome {
    let state = &mut *call.state;
    let refuse = attempt("remove", "Data Center");
    if state.clusters.iter().any(|cluster| cluster.data_center == id) {
        return Err(refuse.conflict("There are Clusters in the Data Center."));
    }
    if state.storage_domains.iter().any(|domain| domain.data_center == Some(id)) {
        return Err(refuse.conflict("There are Storage Domains attached to the Data Center."));
    }
    state.data_centers.remove(id).ok_or_else(Fault::not_found)?;
    let networks: BTreeSet<Id> =
        state.networks.iter().filter(|network| network.data_center == id).map(|network| network.id).collect();
    state.vnic_profiles.remove_where(|profile| networks.contains(&profile.network));
    state.networks.remove_where(|network| network.data_center == id);
    state.quotas.remove_where(|quota| quota.data_center == id);
    permissions::forget(state, Object::DataCenter(id));
    Ok(Done::Removed { job: None })
}
