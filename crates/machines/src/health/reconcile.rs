//! Looking at one health check.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use landfall_machine_api::{HealthCheckStatus, set_condition};

use super::{
    judge::{Health, is_leaving, judge},
    remediate::remediate,
};
use crate::{Error, Machine, MachineHealthCheck, events::Level, patch, world::World};

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
    let allowed = sick.len() <= tolerated;
    let status = status(&check, machines.len(), sick.len(), tolerated);
    if check.status.as_ref() != Some(&status) {
        patch::change_status(&world.api(), &*check, check.status.as_ref(), &status).await?;
    }
    if !allowed {
        let message = format!(
            "{} of {} machines are unhealthy, more than {}: none is replaced, since the cause may be elsewhere",
            sick.len(),
            machines.len(),
            check.spec.max_unhealthy.to_string().trim_matches('"'),
        );
        world.events.say(&*check, Level::Warning, "RemediationRestricted", &message).await;
        return Ok(soonest.or(Some(world.options.pace.sync)));
    }
    for (machine, reason) in sick.iter().filter(|(machine, _)| !is_leaving(machine)) {
        remediate(&world, &check, machine, reason).await?;
    }
    // Masters that had to wait for others are looked at again.
    let waiting = (!sick.is_empty()).then_some(world.options.pace.sync);
    Ok([soonest, waiting].into_iter().flatten().min())
}

fn status(check: &MachineHealthCheck, machines: usize, sick: usize, tolerated: usize) -> HealthCheckStatus {
    let count = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let mut status = HealthCheckStatus {
        expected_machines: count(machines),
        current_healthy: count(machines - sick),
        remediations_allowed: count(tolerated.saturating_sub(sick)),
        ..check.status.clone().unwrap_or_default()
    };
    let (is_so, reason) = if sick <= tolerated { (true, "WithinLimit") } else { (false, "TooManyUnhealthy") };
    let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    set_condition(&mut status.conditions, ALLOWED, is_so, reason, "", &now);
    status
}
