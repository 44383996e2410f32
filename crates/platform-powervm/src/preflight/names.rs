//! Names: no machine that the plan makes may exist already, unless it is the cluster's own.

use futures::future::try_join_all;
use landfall_platform::{Finding, Stage};
use serde::Deserialize as _;

use super::{Subject, unanswered};
use crate::{Facts, plan, steps::Desired};

const CHECK: &str = "names";

pub(super) async fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let Subject { site, config, .. } = subject;
    let plan = match plan(config, site.mark.infra_id(), &Facts, Stage::Bootstrapping) {
        Ok(plan) => plan,
        Err(error) => return vec![Finding::problem(CHECK, error.to_string(), "report this as a bug")],
    };
    let names = plan.steps().filter_map(|spec| match Desired::deserialize(&spec.desired) {
        Ok(Desired::Vm(partition)) => Some(partition.name),
        _ => None,
    });
    let names: Vec<String> = names.collect();
    let found = match try_join_all(names.iter().map(|name| site.named(name))).await {
        Ok(found) => found.into_iter().flatten().collect::<Vec<_>>(),
        Err(error) => return vec![unanswered(CHECK, &error)],
    };
    let (own, taken): (Vec<_>, Vec<_>) = found.iter().partition(|found| site.is_ours(found));
    vec![if !taken.is_empty() {
        let taken: Vec<String> =
            taken.iter().map(|found| format!("{} on {}", found.partition.name, found.host)).collect();
        let message = format!("taken by partitions that do not belong to the cluster: {}", taken.join(", "));
        Finding::problem(CHECK, message, "rename or remove what is in the way; it is never touched from here")
    } else if own.is_empty() {
        Finding::ok(CHECK, format!("all {} are free", names.len()))
    } else {
        Finding::ok(CHECK, format!("{} of {} partitions exist from an earlier run", own.len(), names.len()))
    }]
}
