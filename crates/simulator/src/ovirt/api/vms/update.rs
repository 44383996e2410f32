//! Changing VMs: at once while they are off, at the next start while they run.

use std::sync::Arc;

use super::add::{name_is_free, placement};
use super::config::{configurable, sized, valid_name};
use crate::ovirt::api::call::{Call, Done, Outcome};
use crate::ovirt::api::kind::Kind;
use crate::ovirt::api::refs;
use crate::ovirt::fault::Fault;
use crate::ovirt::lifecycle::commands::idle;
use crate::ovirt::messages::{Attempt, attempt};
use crate::ovirt::model::VmStatus;
use crate::ovirt::representation::types::VM;
use crate::ovirt::table::Id;

const EDIT: Attempt = attempt("edit", "VM");

/// What can change under a running VM without a restart.
const LIVE: &[&str] = &["delete_protected", "high_availability", "initialization", "migration", "migration_downtime"];

/// Changes a VM.
pub(crate) fn update(call: &mut Call, id: Id) -> Outcome {
    let tree = call.read(&VM)?;
    let next_run = call.params.flag("next_run").unwrap_or(false);
    let state = &mut *call.state;
    let vm = idle(state, id, EDIT)?;
    let (running, cluster, old_placement) = (vm.is_running(), vm.cluster, vm.placement.clone());
    let suspended = vm.status == VmStatus::Suspended;
    let base = vm.next_run.clone().unwrap_or_else(|| vm.config.clone());
    let current = vm.config.clone();

    if let Some(name) = tree.text("name") {
        valid_name(name, EDIT)?;
        name_is_free(state, name, cluster, Some(id), EDIT)?;
    }
    if let Some(wanted) = refs::reference(state, &tree, "cluster", Kind::Cluster)?
        && wanted != cluster
    {
        return Err(Fault::conflict(
            "Updating VM's Cluster cannot be performed through update VM action, please use Change VM Cluster action instead.",
        ));
    }
    let instance_type = refs::reference(state, &tree, "instance_type", Kind::InstanceType)?;
    let quota = refs::reference_quota(state, &tree)?;
    let cpu_profile = refs::reference(state, &tree, "cpu_profile", Kind::CpuProfile)?;
    let placement = placement(state, &tree, old_placement)?;
    let overcommit = state.clusters.get(cluster).map_or(100, |cluster| cluster.overcommit_percent);
    let patch = configurable(&tree);
    let config = sized(&base, &patch, overcommit, EDIT)?;
    if suspended && *config != *base {
        return Err(Fault::conflict(
            "There was an attempt to change VM values while the VM is not down. Please shut down the VM in order to modify \
             these properties.",
        ));
    }

    if let Some(name) = tree.text("name") {
        state.vms.rename(id, name);
    }
    let vm = state.vms.get_mut(id).ok_or_else(Fault::not_found)?;
    if let Some(description) = tree.text("description") {
        vm.description = description.into();
    }
    if let Some(comment) = tree.text("comment") {
        vm.comment = comment.into();
    }
    vm.instance_type = instance_type.or(vm.instance_type);
    vm.quota = quota.or(vm.quota);
    vm.cpu_profile = cpu_profile.or(vm.cpu_profile);
    vm.placement = placement;
    if !running && !next_run {
        vm.config = config;
    } else {
        let mut live = current.as_ref().clone();
        let mut changed = patch.clone();
        let dead: Vec<&str> = patch.iter().map(|(name, _)| name).filter(|name| !LIVE.contains(name)).collect();
        for name in dead {
            changed.remove(name);
        }
        live.merge(&changed);
        vm.config = Arc::new(live);
        vm.next_run = (*config != *vm.config).then_some(config);
    }
    Ok(Done::Updated { path: format!("vms/{id}") })
}
