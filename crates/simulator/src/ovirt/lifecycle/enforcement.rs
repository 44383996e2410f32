//! Affinity enforcement: now and then the engine moves one VM that breaks a rule to where it does not.

use super::power;
use crate::ovirt::agenda::Due;
use crate::ovirt::delays;
use crate::ovirt::model::{AffinityGroup, VmStatus};
use crate::ovirt::scheduler;
use crate::ovirt::state::State;

/// Sees to it that rules are looked at, if there is a rule that is broken and nobody is to look at it yet.
pub(crate) fn arm(state: &mut State) {
    let broken = state.affinity_groups.iter().any(|group| !scheduler::offenders(state, group).is_empty());
    if broken && !state.agenda.has(Due::EnforceAffinity) {
        let at = state.after(delays::AFFINITY_ENFORCEMENT);
        state.agenda.add(at, Due::EnforceAffinity);
    }
}

/// Moves one VM, if one can be moved to a better place. Looking goes on only while it helps.
pub(crate) fn due(state: &mut State) {
    let mut groups: Vec<&AffinityGroup> = state.affinity_groups.iter().collect();
    groups.sort_by(|a, b| b.priority.total_cmp(&a.priority));
    let offenders: Vec<_> = groups.into_iter().flat_map(|group| scheduler::offenders(state, group)).collect();
    for vm in offenders {
        let up = state.vms.get(vm).is_some_and(|vm| vm.status == VmStatus::Up);
        if up && power::migrate(state, vm, &[], true).is_ok() {
            arm(state);
            return;
        }
    }
}
