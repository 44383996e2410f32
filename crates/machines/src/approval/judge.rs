//! Whether a request is one that a machine of the cluster may make: a pure function.

use std::{net::IpAddr, time::Duration};

use jiff::Timestamp;
use landfall_machine_api::{KubeletRequest, Networks, Phase, Wish};

use crate::Machine;

/// Facts about the cluster besides the request itself.
pub(super) struct Surroundings<'a> {
    /// The machine with the name that the request asks for.
    pub(super) machine: Option<&'a Machine>,
    /// Whether a node of that name is there.
    pub(super) node_exists: bool,
    /// Whether a first certificate was approved for that name before, since the machine was made.
    pub(super) approved_before: bool,
    /// Whether a later request for that name waits too: who sent this one has given it up.
    pub(super) superseded: bool,
    /// For how long after it was made a machine may ask for its first certificate.
    pub(super) join_window: Duration,
    /// When the request was sent.
    pub(super) sent: Timestamp,
    /// Address ranges of the cluster.
    pub(super) networks: &'a Networks,
    /// Another machine or node that has an address of the request, by its name.
    pub(super) rival: Option<String>,
}

/// Why a request is not approved; none if it is.
pub(super) fn refusal(request: &KubeletRequest, surroundings: &Surroundings<'_>) -> Option<String> {
    let name = &request.node;
    let Some(machine) = surroundings.machine else { return Some(format!("there is no machine {name}")) };
    if machine.is_deleting() || machine.error_reason().is_some() {
        return Some(format!("machine {name} is going or has failed"));
    }
    match &request.wish {
        Wish::Renewal => None,
        Wish::Serving { addresses: asked, .. } => {
            let own: Vec<IpAddr> = addresses(machine).collect();
            let foreign = request.wish.foreign(name, &own).map(|foreign| format!("{foreign} of machine {name}"));
            // What a guest reports need not be so.
            let impossible = || asked.iter().find_map(|address| surroundings.networks.refusal(*address));
            let claimed = || surroundings.rival.as_ref().map(|rival| format!("{rival} has an address of {name} too"));
            foreign.or_else(impossible).or_else(claimed)
        }
        Wish::First => first_refusal(machine, surroundings),
    }
}

fn first_refusal(machine: &Machine, surroundings: &Surroundings<'_>) -> Option<String> {
    let name = machine.name();
    let born = machine.metadata.creation_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0);
    let age = Duration::try_from(surroundings.sent.duration_since(born)).ok();
    match () {
        () if surroundings.node_exists || machine.node_name().is_some() => Some(format!("{name} has a node already")),
        () if surroundings.approved_before => Some(format!("{name} has got its first certificate already")),
        () if surroundings.superseded => Some(format!("{name} has asked again since")),
        () if !matches!(machine.phase(), Some(Phase::Provisioned)) || addresses(machine).next().is_none() => {
            Some(format!("the instance of {name} does not run yet"))
        }
        () => match age {
            None => Some(format!("it is older than machine {name}")),
            Some(age) if age > surroundings.join_window => Some(format!("machine {name} is too old to join")),
            Some(_) => None,
        },
    }
}

