//! What the on-prem endpoint puts on machines.

use askama::Template;

use super::{
    boot_script, haproxy_config, keepalived_config, platform_endpoint,
    vips::{BALANCER_BACKENDS_PORT, BALANCER_READY_PORT},
};
use crate::{
    Cluster, MachineRole, NodeFacts, NodeFile, NodeUnit,
    node::{agent_unit, paths},
    template,
};

/// Files for the machines of a role: what `landfall-node` reads, check scripts, the first configurations.
///
/// The facts are always there; all else only if the cluster's machines hold virtual addresses, or take what the platform leads
/// to them.
pub(crate) fn onprem_files(cluster: &Cluster<'_>, role: MachineRole) -> Vec<NodeFile> {
    let facts = NodeFacts::new(cluster, role);
    let mut files = vec![NodeFile::public(paths::NODE_FACTS, facts.to_json())];
    let Some(vips) = &facts.vips else {
        files.extend(platform_endpoint::files(cluster));
        files.extend(boot_script::files(cluster, role));
        return files;
    };

    files.push(NodeFile::append("/etc/hosts", hosts(&facts)));
    files.push(NodeFile::public(paths::KEEPALIVED_CONFIG, keepalived_config(&facts, vips, None, &[])));
    let script = |name: &str, contents: String| NodeFile::executable(format!("{}/{name}", paths::SCRIPTS), contents);
    files.push(script("ensure-packages", include_str!("../../templates/ensure-packages").to_owned()));
    let balancer = |port| template::text(&BalancerCheck { port });
    if role != MachineRole::Bootstrap {
        files.push(script("check-ingress", ingress_check(cluster)));
    }
    if role == MachineRole::Master {
        files.push(script("check-balancer", balancer(BALANCER_READY_PORT)));
        files.push(script("check-backends", balancer(BALANCER_BACKENDS_PORT)));
        files.push(NodeFile::public(paths::HAPROXY_CONFIG, haproxy_config(&facts, vips, &[])));
    }
    files
}

/// Units for the machines of a role; none if nothing is led to them but by a load balancer.
pub(crate) fn onprem_units(cluster: &Cluster<'_>, role: MachineRole) -> Vec<NodeUnit> {
    if !cluster.holds_vips() {
        let mut units = platform_endpoint::units(cluster, role);
        units.extend(boot_script::units(cluster, role));
        return units;
    }
    let packages = if role == MachineRole::Master { "keepalived haproxy" } else { "keepalived" };
    let mut units = vec![
        NodeUnit::enabled("landfall-packages.service", template::text(&PackagesUnit { packages })),
        agent_unit(cluster, "dns", "Names of the cluster for this machine"),
        agent_unit(cluster, "vip", "Virtual addresses of the cluster"),
    ];
    if role == MachineRole::Master {
        units.push(agent_unit(cluster, "load-balancer", "Load balancer of the Kubernetes API"));
    }
    units
}

/// Lines for `/etc/hosts`. They are there before any name server of the cluster runs, and when it does not.
fn hosts(facts: &NodeFacts) -> String {
    let vips = facts.vips.iter().flat_map(|vips| &vips.api);
    let lines: Vec<String> =
        vips.map(|vip| format!("{vip} {} {}\n", facts.api.internal_name, facts.api.name)).collect();
    lines.concat()
}

fn ingress_check(cluster: &Cluster<'_>) -> String {
    if cluster.config.distribution.is_openshift() {
        include_str!("../../templates/check-ingress-openshift").to_owned()
    } else {
        include_str!("../../templates/check-ingress").to_owned()
    }
}

#[derive(Template)]
#[template(path = "units/landfall-packages.service", escape = "none")]
struct PackagesUnit {
    packages: &'static str,
}

#[derive(Template)]
#[template(path = "check-balancer", escape = "none", ext = "sh")]
struct BalancerCheck {
    port: u16,
}
