//! The oVirt section, apart from its virtual addresses and machine pools.

use std::collections::HashSet;

use crate::{InstallConfig, LoadBalancer, Platform, Problem, ovirt::Image, path, report::Report};

const MAX_NAME: usize = 255;

pub(super) fn check(config: &InstallConfig, report: &mut Report) {
    let Platform::Ovirt(ovirt) = &config.platform else { return };
    if let Some(ids) = ovirt.vrrp {
        if ids.api == ids.ingress {
            report.problem(
                Problem::new("platform.ovirt.vrrp.ingress", "must differ from platform.ovirt.vrrp.api")
                    .value(ids.ingress),
            );
        }
        if config.load_balancer == LoadBalancer::UserManaged {
            report.notice(
                "platform.ovirt.vrrp",
                "has no use: with loadBalancer userManaged the machines hold no virtual addresses",
            );
        }
    }
    match &ovirt.image {
        Some(Image::Disk(place)) if place.contains("://") => {
            report.check(super::sources::web_url("platform.ovirt.image.disk", place));
        }
        _ => {}
    }
    let mut names = HashSet::new();
    for (i, group) in ovirt.affinity_groups.iter().flatten().enumerate() {
        let path = path::key(&path::index("platform.ovirt.affinityGroups", i), "name");
        report.check(engine_name(&path, &group.name));
        if !names.insert(group.name.as_str()) {
            report.problem(Problem::new(&path, "must be unique in the list").value(&group.name));
        }
    }
}

/// Names in the engine: it takes letters, digits and a few signs.
pub(super) fn engine_name(path: &str, name: &str) -> Option<Problem> {
    let fits = (1..=MAX_NAME).contains(&name.chars().count())
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    (!fits).then(|| {
        Problem::new(path, format!("must consist of letters, digits, '-', '_' and '.', at most {MAX_NAME}")).value(name)
    })
}
