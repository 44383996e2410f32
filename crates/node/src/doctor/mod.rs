//! What is wrong on a machine, for people: looked at in the order in which one thing needs the other, so that the first
//! problem is the one to begin with.

mod api;
mod balancing;
mod bootstrap;
mod certificates;
mod etcd;
mod join;
mod names;
mod network;
mod programs;
mod units;

use landfall_platform::Finding;

use crate::machine::Machine;

/// Looks at everything.
pub async fn examine(machine: &Machine) -> Vec<Finding> {
    let mut findings = vec![network::address(machine).await];
    findings.extend(programs::installed(machine));
    findings.extend(units::running(machine).await);
    findings.extend(bootstrap::progress(machine));
    findings.extend(join::state(machine));
    findings.extend(names::answered(machine).await);
    findings.extend(balancing::addresses(machine).await);
    findings.extend(balancing::balancer(machine).await);
    findings.push(api::nodes(machine).await);
    findings.extend(etcd::members(machine).await);
    findings.extend(certificates::valid(machine));
    findings
}
