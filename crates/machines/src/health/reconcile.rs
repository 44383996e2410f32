//! Looking at one health check.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Node;
use landfall_machine_api::{HealthCheckStatus, set_condition};

use super::{
    judge::{Health, is_leaving, judge},
    remediate::remediate,
};
use crate::{Error, Machine, MachineHealthCheck, events::Level, nodes, patch, world::World};

/// Condition of checks: machines that are unhealthy are replaced.
const ALLOWED: &str = "RemediationAllowed";

/// Looks at one check. Returns when to look again, if by then nothing has happened.
pub(crate) async fn reconcile(world: Arc<World>, name: String) -> Result<Option<Duration>, Error> {
    let Some(check) = world.checks.get(&name) else { return Ok(None) };
    let none = std::collections::BTreeMap::new();
    let selected = |machine: &Machine| check.spec.selector.matches(machine.metadata.labels.as_ref().unwrap_or(&none));
    let machines = if check.spec.selector.is_empty() { Vec::new() } else { world.machines.filter(selected) };
    let now = Timestamp::now();
    let mut sick: Vec<(Arc<Machine>, String)> = Vec::new();
    let mut soonest: Option<Duration> = None;
    for machine in &machines {
        let its_node = machine.node_name().and_then(|name| world.nodes.cache.get(name));
        match judge(&check.spec, machine, its_node.as_deref(), now) {
            Health::Unhealthy(reason) => sick.push((Arc::clone(machine), reason)),
            // Those on their way out do not count as well.
            _ if is_leaving(machine) => sick.push((Arc::clone(machine), "it is leaving".to_owned())),
            Health::HealthyFor(rest) => soonest = Some(soonest.map_or(rest, |soonest| soonest.min(rest))),
            Health::Healthy => {}
        }
    }
    let tolerated = check.spec.tolerated(machines.len());
    let restriction = restriction(&check, machines.len(), sick.len(), &silence(&world));
    let status = status(&check, machines.len(), sick.len(), tolerated, restriction.as_ref());
    if check.status.as_ref() != Some(&status) {
        patch::change_status(&world.api(), &*check, check.status.as_ref(), &status).await?;
    }
    if let Some(Restriction { message, .. }) = restriction {
        world.events.say(&*check, Level::Warning, "RemediationRestricted", &message).await;
        return Ok(soonest.or(Some(world.options.pace.sync)));
    }
    let leaving = sick.iter().filter(|(machine, _)| is_leaving(machine)).count();
    let places = check.spec.at_once(machines.len()).saturating_sub(leaving);
    for (machine, reason) in sick.iter().filter(|(machine, _)| !is_leaving(machine)).take(places) {
        remediate(&world, &check, machine, reason).await?;
    }
    // Masters that had to wait for others, and machines that wait for their turn, are looked at again.
    let waiting = (!sick.is_empty()).then_some(world.options.pace.sync);
    Ok([soonest, waiting].into_iter().flatten().min())
}

/// Nodes of the whole cluster, and how many of them do not report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Silence {
    nodes: usize,
    silent: usize,
}

fn silence(world: &World) -> Silence {
    let nodes = world.nodes.cache.all();
    let is_silent = |node: &Node| nodes::readiness(node).is_some_and(|(status, _)| status == "Unknown");
    Silence { nodes: nodes.len(), silent: nodes.iter().filter(|node| is_silent(node)).count() }
}

/// Why nothing is replaced, for programs and for people.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Restriction {
    reason: &'static str,
    message: String,
}

/// Returns why unhealthy machines are left alone, if they are.
fn restriction(check: &MachineHealthCheck, machines: usize, sick: usize, silence: &Silence) -> Option<Restriction> {
    if sick > check.spec.tolerated(machines) {
        let limit = match &check.spec.max_unhealthy {
            Some(limit) => limit.to_string().trim_matches('"').to_owned(),
            None => format!("{} (maxUnhealthy is not set)", check.spec.tolerated(machines)),
        };
        let message = format!(
            "{sick} of {machines} machines are unhealthy, more than {limit}: none is replaced, since the cause may be elsewhere"
        );
        return Some(Restriction { reason: "TooManyUnhealthy", message });
    }
    let Silence { nodes, silent } = *silence;
    // Whoever says how many may be unhealthy has decided. A single node says nothing about the others.
    if check.spec.max_unhealthy.is_none() && sick > 0 && nodes > 1 && silent * 2 > nodes {
        let message = format!(
            "{silent} of all {nodes} nodes do not report: none is replaced, since it is the API server that they do not reach"
        );
        return Some(Restriction { reason: "NodesSilent", message });
    }
    None
}

fn status(
    check: &MachineHealthCheck,
    machines: usize,
    sick: usize,
    tolerated: usize,
    restriction: Option<&Restriction>,
) -> HealthCheckStatus {
    let count = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let allowed = if restriction.is_some() { 0 } else { tolerated.saturating_sub(sick) };
    let mut status = HealthCheckStatus {
        expected_machines: count(machines),
        current_healthy: count(machines - sick),
        remediations_allowed: count(allowed),
        ..check.status.clone().unwrap_or_default()
    };
    let (is_so, reason, message) = match restriction {
        None => (true, "WithinLimit", ""),
        Some(Restriction { reason, message }) => (false, *reason, message.as_str()),
    };
    let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    set_condition(&mut status.conditions, ALLOWED, is_so, reason, message, &now);
    status
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(max_unhealthy: &serde_json::Value) -> MachineHealthCheck {
        let mut spec = json!({ "selector": {}, "unhealthyConditions": [] });
        if !max_unhealthy.is_null() {
            spec["maxUnhealthy"] = max_unhealthy.clone();
        }
        serde_json::from_value(json!({
            "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineHealthCheck", "metadata": {}, "spec": spec,
        }))
        .unwrap()
    }

    #[test]
    fn an_outage_of_the_api_switches_nothing_off_unless_the_user_says_so() {
        let (quiet, outage) = (Silence { nodes: 8, silent: 0 }, Silence { nodes: 8, silent: 8 });
        for (max_unhealthy, machines, sick, silence, reason) in [
            (json!(null), 5, 5, outage, Some("TooManyUnhealthy")),
            (json!(null), 5, 2, quiet, None),
            (json!(null), 5, 3, quiet, Some("TooManyUnhealthy")),
            (json!(null), 1, 1, quiet, None),
            // A set of one machine is within its limit, and yet nothing is to be done.
            (json!(null), 1, 1, outage, Some("NodesSilent")),
            (json!(null), 5, 0, outage, None),
            (json!("100%"), 5, 5, outage, None),
            (json!("40%"), 5, 3, quiet, Some("TooManyUnhealthy")),
            (json!(3), 5, 3, outage, None),
        ] {
            let found = restriction(&check(&max_unhealthy), machines, sick, &silence);
            let found_reason = found.as_ref().map(|found| found.reason);
            assert_eq!(found_reason, reason, "{max_unhealthy} {sick} of {machines}, {silence:?}");
            let status = status(&check(&max_unhealthy), machines, sick, machines, found.as_ref());
            let condition = &status.conditions[0];
            assert_eq!((condition.kind.as_str(), condition.status == "True"), (ALLOWED, reason.is_none()));
            assert_eq!(condition.message.is_empty(), reason.is_none());
        }
    }
}
