//! Pools: names, numbers and architectures.

use std::collections::HashSet;

use super::domain;
use crate::{Architecture, InstallConfig, MachinePool, Problem, Role, path, report::Report};

/// The name of a machine is at most 63 characters: an infra id of 27, two hyphens, and five that tell machines apart.
const MAX_POOL_NAME: usize = 29;

/// What Kubernetes is tested with.
const MAX_MACHINES: u64 = 5000;

/// More members make etcd slower without making it safer.
const MAX_MASTERS: u32 = 7;

pub(super) fn check(config: &InstallConfig, report: &mut Report) {
    control_plane(config, report);
    compute(config, report);
    architectures(config, report);
    if config.machines() > MAX_MACHINES {
        report.problem(Problem::new(
            "compute",
            format!(
                "must not make the cluster larger than {MAX_MACHINES} machines, and comes to {}",
                config.machines()
            ),
        ));
    }
}

fn control_plane(config: &InstallConfig, report: &mut Report) {
    let pool = &config.control_plane;
    if pool.name != Role::Master.name() {
        report.problem(
            Problem::new("controlPlane.name", "must be 'master'")
                .value(&pool.name)
                .suggest("leave it out; it is the default"),
        );
    }
    match pool.replicas {
        0 => report.problem(
            Problem::new("controlPlane.replicas", "must be at least 1").value(0).suggest("use 3, or 1 for a cluster that may be lost"),
        ),
        n if n > MAX_MASTERS => report.problem(
            Problem::new("controlPlane.replicas", format!("must be at most {MAX_MASTERS}: every write waits for more than half of the etcd members"))
                .value(n),
        ),
        n if n % 2 == 0 => report.notice(
            "controlPlane.replicas",
            format!(
                "{n} is even: etcd needs more than half of its members, so {n} masters survive the loss of {}, as {} do",
                (n - 1) / 2,
                n - 1
            ),
        ),
        _ => {}
    }
}

fn compute(config: &InstallConfig, report: &mut Report) {
    let mut names = HashSet::new();
    for (i, pool) in config.compute.iter().enumerate() {
        let path = path::key(&path::index("compute", i), "name");
        if let Some(problem) = domain::dns_label(&path, &pool.name, MAX_POOL_NAME) {
            report.problem(problem);
        } else if pool.name == Role::Master.name() {
            report.problem(Problem::new(&path, "must not be 'master', which is the control plane's"));
        } else if !names.insert(pool.name.as_str()) {
            report.problem(Problem::new(&path, "must be unique among the compute pools").value(&pool.name));
        }
    }
    if config.compute.iter().all(|pool| pool.replicas == 0) {
        report.notice("compute", "there are no workers, so the masters will run workloads too");
    }
}

fn architectures(config: &InstallConfig, report: &mut Report) {
    let of_masters = config.control_plane.architecture.unwrap_or_default();
    for (i, pool) in config.compute.iter().enumerate() {
        if pool.architecture.unwrap_or_default() != of_masters {
            report.problem(
                Problem::new(
                    path::key(&path::index("compute", i), "architecture"),
                    format!("must be that of the control plane, '{}'", of_masters.name()),
                )
                .value(pool.architecture.map_or("", Architecture::name)),
            );
        }
    }
}

/// Machines of a platform are Power machines, and the others of the cluster have nowhere to run.
pub(super) fn power_only(config: &InstallConfig, platform: &str, report: &mut Report) {
    for (place, pool) in located(config) {
        if let Some(other) = pool.architecture.filter(|architecture| *architecture != Architecture::Ppc64le) {
            let rule = format!(
                "must be 'ppc64le': {platform} has Power machines only, and machines of other architectures, \
                 such as those of a VPC, cannot join their cluster"
            );
            report.problem(
                Problem::new(path::key(&place, "architecture"), rule).value(other.name()).suggest("leave it out"),
            );
        }
    }
}

/// All pools, with where they stand.
pub(super) fn located(config: &InstallConfig) -> impl Iterator<Item = (String, &MachinePool)> {
    let compute = config.compute.iter().enumerate().map(|(i, pool)| (path::index("compute", i), pool));
    std::iter::once(("controlPlane".to_owned(), &config.control_plane)).chain(compute)
}