pub(super) fn addresses(machine: &Machine) -> impl Iterator<Item = IpAddr> + '_ {
    let all = machine.status.iter().flat_map(|status| &status.addresses);
    all.filter(|address| address.kind.ends_with("IP")).filter_map(|address| address.address.parse().ok())
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
    use landfall_machine_api::{Address, MachineSpec, MachineStatus, NodeReference};

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn machine() -> Machine {
        let metadata =
            ObjectMeta { name: Some("m".into()), creation_timestamp: Some(Time(at(1000))), ..ObjectMeta::default() };
        let mut machine = Machine::new(metadata, MachineSpec::default());
        let address = |kind: &str, address: &str| Address { kind: kind.to_owned(), address: address.to_owned() };
        machine.status = Some(MachineStatus {
            phase: Some(Phase::Provisioned),
            addresses: vec![address("InternalIP", "192.0.2.9"), address("Hostname", "m")],
            ..MachineStatus::default()
        });
        machine
    }

    fn judged(wish: Wish, machine: Option<&Machine>, change: impl FnOnce(&mut Surroundings<'_>)) -> String {
        let networks = Networks { taken: vec!["10.128.0.0/14".parse().unwrap()], ..Networks::default() };
        let mut surroundings = Surroundings {
            machine,
            node_exists: false,
            approved_before: false,
            superseded: false,
            join_window: Duration::from_hours(2),
            sent: at(1060),
            networks: &networks,
            rival: None,
        };
        change(&mut surroundings);
        refusal(&KubeletRequest { node: "m".to_owned(), wish }, &surroundings).unwrap_or_default()
    }

    #[test]
    fn a_first_certificate_is_for_a_young_machine_that_runs_and_has_no_node() {
        let good = machine();
        assert_eq!(judged(Wish::First, Some(&good), |_| ()), "");
        assert_eq!(judged(Wish::First, None, |_| ()), "there is no machine m");
        assert!(judged(Wish::First, Some(&good), |known| known.node_exists = true).contains("has a node already"));
        assert!(judged(Wish::First, Some(&good), |known| known.approved_before = true).contains("first certificate"));
        assert!(judged(Wish::First, Some(&good), |known| known.superseded = true).contains("asked again"));
        assert!(judged(Wish::First, Some(&good), |known| known.sent = at(999)).contains("older than machine"));
        assert!(judged(Wish::First, Some(&good), |known| known.sent = at(1000 + 7201)).contains("too old to join"));
        let mut other = machine();
        other.status.as_mut().unwrap().addresses.clear();
        assert!(judged(Wish::First, Some(&other), |_| ()).contains("does not run yet"));
        let mut other = machine();
        other.status.as_mut().unwrap().phase = Some(Phase::Provisioning);
        assert!(judged(Wish::First, Some(&other), |_| ()).contains("does not run yet"));
        let mut other = machine();
        let node_ref = NodeReference { kind: "Node".into(), name: "m".into(), uid: String::new() };
        other.status.as_mut().unwrap().node_ref = Some(node_ref);
        assert!(judged(Wish::First, Some(&other), |_| ()).contains("has a node already"));
    }

    #[test]
    fn a_machine_that_goes_gets_nothing() {
        let mut going = machine();
        going.metadata.deletion_timestamp = Some(Time(at(2000)));
        assert_eq!(judged(Wish::Renewal, Some(&machine()), |_| ()), "");
        for wish in [Wish::First, Wish::Renewal, Wish::Serving { names: vec!["m".into()], addresses: vec![] }] {
            assert!(judged(wish, Some(&going), |_| ()).contains("is going"));
        }
    }

    #[test]
    fn a_serving_certificate_is_for_the_machines_own_addresses() {
        let serving =
            |address: &str| Wish::Serving { names: vec!["m".into()], addresses: vec![address.parse().unwrap()] };
        assert_eq!(judged(serving("192.0.2.9"), Some(&machine()), |_| ()), "");
        let refused = judged(serving("192.0.2.5"), Some(&machine()), |_| ());
        assert_eq!(refused, "192.0.2.5 is not an address of machine m");
        let mut liar = machine();
        let claim = Address { kind: "InternalIP".to_owned(), address: "10.128.0.10".to_owned() };
        liar.status.as_mut().unwrap().addresses.push(claim);
        let refused = judged(serving("10.128.0.10"), Some(&liar), |_| ());
        assert_eq!(refused, "10.128.0.10 is in a network of pods or services");
        let refused = judged(serving("192.0.2.9"), Some(&machine()), |known| known.rival = Some("n".to_owned()));
        assert_eq!(refused, "n has an address of m too");
    }
}
