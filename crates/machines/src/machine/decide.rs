//! What is to be done about a machine: a pure function of what is known.

use landfall_machine_api as api;

use super::{DRAINED, FENCED};
use crate::{Machine, platforms::Sight};

/// What is known of a machine.
pub(crate) struct View<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) sight: &'a Sight,
    /// Whether it has a node that can be drained: one that answers.
    pub(crate) drainable: bool,
    /// Whether its instance was deleted since its object was marked as deleted.
    pub(crate) removed: bool,
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Nothing, except to say what is so.
    Observe,
    /// Mark the object, so that it cannot go before its instance.
    TakeOn,
    /// Make the instance.
    Create,
    /// Ask the platform whether the instance is really gone, and give the machine up if it is.
    Confirm,
    /// Switch the instance off.
    Fence,
    /// Mark the object as deleted, because its instance is fenced.
    Discard,
    /// Wait until others agree that the node is drained.
    AwaitDrainHooks,
    /// Move the pods elsewhere.
    Drain,
    /// Wait until others agree that the instance is deleted.
    AwaitRemovalHooks,
    /// Delete the instance.
    Remove,
    /// Let the object go.
    Release,
}

/// What is to be done next about a machine.
pub(crate) fn decide(view: &View<'_>) -> Act {
    let View { machine, sight, drainable, removed } = *view;
    let hooks = &machine.spec.lifecycle_hooks;
    if machine.is_deleting() {
        return match () {
            () if !machine.has_finalizer() => Act::Observe,
            () if !hooks.pre_drain.is_empty() => Act::AwaitDrainHooks,
            () if needs_drain(machine, drainable) && !removed => Act::Drain,
            () if !hooks.pre_terminate.is_empty() => Act::AwaitRemovalHooks,
            () if !removed => Act::Remove,
            () => Act::Release,
        };
    }
    if machine.annotation(api::REMEDIATION).is_some() {
        return if machine.is_so(FENCED) { Act::Discard } else { Act::Fence };
    }
    if machine.error_reason().is_some() {
        // It had an instance or could never have one: another is a matter of another object.
        return Act::Observe;
    }
    if !machine.has_finalizer() {
        return Act::TakeOn;
    }
    match (machine.provider_id(), sight) {
        (None, _) => Act::Create,
        (Some(_), Sight::Absent) => Act::Confirm,
        (Some(_), _) => Act::Observe,
    }
}

fn needs_drain(machine: &Machine, drainable: bool) -> bool {
    drainable && machine.annotation(api::NO_DRAIN).is_none() && !machine.is_so(DRAINED) && !machine.is_so(FENCED)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
    use landfall_machine_api::{Condition, ErrorReason, Hook, MachineSpec, MachineStatus};

    use super::*;

    fn machine(change: impl FnOnce(&mut Machine)) -> Machine {
        let finalizers = Some(vec![api::FINALIZER.to_owned()]);
        let mut machine = Machine::new(ObjectMeta { finalizers, ..ObjectMeta::default() }, MachineSpec::default());
        machine.status = Some(MachineStatus::default());
        change(&mut machine);
        machine
    }

    fn act(machine: &Machine, sight: &Sight, drainable: bool, removed: bool) -> Act {
        decide(&View { machine, sight, drainable, removed })
    }

    fn deleting(machine: &mut Machine) {
        machine.metadata.deletion_timestamp = Some(Time(jiff::Timestamp::UNIX_EPOCH));
    }

    fn condition(machine: &mut Machine, kind: &str) {
        machine.status.as_mut().unwrap().conditions.push(Condition {
            kind: kind.to_owned(),
            status: "True".to_owned(),
            last_transition_time: String::new(),
            reason: String::new(),
            severity: String::new(),
            message: String::new(),
        });
    }

    #[test]
    fn an_instance_is_made_once_and_only_under_a_finalizer() {
        let new = machine(|machine| machine.metadata.finalizers = None);
        assert_eq!(act(&new, &Sight::Unknown, false, false), Act::TakeOn);
        assert_eq!(act(&machine(|_| ()), &Sight::Absent, false, false), Act::Create);
        let made = machine(|machine| machine.spec.provider_id = Some("ovirt://1".to_owned()));
        assert_eq!(act(&made, &Sight::Absent, false, false), Act::Confirm);
        assert_eq!(act(&made, &Sight::Unknown, false, false), Act::Observe);
        let failed = machine(|machine| {
            machine.status.as_mut().unwrap().error_reason = Some(ErrorReason::InvalidConfiguration);
        });
        assert_eq!(act(&failed, &Sight::Absent, false, false), Act::Observe);
    }

    #[test]
    fn what_is_deleted_is_drained_removed_and_released_in_this_order() {
        let hook = || vec![Hook { name: "backup".to_owned(), owner: "somebody".to_owned() }];
        let before_drain = machine(|machine| {
            deleting(machine);
            machine.spec.lifecycle_hooks.pre_drain = hook();
        });
        assert_eq!(act(&before_drain, &Sight::Absent, true, false), Act::AwaitDrainHooks);
        let gone = machine(deleting);
        assert_eq!(act(&gone, &Sight::Absent, true, false), Act::Drain);
        assert_eq!(act(&gone, &Sight::Absent, false, false), Act::Remove);
        assert_eq!(act(&gone, &Sight::Absent, true, true), Act::Release);
        let drained = machine(|machine| {
            deleting(machine);
            condition(machine, DRAINED);
            machine.spec.lifecycle_hooks.pre_terminate = hook();
        });
        assert_eq!(act(&drained, &Sight::Unknown, true, false), Act::AwaitRemovalHooks);
        let let_go = machine(|machine| {
            deleting(machine);
            machine.metadata.finalizers = None;
        });
        assert_eq!(act(&let_go, &Sight::Absent, true, false), Act::Observe);
    }

    #[test]
    fn what_is_unhealthy_is_fenced_before_it_is_discarded() {
        let sick = |machine: &mut Machine| {
            machine.metadata.annotations = Some([(api::REMEDIATION.to_owned(), "node gone".to_owned())].into());
        };
        assert_eq!(act(&machine(sick), &Sight::Unknown, true, false), Act::Fence);
        let fenced = machine(|machine| {
            sick(machine);
            condition(machine, FENCED);
        });
        assert_eq!(act(&fenced, &Sight::Unknown, true, false), Act::Discard);
        let discarded = machine(|machine| {
            sick(machine);
            condition(machine, FENCED);
            deleting(machine);
        });
        assert_eq!(act(&discarded, &Sight::Unknown, true, false), Act::Remove);
    }
}
