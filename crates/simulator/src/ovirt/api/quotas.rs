//! The quotas of a data centre, with what of them is used.

use super::call::{Call, Done, Outcome, require};
use super::found::{Found, Lookup, parse_id};
use super::kind::Kind;
use super::view::View;
use super::{permissions, refs};
use crate::ovirt::fault::Fault;
use crate::ovirt::messages::attempt;
use crate::ovirt::model::{ClusterLimit, DataCenter, Object, Quota, StorageLimit};
use crate::ovirt::quota;
use crate::ovirt::representation::types::{QUOTA, QUOTA_CLUSTER_LIMIT, QUOTA_STORAGE_LIMIT};
use crate::ovirt::representation::{Tree, decimal};
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// Writes a quota.
pub(crate) fn render(view: &mut View, element: &'static str, quota: &Quota) {
    let path = format_args!("datacenters/{}/quotas/{}", quota.data_center, quota.id);
    view.open(element, path, quota.id);
    view.out.text("name", &quota.name);
    view.out.text("description", &quota.description);
    view.out.text("cluster_hard_limit_pct", quota.cluster_hard_limit_pct);
    view.out.text("cluster_soft_limit_pct", quota.cluster_soft_limit_pct);
    view.reference("data_center", "datacenters", quota.data_center);
    view.out.text("storage_hard_limit_pct", quota.storage_hard_limit_pct);
    view.out.text("storage_soft_limit_pct", quota.storage_soft_limit_pct);
    view.links(path, &["permissions", "quotaclusterlimits", "quotastoragelimits"]);
    view.close();
}

fn render_cluster_limit(view: &mut View, element: &'static str, quota: &Quota, limit: &ClusterLimit) {
    let path = format_args!("datacenters/{}/quotas/{}/quotaclusterlimits/{}", quota.data_center, quota.id, limit.id);
    let used = quota::cluster_usage(view.state, quota.id, limit.cluster);
    let gib = |bytes: u64| decimal(quota::gib(bytes));
    view.open(element, path, limit.id);
    view.out.text("memory_limit", limit.memory_bytes.map_or_else(|| "-1.0".into(), gib));
    view.out.text("memory_usage", gib(used.memory_bytes));
    view.out.text("vcpu_limit", limit.vcpus.map_or_else(|| "-1".into(), |vcpus| vcpus.to_string()));
    view.out.text("vcpu_usage", used.vcpus);
    view.maybe_reference("cluster", "clusters", limit.cluster);
    quota_reference(view, quota);
    view.close();
}

fn render_storage_limit(view: &mut View, element: &'static str, quota: &Quota, limit: &StorageLimit) {
    let path = format_args!("datacenters/{}/quotas/{}/quotastoragelimits/{}", quota.data_center, quota.id, limit.id);
    view.open(element, path, limit.id);
    view.out.text("limit", limit.bytes.map_or_else(|| "-1".into(), |bytes| (bytes >> 30).to_string()));
    view.out.text("usage", decimal(quota::gib(quota::storage_usage(view.state, quota.id, limit.storage_domain))));
    quota_reference(view, quota);
    view.maybe_reference("storage_domain", "storagedomains", limit.storage_domain);
    view.close();
}

fn quota_reference(view: &mut View, quota: &Quota) {
    view.reference_to("quota", format_args!("datacenters/{}/quotas/{}", quota.data_center, quota.id), quota.id);
}

/// The quotas of a data centre, one of them, or what is under it.
pub(crate) fn sub<'s>(state: &'s State, dc: &'s DataCenter, parts: &[&str]) -> Lookup<'s> {
    let Some((id, rest)) = parts.split_first() else {
        return Ok(Found::list("quotas", "quota", move |view| {
            for quota in state.quotas.iter().filter(|quota| quota.data_center == dc.id) {
                render(view, "quota", quota);
            }
        }));
    };
    let quota = state.quotas.get(parse_id(id)?).filter(|quota| quota.data_center == dc.id);
    let quota = quota.ok_or_else(Fault::not_found)?;
    match rest {
        [] => Ok(Found::item("quota", move |view, element| render(view, element, quota))),
        ["permissions", rest @ ..] => permissions::of(state, Object::Quota(quota.id), rest),
        ["quotaclusterlimits", rest @ ..] => {
            let names = ("quota_cluster_limits", "quota_cluster_limit");
            let render = move |view: &mut View, element, limit: &_| render_cluster_limit(view, element, quota, limit);
            Found::among(names, quota.cluster_limits.iter().collect(), |limit: &ClusterLimit| limit.id, render, rest)
        }
        ["quotastoragelimits", rest @ ..] => {
            let names = ("quota_storage_limits", "quota_storage_limit");
            let render = move |view: &mut View, element, limit: &_| render_storage_limit(view, element, quota, limit);
            Found::among(names, quota.storage_limits.iter().collect(), |limit: &StorageLimit| limit.id, render, rest)
        }
        _ => Err(Fault::not_found()),
    }
}

