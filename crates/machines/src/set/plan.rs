//! What is to be done about a set: pure functions of the set and its machines.

use std::collections::BTreeMap;

use jiff::Timestamp;
use landfall_machine_api::{Condition, DELETE_FIRST, DeletePolicy, MachineSetStatus, Phase, set_condition};

use crate::{Machine, MachineSet, machine::CREATED};

/// Condition of sets: the platform has made an instance for each machine.
const MACHINES_CREATED: &str = "MachinesCreated";

/// Which machines belong to a set, and which could.
#[derive(Default)]
pub(super) struct Members<'a> {
    /// Those that it controls.
    pub(super) own: Vec<&'a Machine>,
    /// Those that nobody controls and that it selects.
    pub(super) orphans: Vec<&'a Machine>,
}

/// Sorts out whose machines are whose.
pub(super) fn members<'a>(set: &MachineSet, machines: impl Iterator<Item = &'a Machine>) -> Members<'a> {
    let mut members = Members::default();
    let none = std::collections::BTreeMap::new();
    for machine in machines {
        let selected = set.spec.selector.matches(machine.metadata.labels.as_ref().unwrap_or(&none));
        match machine.controller() {
            Some(owner) if owner == set.uid() => members.own.push(machine),
            None if selected && !machine.is_deleting() => members.orphans.push(machine),
            _ => {}
        }
    }
    members
}

/// What it takes to have as many machines as wanted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// So many more.
    Add(usize),
    /// These less.
    Remove(Vec<String>),
    /// All is as wanted.
    Nothing,
}

/// What it takes to have as many machines as wanted. `draw` puts machines that are equal otherwise in order.
pub(super) fn change(set: &MachineSet, own: &[&Machine], draw: impl Fn(&Machine) -> u64) -> Change {
    let wanted = usize::try_from(set.spec.replicas).unwrap_or(0);
    let mut staying: Vec<_> = own.iter().filter(|machine| !machine.is_deleting()).collect();
    if staying.len() < wanted {
        return Change::Add(wanted - staying.len());
    }
    if staying.len() == wanted {
        return Change::Nothing;
    }
    let policy = set.spec.delete_policy.unwrap_or_default();
    staying.sort_by_cached_key(|machine| (worth(machine), order(policy, machine, &draw), machine.name().to_owned()));
    Change::Remove(staying[..staying.len() - wanted].iter().map(|machine| machine.name().to_owned()).collect())
}

/// Those that are worth least go first.
fn worth(machine: &Machine) -> u8 {
    match () {
        () if DELETE_FIRST.iter().any(|annotation| machine.annotation(annotation).is_some()) => 0,
        () if machine.error_reason().is_some() || machine.phase() == Some(Phase::Failed) => 1,
        () if machine.node_name().is_none() => 2,
        () => 3,
    }
}

fn order(policy: DeletePolicy, machine: &Machine, draw: impl Fn(&Machine) -> u64) -> i64 {
    let born = machine.metadata.creation_timestamp.as_ref().map_or(0, |time| time.0.as_second());
    match policy {
        DeletePolicy::Random => i64::try_from(draw(machine) >> 1).unwrap_or(i64::MAX),
        DeletePolicy::Newest => -born,
        DeletePolicy::Oldest => born,
    }
}

/// The status of a set. `ready_since` says since when the node of a machine is ready, if it is.
pub(super) fn status(
    set: &MachineSet,
    own: &[&Machine],
    ready_since: impl Fn(&Machine) -> Option<Timestamp>,
    now: Timestamp,
) -> MachineSetStatus {
    let staying: Vec<_> = own.iter().filter(|machine| !machine.is_deleting()).collect();
    let count = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let labels = &set.spec.template.metadata.labels;
    let labelled = staying.iter().filter(|machine| labels.iter().all(|(key, value)| machine.label(key) == Some(value)));
    let ready: Vec<_> = staying.iter().filter_map(|machine| ready_since(machine)).collect();
    let least = i64::from(set.spec.min_ready_seconds);
    let available = ready.iter().filter(|since| now.as_second() - since.as_second() >= least);
    let before = set.status.clone().unwrap_or_default();
    MachineSetStatus {
        replicas: count(staying.len()),
        fully_labeled_replicas: count(labelled.count()),
        ready_replicas: count(ready.len()),
        available_replicas: count(available.count()),
        label_selector: set.spec.selector.to_string(),
        observed_generation: set.metadata.generation.unwrap_or_default(),
        conditions: conditions(before.conditions.clone(), &staying, now),
        ..before
    }
}

