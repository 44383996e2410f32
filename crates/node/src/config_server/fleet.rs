//! Machines and nodes of the cluster, as far as they decide who may fetch a config.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use jiff::Timestamp;
use landfall_machine_api::{Maker, ROLE_LABEL};
use serde_json::Value;

use super::{BOOT_TIMEOUT, MachineId};

/// Time from the start of an installer run in which its machines may fetch their configs for the first time: images are uploaded and servers
/// are waited for before the last of them boots.
const RUN_TIMEOUT: Duration = Duration::from_hours(24);

/// Machines and nodes that the cluster knows.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    machines: HashMap<String, Known>,
    nodes: HashSet<String>,
}

#[derive(Clone, Debug)]
struct Known {
    uid: String,
    role: String,
    born: Option<Timestamp>,
    is_open: bool,
    is_going: bool,
}

impl Fleet {
    /// Reads the objects of machines; nodes are given by their names.
    pub fn new<'a>(machines: impl IntoIterator<Item = &'a Value>, nodes: impl IntoIterator<Item = String>) -> Self {
        let machines = machines.into_iter().filter_map(|machine| {
            let metadata = &machine["metadata"];
            let known = Known {
                uid: metadata["uid"].as_str().unwrap_or_default().to_owned(),
                role: metadata["labels"][ROLE_LABEL].as_str().unwrap_or_default().to_owned(),
                born: metadata["creationTimestamp"].as_str().and_then(|time| time.parse().ok()),
                is_open: is_open(machine),
                is_going: is_going(machine),
            };
            Some((metadata["name"].as_str()?.to_owned(), known))
        });
        Self { machines: machines.collect(), nodes: nodes.into_iter().collect() }
    }

    /// Returns the uid of a machine's object.
    pub fn uid(&self, name: &str) -> Option<&str> {
        self.machines.get(name).map(|machine| machine.uid.as_str())
    }

    /// Returns why a machine may not fetch a config; none if it may.
    pub fn refusal(&self, machine: MachineId<'_>, now: Timestamp) -> Option<String> {
        let MachineId { name, maker } = machine;
        if self.nodes.contains(name) {
            return Some(format!("{name} has a node"));
        }
        let known = self.machines.get(name);
        match maker {
            Maker::User => None,
            Maker::Run(_) if has_ended(maker, now) => Some(format!("{name} was made by a run that began too long ago")),
            // Its object may say that an earlier instance is gone, for which the run has made this one.
            Maker::Run(_) => known.is_some_and(|known| known.is_going).then(|| format!("machine {name} is going")),
            Maker::Object(uid) => match known {
                None => Some(format!("there is no machine {name}")),
                Some(known) if known.uid != *uid => Some(format!("{name} is another machine of the same name")),
                Some(known) => (!known.is_open || !is_young(known.born, now))
                    .then(|| format!("machine {name} is too old, has a node or is going")),
            },
        }
    }

    /// Returns true if there is a node of this name.
    pub fn has_node(&self, name: &str) -> bool {
        self.nodes.contains(name)
    }

    /// Returns true if a machine of a role is expected to come: its object was made of late, and it has no node yet.
    pub(super) fn awaits(&self, role: &str, now: Timestamp) -> bool {
        let mut machines = self.machines.iter().filter(|(_, machine)| machine.role == role);
        machines.any(|(name, machine)| machine.is_open && is_young(machine.born, now) && !self.nodes.contains(name))
    }
}

/// Returns true if a machine's object says nothing that keeps it from booting.
fn is_open(machine: &Value) -> bool {
    let status = &machine["status"];
    !is_going(machine) && status["nodeRef"].is_null() && status["errorReason"].is_null()
}

fn is_going(machine: &Value) -> bool {
    !machine["metadata"]["deletionTimestamp"].is_null()
}

/// Returns true if the credential of a machine that the installer makes has ended, used or not.
pub(super) fn has_ended(maker: &Maker, now: Timestamp) -> bool {
    let Maker::Run(began) = maker else { return false };
    u64::try_from(now.as_second()).unwrap_or_default().abs_diff(*began) > RUN_TIMEOUT.as_secs()
}

