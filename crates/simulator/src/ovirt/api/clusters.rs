//! Clusters, and the collections under them.

use super::call::{Call, Done, Outcome, require};
use super::found::{Found, Lookup, subject};
use super::kind::{Kind, Subject};
use super::view::View;
use super::{affinity_groups, networks, permissions, refs};
use crate::ovirt::defaults;
use crate::ovirt::fault::Fault;
use crate::ovirt::messages::attempt;
use crate::ovirt::model::{Cluster, CpuProfile, Object};
use crate::ovirt::representation::types::CLUSTER;
use crate::ovirt::representation::{Tree, Value};
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

const LINKS: &[&str] = &[
    "affinitygroups",
    "cpuprofiles",
    "enabledfeatures",
    "externalnetworkproviders",
    "networkfilters",
    "networks",
    "permissions",
];

/// Fields that are kept elsewhere than in the configuration, or that clients cannot set.
const OWN: [&str; 12] = [
    "id",
    "href",
    "link",
    "actions",
    "name",
    "description",
    "comment",
    "data_center",
    "management_network",
    "scheduling_policy",
    "mac_pool",
    "version",
];

/// Writes a cluster.
pub(crate) fn render(view: &mut View, element: &'static str, cluster: &Cluster) {
    let path = format_args!("clusters/{}", cluster.id);
    view.open(element, path, cluster.id);
    view.names(&cluster.name, &cluster.description, &cluster.comment);
    view.out.tree(&cluster.config);
    view.out.open("memory_policy");
    view.out.open("over_commit");
    view.out.text("percent", cluster.overcommit_percent);
    view.close();
    view.out.open("transparent_huge_pages");
    view.out.text("enabled", true);
    view.close();
    view.close();
    view.out.open("version");
    view.out.text("major", view.state.settings.version_part(0));
    view.out.text("minor", view.state.settings.compatibility_minor());
    view.close();
    view.reference("data_center", "datacenters", cluster.data_center);
    view.reference_to(
        "management_network",
        format_args!("clusters/{}/networks/{}", cluster.id, cluster.management_network),
        cluster.management_network,
    );
    view.reference("mac_pool", "macpools", view.state.mac_pool.id);
    view.reference("scheduling_policy", "schedulingpolicies", defaults::SCHEDULING_POLICY);
    view.links(path, LINKS);
    view.actions(path, &["resetemulatedmachine", "syncallnetworks"]);
    view.close();
}

/// A cluster, or what is under it.
pub(crate) fn at<'s>(state: &'s State, cluster: &'s Cluster, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::subject(Subject::Cluster(cluster))),
        ["affinitygroups", rest @ ..] => affinity_groups::sub(state, cluster, rest),
        ["networks"] => Ok(Found::list("networks", "network", move |view| {
            for network in state.networks.iter().filter(|network| cluster.networks.contains(&network.id)) {
                networks::render_in_cluster(view, "network", network, cluster);
            }
        })),
        ["networks", id] => match subject(state, Kind::Network, id)? {
            Subject::Network(network) if cluster.networks.contains(&network.id) => {
                Ok(Found::item("network", move |view, element| {
                    networks::render_in_cluster(view, element, network, cluster);
                }))
            }
            _ => Err(Fault::not_found()),
        },
        ["cpuprofiles"] => {
            let profiles = state.cpu_profiles.iter().filter(|profile| profile.cluster == cluster.id);
            Ok(Found::subjects(Kind::CpuProfile, profiles.map(Subject::CpuProfile).collect()))
        }
        ["permissions", rest @ ..] => permissions::of(state, Object::Cluster(cluster.id), rest),
        ["networkfilters", rest @ ..] => super::catalogue::network_filters(rest),
        ["enabledfeatures"] => Ok(Found::nothing("cluster_features", "cluster_feature")),
        ["externalnetworkproviders"] => Ok(Found::nothing("external_providers", "external_provider")),
        _ => Err(Fault::not_found()),
    }
}

/// Makes a cluster.
pub(crate) fn add(call: &mut Call) -> Outcome {
    let tree = call.read(&CLUSTER)?;
    let name = require(&tree, "Cluster", "name", "add")?;
    let state = &mut *call.state;
    let data_center = refs::required(state, &tree, "data_center", Kind::DataCenter, "Cluster", "add")?;
    if state.clusters.named(name).next().is_some() {
        return Err(Fault::conflict("Cannot add Cluster. Cluster name is already in use."));
    }
    let management = match refs::reference(state, &tree, "management_network", Kind::Network)? {
        Some(network) => network,
        None => default_network(state, data_center)
            .ok_or_else(|| attempt("add", "Cluster").conflict("The data center has no management network to use."))?,
    };
    let id = state.new_id();
    let mut cluster = Cluster {
        id,
        name: name.into(),
        description: "".into(),
        comment: "".into(),
        data_center,
        config: defaults::cluster("x86_64", "Intel Cascadelake Server Family"),
        overcommit_percent: 100,
        management_network: management,
        networks: [management].into(),
    };
    configure(&mut cluster, &tree);
    state.clusters.insert(cluster);
    let profile = CpuProfile { id: state.new_id(), name: name.into(), description: "".into(), cluster: id };
    state.cpu_profiles.insert(profile);
    Ok(Done::Created { path: format!("clusters/{id}"), job: None })
}

