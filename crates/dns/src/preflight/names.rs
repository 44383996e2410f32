//! Whether the names are free, and whether a wildcard answers for them.

use landfall_config::InstallConfig;
use landfall_platform::{Finding, InfraId};

use super::unanswered;
use crate::{
    Backend, Data, Entry, Error, Mark, Name, RecordSet, Type, Zone,
    decide::{self, Decision},
};

const CHECK: &str = "DNS names";
const WILDCARDS: &str = "DNS wildcards";
const LEFT_ALONE: &str = "remove it or choose another name; it is never touched from here";

pub(super) async fn check(
    backend: &dyn Backend,
    config: &InstallConfig,
    zone: &Zone,
    entries: &[Entry],
    infra_id: &InfraId,
) -> Vec<Finding> {
    let wildcards = match wildcards(backend, config, zone).await {
        Ok(wildcards) => wildcards,
        Err(error) => return vec![unanswered(WILDCARDS, &error)],
    };
    let traps = wildcards.iter().filter(|set| set.kind != Type::Txt);
    let mut findings: Vec<Finding> = traps.map(|set| trap(set, config)).collect();
    let mut free = 0;
    for entry in entries {
        match look(backend, entry, infra_id, &wildcards).await {
            Ok(None) => free += 1,
            Ok(Some(taken)) => findings.push(taken),
            Err(error) => findings.push(unanswered(CHECK, &error)),
        }
    }
    if free == entries.len() {
        findings.push(Finding::ok(CHECK, format!("all {free} are free, or the cluster's own")));
    }
    findings
}

/// What is in the way of an entry, if something is.
async fn look(
    backend: &dyn Backend,
    entry: &Entry,
    infra_id: &InfraId,
    wildcards: &[RecordSet],
) -> Result<Option<Finding>, Error> {
    let place = Mark::place(&entry.name);
    let seen = backend.read(&[&place, &entry.name]).await?;
    let list = |sets: &[RecordSet]| sets.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    Ok(match decide::ensure(entry, infra_id, &seen) {
        Decision::Foreign(owner) => {
            let message = format!("{} belongs to the cluster {owner}", entry.name);
            Some(Finding::problem(CHECK, message, LEFT_ALONE))
        }
        Decision::Occupied(sets) => Some(Finding::problem(CHECK, format!("there is {}", list(&sets)), LEFT_ALONE)),
        Decision::Change(change) if change.guard == crate::Guard::Free => {
            // By DNS alone the answer of a wildcard looks like a record.
            let covered = |set: &RecordSet| wildcards.iter().any(|wild| wild.kind == set.kind && wild.data == set.data);
            let sets: Vec<RecordSet> =
                decide::in_the_way(entry, &seen).into_iter().filter(|set| !covered(set)).collect();
            (!sets.is_empty()).then(|| Finding::problem(CHECK, format!("there is {}", list(&sets)), LEFT_ALONE))
        }
        Decision::Change(_) | Decision::Nothing => None,
    })
}

/// The wildcards between the cluster's domain and the zone, the zone's own first.
async fn wildcards(backend: &dyn Backend, config: &InstallConfig, zone: &Zone) -> Result<Vec<RecordSet>, Error> {
    let mut names = Vec::new();
    let mut domain = config.cluster_domain().parse::<Name>().ok();
    while let Some(name) = domain.filter(|name| name.is_in(&zone.name)) {
        names.push(name.child("*")?);
        domain = name.parent();
    }
    names.reverse();
    let mut found: Vec<RecordSet> = Vec::new();
    for name in &names {
        let sets = backend.read(&[name]).await?;
        // What a wildcard above answers is not another wildcard.
        let new =
            sets.into_iter().filter(|set| !found.iter().any(|above| above.kind == set.kind && above.data == set.data));
        found.extend(new.collect::<Vec<_>>());
    }
    Ok(found)
}

fn trap(set: &RecordSet, config: &InstallConfig) -> Finding {
    let values: Vec<String> = set.data.iter().map(Data::to_string).collect();
    let message = format!("{} answers {} for every name that does not exist", set.name, values.join(", "));
    let domain = config.cluster_domain();
    if set.name.as_str() == format!("*.{domain}") {
        let hint = format!(
            "machines that look names up below {domain} get wrong answers: keep the wildcard to *.apps.{domain}"
        );
        Finding::notice(WILDCARDS, message, hint)
    } else {
        let hint = format!("names below {domain} leave the wildcard as soon as the cluster's records exist");
        Finding::notice(WILDCARDS, message, hint)
    }
}