/// Returns the conditions of a set: how many of its machines the platform refuses, by reason. A set of which none was ever refused needs no
/// word about it.
fn conditions(mut conditions: Vec<Condition>, machines: &[&&Machine], now: Timestamp) -> Vec<Condition> {
    let mut reasons = BTreeMap::<&str, usize>::new();
    for machine in machines {
        let known = machine.status.iter().flat_map(|status| &status.conditions);
        for refusal in known.filter(|condition| condition.kind == CREATED && condition.status == "False") {
            *reasons.entry(refusal.reason.as_str()).or_default() += 1;
        }
    }
    let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    if let Some((most, _)) = reasons.iter().max_by_key(|(_, count)| **count) {
        let counts: Vec<String> = reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        let message = format!("the platform refuses machines of {}: {}", machines.len(), counts.join(", "));
        set_condition(&mut conditions, MACHINES_CREATED, false, most, &message, &now);
    } else if conditions.iter().any(|condition| condition.kind == MACHINES_CREATED) {
        set_condition(&mut conditions, MACHINES_CREATED, true, "Created", "", &now);
    }
    conditions
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
    use landfall_machine_api::{MachineSetSpec, MachineSpec, MachineStatus, NodeReference};

    use super::*;

    fn set(replicas: i32, policy: DeletePolicy) -> MachineSet {
        let mut spec = MachineSetSpec { replicas, delete_policy: Some(policy), ..MachineSetSpec::default() };
        spec.selector.match_labels.insert("set".to_owned(), "a".to_owned());
        MachineSet::new(ObjectMeta { uid: Some("u".to_owned()), ..ObjectMeta::default() }, spec)
    }

    fn machine(name: &str, born: i64, node: bool) -> Machine {
        let metadata = ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some([("set".to_owned(), "a".to_owned())].into()),
            creation_timestamp: Some(Time(Timestamp::from_second(born).unwrap())),
            ..ObjectMeta::default()
        };
        let mut machine = Machine::new(metadata, MachineSpec::default());
        let node_ref = node.then(|| NodeReference { kind: "Node".into(), name: name.into(), uid: String::new() });
        machine.status = Some(MachineStatus { node_ref, ..MachineStatus::default() });
        machine
    }

    fn removed(set: &MachineSet, machines: &[Machine]) -> Vec<String> {
        match change(set, &machines.iter().collect::<Vec<_>>(), |machine| machine.name().len() as u64) {
            Change::Remove(names) => names,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn policies_choose_by_age() {
        let machines = [machine("old", 1, true), machine("mid", 2, true), machine("new", 3, true)];
        assert_eq!(removed(&set(1, DeletePolicy::Newest), &machines), ["new", "mid"]);
        assert_eq!(removed(&set(1, DeletePolicy::Oldest), &machines), ["old", "mid"]);
        assert_eq!(removed(&set(2, DeletePolicy::Random), &machines).len(), 1);
    }

    #[test]
    fn what_is_worth_less_goes_before_any_policy() {
        let mut annotated = machine("chosen", 9, true);
        annotated.metadata.annotations = Some([(DELETE_FIRST[1].to_owned(), "yes".to_owned())].into());
        let machines = [machine("old", 1, true), machine("nodeless", 8, false), annotated];
        assert_eq!(removed(&set(1, DeletePolicy::Oldest), &machines), ["chosen", "nodeless"]);
    }

    #[test]
    fn those_that_go_already_are_neither_counted_nor_chosen() {
        let mut going = machine("going", 1, true);
        going.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        let staying = machine("staying", 2, true);
        let own = [&going, &staying];
        assert_eq!(change(&set(1, DeletePolicy::Oldest), &own, |_| 0), Change::Nothing);
        assert_eq!(change(&set(3, DeletePolicy::Oldest), &own, |_| 0), Change::Add(2));
        assert_eq!(status(&set(3, DeletePolicy::Oldest), &own, |_| None, Timestamp::UNIX_EPOCH).replicas, 1);
    }

    #[test]
    fn a_set_says_how_many_of_its_machines_are_refused() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut machines = ["a", "b", "c", "d"].map(|name| machine(name, 1, false));
        let mut set = set(4, DeletePolicy::Random);
        let judge = |set: &MachineSet, machines: &[Machine], second| {
            status(set, &machines.iter().collect::<Vec<_>>(), |_| None, at(second))
        };
        assert!(judge(&set, &machines, 1).conditions.is_empty(), "none was ever refused");
        for (machine, reason) in machines.iter_mut().zip(["OutOfCapacity", "OutOfCapacity", "Locked"]) {
            let conditions = &mut machine.status.as_mut().unwrap().conditions;
            set_condition(conditions, CREATED, false, reason, "", "1970-01-01T00:00:02Z");
        }
        let refused = judge(&set, &machines, 2);
        let [condition] = refused.conditions.as_slice() else { panic!("{refused:?}") };
        assert_eq!(
            (condition.status.as_str(), condition.reason.as_str(), condition.message.as_str()),
            ("False", "OutOfCapacity", "the platform refuses machines of 4: 1 Locked, 2 OutOfCapacity")
        );
        set.status = Some(refused);
        for machine in &mut machines {
            machine.status.as_mut().unwrap().conditions.clear();
        }
        assert_eq!(judge(&set, &machines, 3).conditions[0].status, "True");
    }

    #[test]
    fn machines_of_others_are_left_alone_and_orphans_are_not_counted_until_adopted() {
        let owned = |uid: &str| {
            let mut machine = machine(uid, 1, true);
            machine.metadata.owner_references =
                Some(vec![OwnerReference { uid: uid.to_owned(), controller: Some(true), ..OwnerReference::default() }]);
            machine
        };
        let mut other_labels = machine("else", 1, true);
        other_labels.metadata.labels = None;
        let machines = [owned("u"), owned("v"), machine("orphan", 1, true), other_labels];
        let members = members(&set(1, DeletePolicy::Random), machines.iter());
        assert_eq!(members.own.iter().map(|machine| machine.name()).collect::<Vec<_>>(), ["u"]);
        assert_eq!(members.orphans.iter().map(|machine| machine.name()).collect::<Vec<_>>(), ["orphan"]);
    }
}