fn default_network(state: &State, data_center: Id) -> Option<Id> {
    let in_same = |id: &Id| state.networks.get(*id).is_some_and(|network| network.data_center == data_center);
    state
        .clusters
        .iter()
        .map(|cluster| cluster.management_network)
        .find(in_same)
        .or_else(|| state.networks.iter().find(|network| network.data_center == data_center).map(|network| network.id))
}

/// Changes a cluster.
pub(crate) fn update(call: &mut Call, id: Id) -> Outcome {
    let tree = call.read(&CLUSTER)?;
    if let Some(name) = tree.text("name") {
        if call.state.clusters.named(name).any(|other| other.id != id) {
            return Err(Fault::conflict("Cannot edit Cluster. Cluster name is already in use."));
        }
        call.state.clusters.rename(id, name);
    }
    let cluster = call.state.clusters.get_mut(id).ok_or_else(Fault::not_found)?;
    configure(cluster, &tree);
    Ok(Done::Updated { path: format!("clusters/{id}") })
}

fn configure(cluster: &mut Cluster, tree: &Tree) {
    if let Some(description) = tree.text("description") {
        cluster.description = description.into();
    }
    if let Some(comment) = tree.text("comment") {
        cluster.comment = comment.into();
    }
    let over_commit = tree.at(&["memory_policy", "over_commit"]).and_then(|policy| policy.int("percent"));
    if let Some(percent) = over_commit.and_then(|percent| u64::try_from(percent).ok()) {
        cluster.overcommit_percent = percent.clamp(1, 1000);
    }
    let mut patch = tree.clone();
    for name in OWN.iter().chain(&["memory_policy"]) {
        patch.remove(name);
    }
    let lists: Vec<&'static str> =
        patch.iter().filter(|(_, value)| matches!(value, Value::List(..))).map(|(name, _)| name).collect();
    for name in lists.into_iter().filter(|name| *name != "required_rng_sources") {
        patch.remove(name);
    }
    cluster.config.merge(&patch);
}

/// Removes a cluster that nothing uses.
pub(crate) fn remove(call: &mut Call, id: Id) -> Outcome {
    let state = &mut *call.state;
    let refuse = attempt("remove", "Cluster");
    if state.hosts.iter().any(|host| host.cluster == id) {
        return Err(refuse.conflict("One or more Hosts are still associated with the Cluster."));
    }
    if state.vms.iter().any(|vm| vm.cluster == id) {
        return Err(refuse.conflict("One or more VMs are still assigned to the Cluster"));
    }
    if state.templates.iter().any(|template| template.cluster == Some(id)) {
        return Err(refuse.conflict("One or more Template(s) are still associated with the Cluster"));
    }
    state.clusters.remove(id).ok_or_else(Fault::not_found)?;
    state.cpu_profiles.remove_where(|profile| profile.cluster == id);
    state.affinity_groups.remove_where(|group| group.cluster == id);
    permissions::forget(state, Object::Cluster(id));
    Ok(Done::Removed { job: None })
}

/// Makes a network of the data centre available in a cluster.
pub(crate) fn add_network(call: &mut Call, id: Id) -> Outcome {
    let tree = call.read(&crate::ovirt::representation::types::NETWORK)?;
    let network = refs::resolve(call.state, &tree, Kind::Network)?
        .ok_or_else(|| Fault::incomplete("Network", "id|name", "add"))?;
    let cluster = call.state.clusters.get_mut(id).ok_or_else(Fault::not_found)?;
    cluster.networks.insert(network);
    Ok(Done::Created { path: format!("clusters/{id}/networks/{network}"), job: None })
}

/// Takes a network out of a cluster.
pub(crate) fn remove_network(call: &mut Call, id: Id, network: Id) -> Outcome {
    let cluster = call.state.clusters.get_mut(id).ok_or_else(Fault::not_found)?;
    if cluster.management_network == network {
        return Err(attempt("detach", "Network").conflict("The management network must be assigned to the cluster."));
    }
    if !cluster.networks.remove(&network) {
        return Err(Fault::not_found());
    }
    Ok(Done::Removed { job: None })
}
