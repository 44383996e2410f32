//! Hosts: are there enough of them to keep machines apart, and is there memory for all.

use std::collections::BTreeSet;

use futures::future::join_all;
use landfall_config::Size;
use landfall_platform::Finding;

use super::{Subject, unanswered};
use crate::{
    client::Host,
    plan::{BOOTSTRAP_MEMORY_MIB, declared_groups},
};

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;
/// What was found, and how many hosts are up.
pub(super) async fn check(subject: &Subject<'_>) -> (Vec<Finding>, usize) {
    let hosts = match subject.client.hosts(&subject.platform.ovirt_cluster_id.to_string()).await {
        Ok(hosts) => hosts,
        Err(error) => return (vec![unanswered("hosts", &error)], 0),
    };
    let up: Vec<&Host> = hosts.iter().filter(|host| host.is_up()).collect();
    let mut findings = vec![match (up.len(), hosts.len()) {
        (0, 0) => Finding::notice(
            "hosts",
            "no host of the cluster can be seen",
            "that is usual for users who are not administrators; machines are kept apart only as far as possible",
        ),
        (0, all) => Finding::problem("hosts", format!("none of {all} hosts is up"), "activate hosts of the cluster"),
        (up, all) => Finding::ok("hosts", format!("{up} of {all} up")),
    }];
    if !hosts.is_empty() {
        findings.extend(affinity(subject, up.len()));
    }
    let (size_findings, memory) = sizes(subject).await;
    findings.extend(size_findings);
    findings.extend(memory_finding(&up, memory));
    (findings, up.len())
}

/// Whether machines that must not share a host have hosts enough.
fn affinity(subject: &Subject<'_>, up: usize) -> Vec<Finding> {
    const CHECK: &str = "affinity";
    let members = |group: &str| -> usize {
        let in_group = subject.pools().filter(|(pool, role)| {
            subject.config.ovirt_pool(pool, *role).affinity_groups.iter().any(|name| name == group)
        });
        in_group.map(|(pool, _)| pool.replicas as usize).sum()
    };
    declared_groups(subject.platform)
        .iter()
        .map(|group| (group, members(&group.name)))
        .filter(|(_, members)| *members > 0)
        .map(|(group, members)| match group.enforcing {
            Some(true) if up < members => Finding::problem(
                CHECK,
                format!("group {} keeps {members} machines on different hosts; hosts that are up: {up}", group.name),
                "set enforcing: false in platform.ovirt.affinityGroups, or add hosts",
            )
            .blame("platform.ovirt.affinityGroups"),
            Some(true) if up == members => Finding::notice(
                CHECK,
                format!("group {} needs every one of the {up} hosts", group.name),
                "no host can be taken down for maintenance while all its machines run",
            ),
            None if up <= members => Finding::notice(
                CHECK,
                format!(
                    "group {} has {members} machines and {up} hosts are up, so machines may share hosts",
                    group.name
                ),
                "set enforcing: true in platform.ovirt.affinityGroups to insist on different hosts",
            ),
            _ => Finding::ok(CHECK, format!("group {}, machines {members}, hosts {up}", group.name)),
        })
        .collect()
}

/// Whether the instance types exist, and how much memory all machines take, as far as it is known.
async fn sizes(subject: &Subject<'_>) -> (Vec<Finding>, u64) {
    const CHECK: &str = "instance type";
    let pools: Vec<(u64, Size)> = subject
        .pools()
        .map(|(pool, role)| (u64::from(pool.replicas), subject.config.ovirt_pool(pool, role).size))
        .collect();
    let ids: BTreeSet<String> = pools
        .iter()
        .filter_map(|(_, size)| if let Size::InstanceType(id) = size { Some(id.to_string()) } else { None })
        .collect();
    let types = join_all(ids.into_iter().map(|id| async {
        let answer = subject.client.instance_type(&id).await;
        (id, answer)
    }))
    .await;
    let findings = types
        .iter()
        .map(|(id, answer)| match answer {
            Ok(Some(found)) => Finding::ok(CHECK, found.name.clone()),
            Ok(None) => {
                let message = format!("there is no instance type with id {id}");
                Finding::problem(CHECK, message, "check instanceTypeID of the machine pools").blame("instanceTypeID")
            }
            Err(error) => unanswered(CHECK, error),
        })
        .collect();
    let memory = |size: &Size| match size {
        Size::Custom { guaranteed_memory_mib, .. } => u64::from(*guaranteed_memory_mib) * MIB,
        Size::InstanceType(id) => {
            let known = types.iter().find(|(known, _)| *known == id.to_string());
            known.and_then(|(_, answer)| answer.as_ref().ok()?.as_ref()).map_or(0, |found| found.memory)
        }
    };
    let total = pools.iter().map(|(replicas, size)| replicas * memory(size)).sum::<u64>()
        + u64::from(BOOTSTRAP_MEMORY_MIB) * MIB;
    (findings, total)
}

fn memory_finding(up: &[&Host], needed: u64) -> Option<Finding> {
    const CHECK: &str = "memory";
    let free: Option<u64> = up.iter().map(|host| host.max_scheduling_memory.or(host.memory)).sum();
    let free = free.filter(|_| !up.is_empty())?;
    let (free_gib, needed_gib) = (free / GIB, needed.div_ceil(GIB));
    Some(if needed > free {
        let message = format!("all machines together take {needed_gib} GiB, and hosts have {free_gib} GiB free");
        Finding::notice(CHECK, message, "machines that find no host will not start; use smaller pools or free memory")
    } else {
        Finding::ok(CHECK, format!("{needed_gib} GiB needed, {free_gib} GiB free"))
    })
}
