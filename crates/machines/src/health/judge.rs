//! Whether a machine is healthy, and which of those that are not may be replaced: pure functions.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Node;
use landfall_machine_api::{HealthCheckSpec, REMEDIATION};

use super::duration::parse;
use crate::{Machine, nodes};

/// How a machine is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Health {
    /// It is well.
    Healthy,
    /// It is well for so long.
    HealthyFor(Duration),
    /// It is not, and why.
    Unhealthy(String),
}

/// How a machine is. `node` is the one that it had last, if that is still there.
pub(super) fn judge(check: &HealthCheckSpec, machine: &Machine, node: Option<&Node>, now: Timestamp) -> Health {
    if let Some(reason) = machine.error_reason() {
        return Health::Unhealthy(format!("the machine failed: {reason:?}"));
    }
    let Some(name) = machine.node_name() else { return starting(check, machine, now) };
    let Some(node) = node else { return Health::Unhealthy(format!("its node {name} is gone")) };
    let mut soonest = None;
    for wanted in &check.unhealthy_conditions {
        let Some((status, since)) = nodes::condition(node, &wanted.kind) else { continue };
        if status != wanted.status {
            continue;
        }
        // A duration that cannot be read was refused when the check was written.
        let limit = parse(&wanted.timeout).unwrap_or(Duration::MAX);
        match remaining(since, limit, now) {
            None => {
                let reason = format!("{} of its node is {status} for more than {}", wanted.kind, wanted.timeout);
                return Health::Unhealthy(reason);
            }
            Some(rest) => soonest = Some(soonest.map_or(rest, |soonest: Duration| soonest.min(rest))),
        }
    }
    soonest.map_or(Health::Healthy, Health::HealthyFor)
}

/// A machine whose node has not come yet may take its time, as long as something moves.
fn starting(check: &HealthCheckSpec, machine: &Machine, now: Timestamp) -> Health {
    let limit = parse(&check.node_startup_timeout).unwrap_or(Duration::ZERO);
    if limit.is_zero() {
        return Health::Healthy;
    }
    let moved = machine.status.as_ref().and_then(|status| status.last_updated.as_ref()?.parse::<Timestamp>().ok());
    let born = machine.metadata.creation_timestamp.as_ref().map(|time| time.0);
    let Some(since) = moved.max(born) else { return Health::Healthy };
    match remaining(since, limit, now) {
        None => Health::Unhealthy(format!("it has no node after {}", check.node_startup_timeout)),
        Some(rest) => Health::HealthyFor(rest),
    }
}

/// How long until the limit is reached; none if it is.
fn remaining(since: Timestamp, limit: Duration, now: Timestamp) -> Option<Duration> {
    let elapsed = Duration::try_from(now.duration_since(since)).unwrap_or(Duration::ZERO);
    limit.checked_sub(elapsed).filter(|rest| !rest.is_zero())
}

/// A master, as far as its quorum is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Master {
    /// Whether its node is ready.
    pub(super) ready: bool,
    /// Whether it is being replaced.
    pub(super) leaving: bool,
}

/// Whether one of the masters, which is unhealthy, may be taken away: no other is leaving, and those that stay well are enough for etcd to go
/// on with the members that it has.
pub(super) fn keeps_quorum(others: &[Master]) -> bool {
    let members = others.len() + 1;
    let well = others.iter().filter(|master| master.ready && !master.leaving).count();
    others.iter().all(|master| !master.leaving) && well > members / 2
}

/// Whether a machine is on its way out.
pub(super) fn is_leaving(machine: &Machine) -> bool {
    machine.is_deleting() || machine.annotation(REMEDIATION).is_some()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use landfall_machine_api::{MachineSpec, MachineStatus, NodeReference, UnhealthyCondition};
    use serde_json::json;

    use super::*;

    fn check() -> HealthCheckSpec {
        let condition = |status: &str| UnhealthyCondition {
            kind: "Ready".to_owned(),
            status: status.to_owned(),
            timeout: "5m".to_owned(),
        };
        HealthCheckSpec {
            unhealthy_conditions: vec![condition("False"), condition("Unknown")],
            node_startup_timeout: "10m".to_owned(),
            ..HealthCheckSpec::default()
        }
    }

    fn machine(node: bool, updated: i64) -> Machine {
        let mut machine = Machine::new(ObjectMeta::default(), MachineSpec::default());
        let node_ref = node.then(|| NodeReference { kind: "Node".into(), name: "n".into(), uid: String::new() });
        let last_updated = Some(Timestamp::from_second(updated).unwrap().to_string());
        machine.status = Some(MachineStatus { node_ref, last_updated, ..MachineStatus::default() });
        machine
    }

    fn node(status: &str, since: i64) -> Node {
        let since = Timestamp::from_second(since).unwrap();
        serde_json::from_value(json!({ "metadata": { "name": "n" }, "status": { "conditions": [
            { "type": "Ready", "status": status, "lastTransitionTime": since.to_string() },
        ] } }))
        .unwrap()
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_condition_must_last() {
        let machine = machine(true, 0);
        assert_eq!(judge(&check(), &machine, Some(&node("True", 0)), at(9999)), Health::Healthy);
        let healthy = Health::HealthyFor(Duration::from_secs(200));
        assert_eq!(judge(&check(), &machine, Some(&node("Unknown", 0)), at(100)), healthy);
        for status in ["False", "Unknown"] {
            let health = judge(&check(), &machine, Some(&node(status, 0)), at(300));
            assert!(matches!(health, Health::Unhealthy(_)), "{health:?}");
        }
        // A clock that is behind makes nobody sick.
        let healthy = Health::HealthyFor(Duration::from_mins(5));
        assert_eq!(judge(&check(), &machine, Some(&node("False", 500)), at(100)), healthy);
    }

    #[test]
    fn a_node_must_come_in_time_and_stay() {
        assert_eq!(judge(&check(), &machine(true, 0), None, at(1)), Health::Unhealthy("its node n is gone".to_owned()));
        let healthy = Health::HealthyFor(Duration::from_secs(1));
        assert_eq!(judge(&check(), &machine(false, 0), None, at(599)), healthy);
        assert!(matches!(judge(&check(), &machine(false, 0), None, at(600)), Health::Unhealthy(_)));
        let patient = HealthCheckSpec { node_startup_timeout: "0".to_owned(), ..check() };
        assert_eq!(judge(&patient, &machine(false, 0), None, at(99_999)), Health::Healthy);
    }

    #[test]
    fn masters_go_one_at_a_time_and_never_below_quorum() {
        let (well, ill) = (Master { ready: true, leaving: false }, Master { ready: false, leaving: false });
        let leaving = Master { ready: true, leaving: true };
        for (others, may) in [
            (vec![well, well], true),
            (vec![well, ill], false),
            (vec![well, leaving], false),
            (vec![], false),
            (vec![well], false),
            (vec![well, well, well, well], true),
            (vec![well, well, well, ill], true),
            (vec![well, well, ill, ill], false),
            (vec![well, well, well, leaving], false),
        ] {
            assert_eq!(keeps_quorum(&others), may, "{others:?}");
        }
    }
}
