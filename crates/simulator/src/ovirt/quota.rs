//! What of a quota is used, and whether more fits in.

use super::fault::Fault;
use super::messages::Attempt;
use super::model::{Quota, QuotaMode};
use super::state::State;
use super::table::Id;

/// The quota for something whose client names none: an engine with quotas counts it against the first one of the data centre.
pub(crate) fn usual(state: &State, data_center: Option<Id>) -> Option<Id> {
    let data_center = state.data_centers.get(data_center?).filter(|found| found.quota_mode != QuotaMode::Disabled)?;
    state.quotas.iter().find(|quota| quota.data_center == data_center.id).map(|quota| quota.id)
}

/// What running VMs take from a quota.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClusterUsage {
    pub(crate) vcpus: u64,
    pub(crate) memory_bytes: u64,
}

/// What the running VMs of a quota take, in one cluster or in all.
pub(crate) fn cluster_usage(state: &State, quota: Id, cluster: Option<Id>) -> ClusterUsage {
    let counted = state
        .vms
        .iter()
        .filter(|vm| vm.quota == Some(quota) && vm.is_running() && cluster.is_none_or(|cluster| vm.cluster == cluster));
    counted.fold(ClusterUsage::default(), |used, vm| ClusterUsage {
        vcpus: used.vcpus + u64::from(vm.cpus()),
        memory_bytes: used.memory_bytes.saturating_add(vm.memory_bytes()),
    })
}

/// What the disks of a quota take, in one storage domain or in all.
pub(crate) fn storage_usage(state: &State, quota: Id, domain: Option<Id>) -> u64 {
    let counted = state
        .disks
        .iter()
        .filter(|disk| disk.quota == Some(quota) && domain.is_none_or(|domain| disk.storage_domains.contains(&domain)));
    counted.map(|disk| disk.provisioned_bytes).fold(0, u64::saturating_add)
}

/// Whether a VM of that size may start under its quota.
pub(crate) fn allow_vm(state: &State, vm: Id, attempt: Attempt) -> Result<(), Fault> {
    let Some(vm) = state.vms.get(vm) else { return Ok(()) };
    let Some(quota) = enforced(state, vm.quota, state.data_center_of(vm.cluster)) else { return Ok(()) };
    for limit in quota.cluster_limits.iter().filter(|limit| limit.cluster.is_none_or(|cluster| cluster == vm.cluster)) {
        let used = cluster_usage(state, quota.id, limit.cluster);
        let within =
            |limit: Option<u64>, used: u64, more: u64| limit.is_none_or(|limit| used.saturating_add(more) <= limit);
        if !within(limit.vcpus, used.vcpus, vm.cpus().into())
            || !within(limit.memory_bytes, used.memory_bytes, vm.memory_bytes())
        {
            return Err(attempt.cluster_quota());
        }
    }
    Ok(())
}

/// Whether that much more may be stored under a quota.
pub(crate) fn allow_storage(
    state: &State,
    quota: Option<Id>,
    domain: Id,
    bytes: u64,
    attempt: Attempt,
) -> Result<(), Fault> {
    let data_center = state.storage_domains.get(domain).and_then(|domain| domain.data_center);
    let Some(quota) = enforced(state, quota, data_center) else { return Ok(()) };
    for limit in
        quota.storage_limits.iter().filter(|limit| limit.storage_domain.is_none_or(|limited| limited == domain))
    {
        let used = storage_usage(state, quota.id, limit.storage_domain);
        if limit.bytes.is_some_and(|limit| used.saturating_add(bytes) > limit) {
            return Err(attempt.storage_quota());
        }
    }
    Ok(())
}

/// The quota, if its data centre enforces quotas.
fn enforced(state: &State, quota: Option<Id>, data_center: Option<Id>) -> Option<&Quota> {
    let data_center = state.data_centers.get(data_center?)?;
    if data_center.quota_mode != QuotaMode::Enabled {
        return None;
    }
    state.quotas.get(quota?)
}

/// GiB as quotas count them.
#[allow(clippy::cast_precision_loss, reason = "a figure for people; 2^53 bytes are exact")]
pub(crate) fn gib(bytes: u64) -> f64 {
    bytes as f64 / (1_u64 << 30) as f64
}

/// Bytes of a number of GiB, which is not negative.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "saturates")]
pub(crate) fn bytes(gib: f64) -> u64 {
    (gib * (1_u64 << 30) as f64) as u64
}
