//! What a target came to, for people and for programs.

use std::collections::BTreeMap;

use landfall_platform::InfraId;
use landfall_workdir::{Outcome, Plan};
use serde::Serialize;

use crate::{
    printer::Printer,
    stages::{Derived, Target},
};

/// What a target came to, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Summary<'a> {
    infra_id: Option<&'a InfraId>,
    stages: Vec<StageSummary<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<&'a str>,
}

#[derive(Serialize)]
struct StageSummary<'a> {
    name: &'static str,
    files: BTreeMap<&'a str, Outcome>,
}

impl<'a> Summary<'a> {
    pub(super) fn new(derived: &'a Derived) -> Self {
        let stage = |plan: &'a Plan| StageSummary { name: plan.stage().name, files: plan.outcomes().collect() };
        Self {
            infra_id: derived.identity.as_ref().map(|identity| &identity.infra_id),
            stages: derived.plans.iter().map(stage).collect(),
            backup: derived.backup.as_deref(),
        }
    }
}

/// Tells people what a target came to, and what to do next.
pub(super) fn tell(printer: Printer, target: Target, derived: &Derived) {
    tell_files(printer, derived);
    if target == Target::Kit && manages_machines(derived) {
        printer.warn(
            "the cluster will look after its machines by itself: it makes those that are missing and starts those that are off, \
             because install-config.yaml says 'machines: managed'",
        );
    }
    printer.info(match target {
        Target::Manifests => "edit the manifests if you like, then run 'landfall create ignition-configs'",
        Target::IgnitionConfigs => "access to the cluster, once it runs: auth/kubeconfig",
        Target::Kit => "edit upi/inventory.yml if you like and run this again; then play upi/image.yml and upi/vms.yml",
    });
}

/// Whether the manifests, as they are, have the cluster make machines.
fn manages_machines(derived: &Derived) -> bool {
    derived.plans.first().is_some_and(|plan| plan.effective().iter().any(|(path, _)| path.contains("machineset")))
}

/// Tells people what became of the files.
pub(super) fn tell_files(printer: Printer, derived: &Derived) {
    for plan in &derived.plans {
        tell_stage(printer, plan);
    }
    if let Some(backup) = &derived.backup {
        printer.info(format_args!("copies of what was replaced are in {backup}"));
    }
    if let Some(identity) = &derived.identity {
        printer.info(format_args!("infra id: {}", identity.infra_id));
    }
}

fn tell_stage(printer: Printer, plan: &Plan) {
    let mut counts: BTreeMap<Outcome, usize> = BTreeMap::new();
    for (_, outcome) in plan.outcomes() {
        *counts.entry(outcome).or_default() += 1;
    }
    let counts: Vec<_> = counts.into_iter().map(|(outcome, count)| format!("{count} {}", word(outcome))).collect();
    printer.info(format_args!("{}: {}", plan.stage().name, counts.join(", ")));
    for (path, outcome) in plan.outcomes() {
        if let Some(remark) = remark(path, outcome) {
            printer.info(format_args!("  {path}: {remark}"));
        }
    }
}

/// What happened to some files, after their number.
fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Generate => "written",
        Outcome::Reuse => "up to date",
        Outcome::Refresh => "renewed",
        Outcome::Regenerate => "written anew",
        Outcome::KeepEdited => "kept as edited",
        Outcome::KeepStale => "kept though out of date",
        Outcome::KeepDeleted => "left deleted",
        Outcome::Adopt => "added by you",
        Outcome::Remove => "removed",
    }
}

/// What the user should know of a file in which their hand was.
fn remark(path: &str, outcome: Outcome) -> Option<String> {
    Some(match outcome {
        Outcome::Generate | Outcome::Reuse | Outcome::Refresh => return None,
        Outcome::Regenerate => "written anew".to_owned(),
        Outcome::KeepEdited => "you edited it; it is used as it is".to_owned(),
        Outcome::KeepStale => "out of date; you chose to use it as it is".to_owned(),
        Outcome::KeepDeleted => format!("you deleted it; --regenerate={path} brings it back"),
        Outcome::Adopt => "you added it; it is used".to_owned(),
        Outcome::Remove => "no longer needed; it is in the backup".to_owned(),
    })
}
