//! Whether the zone has what the machines need.

use landfall_platform::Finding;

use super::{Subject, trouble};
use crate::{Facts, client::Datacenter};

/// What is taken if the zone has it and nobody says otherwise.
const USUAL: &str = "s922";

/// Checks the zone, its edge router and its systems. Returns the type of systems that is used where nothing is said.
pub(super) async fn check(subject: &Subject<'_>) -> (Vec<Finding>, Option<Facts>) {
    let zone = subject.client.zone();
    let datacenter = match subject.client.datacenter().await {
        Ok(datacenter) => datacenter,
        Err(error) if error.is_gone() => {
            let message = format!("there is no zone {zone}");
            return (vec![Finding::problem("zone", message, "name another one").blame("platform.powervs.zone")], None);
        }
        Err(error) => return (vec![trouble("zone", &error)], None),
    };
    let mut findings = vec![standing(&datacenter, zone)];
    if !datacenter.has_edge_router() && subject.holds_endpoint() {
        let message = format!("{zone} has no Power Edge Router, so no traffic gets from load balancers to machines");
        findings.push(Finding::problem("edge router", message, "choose another zone").blame("platform.powervs.zone"));
    }
    let offered = datacenter.systems();
    let usual = offered.iter().find(|kind| *kind == USUAL).or_else(|| offered.first());
    let pools = std::iter::once(&subject.config.control_plane).chain(&subject.config.compute);
    for pool in pools {
        let wanted = subject.config.powervs_pool(pool).sys_type;
        if let Some(wanted) = wanted.filter(|wanted| !offered.contains(wanted)) {
            let message = format!("pool {}: {zone} has no systems of type {wanted}", pool.name);
            findings.push(Finding::problem("systems", message, format!("it has {}", offered.join(", "))));
        }
    }
    let facts = usual.map(|kind| Facts { sys_type: kind.clone() });
    match &facts {
        Some(facts) => findings.push(Finding::ok("systems", format!("{zone} has {}", facts.sys_type))),
        None => findings.push(Finding::problem("systems", format!("{zone} names no systems"), "choose another zone")),
    }
    findings.extend(room(subject).await);
    (findings, facts)
}

fn standing(datacenter: &Datacenter, zone: &str) -> Finding {
    match datacenter.status.as_str() {
        "active" => Finding::ok("zone", format!("{zone} is active")),
        "maintenance" => Finding::notice("zone", format!("{zone} is under maintenance"), "expect delays"),
        other => Finding::problem("zone", format!("{zone} is {other}"), "choose another zone, or wait"),
    }
}

/// Whether a workspace that exists says that there is room for the largest machine.
async fn room(subject: &Subject<'_>) -> Option<Finding> {
    const CHECK: &str = "room for machines";
    subject.platform.service_instance_guid?;
    let workspace = subject.site.find_workspace().await.ok()??;
    let pools = match subject.client.system_pools(&workspace).await {
        Ok(pools) => pools,
        Err(error) => {
            return Some(Finding::notice(
                CHECK,
                landfall_platform::error_chain(&error),
                "it shows when machines are made",
            ));
        }
    };
    let wanted = std::iter::once(&subject.config.control_plane).chain(&subject.config.compute);
    let wanted: Vec<_> = wanted.map(|pool| subject.config.powervs_pool(pool)).collect();
    let fits = wanted.iter().all(|pool| {
        pools.values().any(|system| {
            pool.sys_type.as_ref().is_none_or(|kind| *kind == system.kind)
                && system.max_cores_available.cores >= pool.processors
                && system.max_memory_available.memory >= f64::from(pool.memory_gib)
        })
    });
    Some(if fits {
        Finding::ok(CHECK, "systems have enough processors and memory left")
    } else {
        Finding::problem(
            CHECK,
            "no system has enough processors or memory left",
            "choose another sysType, or smaller machines",
        )
    })
}