fn is_young(born: Option<Timestamp>, now: Timestamp) -> bool {
    born.is_some_and(|born| now.duration_since(born).unsigned_abs() < BOOT_TIMEOUT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn machine(born: &str) -> Value {
        let labels = json!({ ROLE_LABEL: "master" });
        json!({ "metadata": { "name": "m3", "uid": "u3", "labels": labels, "creationTimestamp": born }, "status": {} })
    }

    fn now() -> Timestamp {
        "2026-05-05T12:00:00Z".parse().unwrap()
    }

    fn refusal(fleet: &Fleet, name: &str, maker: &Maker) -> String {
        fleet.refusal(MachineId { name, maker }, now()).unwrap_or_default()
    }

    #[test]
    fn a_machine_is_awaited_until_it_has_come_and_not_for_ever() {
        let fleet =
            |machine: &Value, nodes: &[&str]| Fleet::new([machine], nodes.iter().map(|node| (*node).to_owned()));
        let young = machine("2026-05-05T11:30:00Z");
        let own = Maker::Object("u3".to_owned());
        let may = |fleet: &Fleet| (refusal(fleet, "m3", &own).is_empty(), fleet.awaits("master", now()));
        assert_eq!(may(&fleet(&young, &[])), (true, true));
        assert!(!fleet(&young, &[]).awaits("worker", now()));
        assert_eq!(may(&fleet(&young, &["m3"])), (false, false), "it has come");
        assert_eq!(may(&fleet(&machine("2026-05-05T09:59:00Z"), &[])), (false, false), "too long ago");
        for (path, value) in [
            ("/metadata/deletionTimestamp", json!("2026-05-05T11:40:00Z")),
            ("/status/nodeRef", json!({ "name": "m3" })),
            ("/status/errorReason", json!("InvalidConfiguration")),
        ] {
            let mut other = young.clone();
            let (parent, key) = path.rsplit_once('/').unwrap();
            other.pointer_mut(parent).unwrap()[key] = value;
            assert_eq!(may(&fleet(&other, &[])), (false, false), "{path}");
        }
    }

    #[test]
    fn a_credential_is_of_one_object_and_not_of_the_next_with_its_name() {
        let young = machine("2026-05-05T11:30:00Z");
        let fleet = Fleet::new([&young], []);
        let object = |uid: &str| Maker::Object(uid.to_owned());
        assert_eq!(refusal(&fleet, "m3", &object("u3")), "");
        assert_eq!(refusal(&fleet, "m3", &object("u2")), "m3 is another machine of the same name");
        assert_eq!(refusal(&fleet, "w9", &object("u9")), "there is no machine w9");
    }

    #[test]
    fn what_a_run_or_a_user_makes_has_a_name_until_it_has_a_node() {
        let began = |text: &str| Maker::Run(text.parse::<Timestamp>().unwrap().as_second().unsigned_abs());
        let (today, yesterday) = (began("2026-05-05T02:00:00Z"), began("2026-05-04T11:00:00Z"));
        let mut going = machine("2026-05-05T11:30:00Z");
        going["metadata"]["deletionTimestamp"] = json!("2026-05-05T11:40:00Z");
        let fleet = Fleet::new([&going], ["w0".to_owned()]);
        for maker in [&Maker::User, &today] {
            assert_eq!(refusal(&fleet, "w1", maker), "");
            assert_eq!(refusal(&fleet, "w0", maker), "w0 has a node");
        }
        assert_eq!(refusal(&fleet, "w1", &yesterday), "w1 was made by a run that began too long ago");
        assert_eq!(refusal(&fleet, "m3", &today), "machine m3 is going");
        let mut lost = machine("2026-05-05T11:30:00Z");
        lost["status"] = json!({ "errorReason": "InstanceGone" });
        let fleet = Fleet::new([&lost], []);
        assert_eq!(refusal(&fleet, "m3", &today), "", "a run makes it again");
        assert_ne!(refusal(&fleet, "m3", &Maker::Object("u3".to_owned())), "");
    }
}