/// Makes a quota.
pub(crate) fn add(call: &mut Call, data_center: Id) -> Outcome {
    let tree = call.read(&QUOTA)?;
    let name = require(&tree, "Quota", "name", "add")?;
    let state = &mut *call.state;
    if state.quotas.named(name).any(|quota| quota.data_center == data_center) {
        return Err(attempt("add", "Quota").name_in_use());
    }
    let id = state.new_id();
    let mut quota = Quota {
        id,
        name: name.into(),
        description: "".into(),
        data_center,
        cluster_soft_limit_pct: 80,
        cluster_hard_limit_pct: 20,
        storage_soft_limit_pct: 80,
        storage_hard_limit_pct: 20,
        cluster_limits: Vec::new(),
        storage_limits: Vec::new(),
    };
    configure(&mut quota, &tree);
    state.quotas.insert(quota);
    Ok(Done::Created { path: format!("datacenters/{data_center}/quotas/{id}"), job: None })
}

/// Changes a quota.
pub(crate) fn update(call: &mut Call, id: Id) -> Outcome {
    let tree = call.read(&QUOTA)?;
    if let Some(name) = tree.text("name") {
        call.state.quotas.rename(id, name);
    }
    let quota = call.state.quotas.get_mut(id).ok_or_else(Fault::not_found)?;
    configure(quota, &tree);
    Ok(Done::Updated { path: format!("datacenters/{}/quotas/{id}", quota.data_center) })
}

fn configure(quota: &mut Quota, tree: &Tree) {
    tree.update("description", &mut quota.description);
    for (field, name) in [
        (&mut quota.cluster_soft_limit_pct, "cluster_soft_limit_pct"),
        (&mut quota.cluster_hard_limit_pct, "cluster_hard_limit_pct"),
        (&mut quota.storage_soft_limit_pct, "storage_soft_limit_pct"),
        (&mut quota.storage_hard_limit_pct, "storage_hard_limit_pct"),
    ] {
        *field = tree.int(name).unwrap_or(*field);
    }
}

/// Removes a quota that nothing uses.
pub(crate) fn remove(call: &mut Call, id: Id) -> Outcome {
    let state = &mut *call.state;
    let used = state.vms.iter().any(|vm| vm.quota == Some(id)) || state.disks.iter().any(|disk| disk.quota == Some(id));
    if used {
        return Err(attempt("remove", "Quota")
            .conflict("Quota is still in use by a VM or a disk and Data Center's Quota enforcement is enabled."));
    }
    state.quotas.remove(id).ok_or_else(Fault::not_found)?;
    permissions::forget(state, Object::Quota(id));
    Ok(Done::Removed { job: None })
}

/// Adds a limit on processors and memory, or on space.
pub(crate) fn add_limit(call: &mut Call, id: Id, collection: &str) -> Outcome {
    let limit_id = call.state.new_id();
    let limited = |number: Option<i64>| number.and_then(|number| u64::try_from(number).ok());
    if collection == "quotaclusterlimits" {
        let tree = call.read(&QUOTA_CLUSTER_LIMIT)?;
        let cluster = refs::reference(call.state, &tree, "cluster", Kind::Cluster)?;
        let memory = tree.decimal("memory_limit").filter(|gib| *gib >= 0.0);
        let limit = ClusterLimit {
            id: limit_id,
            cluster,
            vcpus: limited(tree.int("vcpu_limit")),
            memory_bytes: memory.map(quota::bytes),
        };
        call.state.quotas.get_mut(id).ok_or_else(Fault::not_found)?.cluster_limits.push(limit);
    } else {
        let tree = call.read(&QUOTA_STORAGE_LIMIT)?;
        let storage_domain = refs::reference(call.state, &tree, "storage_domain", Kind::StorageDomain)?;
        let bytes = limited(tree.int("limit")).map(|gib| gib.saturating_mul(1 << 30));
        let limit = StorageLimit { id: limit_id, storage_domain, bytes };
        call.state.quotas.get_mut(id).ok_or_else(Fault::not_found)?.storage_limits.push(limit);
    }
    let quota = call.state.quotas.get(id).ok_or_else(Fault::not_found)?;
    Ok(Done::Created {
        path: format!("datacenters/{}/quotas/{id}/{collection}/{limit_id}", quota.data_center),
        job: None,
    })
}

/// Removes a limit.
pub(crate) fn remove_limit(call: &mut Call, id: Id, limit: Id) -> Outcome {
    let quota = call.state.quotas.get_mut(id).ok_or_else(Fault::not_found)?;
    let before = quota.cluster_limits.len() + quota.storage_limits.len();
    quota.cluster_limits.retain(|given| given.id != limit);
    quota.storage_limits.retain(|given| given.id != limit);
    if quota.cluster_limits.len() + quota.storage_limits.len() == before {
        return Err(Fault::not_found());
    }
    Ok(Done::Removed { job: None })
}
