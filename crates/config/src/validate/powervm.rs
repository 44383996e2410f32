//! The PowerVM section, apart from its virtual addresses.

use std::collections::HashSet;

use url::Url;

use super::machine_pools::{self, located};
use crate::{
    InstallConfig, LoadBalancer, Platform, Problem, path,
    powervm::{self, Image, Sharing, Storage},
    report::Report,
};

const SECTION: &str = "platform.powervm";
/// The longest name that a partition can have.
const MAX_PARTITION_NAME: usize = 31;
/// What an infra id adds to the name of the cluster, which it cuts at the second.
const INFRA_ID_SUFFIX: usize = 6;
const INFRA_ID_NAME: usize = 21;
/// What tells machines of a pool apart: a hyphen and five characters.
const MACHINE_SUFFIX: usize = 6;
const BOOTSTRAP: &str = "bootstrap";
/// The least entitlement of a virtual processor.
const MIN_UNITS: f64 = 0.05;
const MIN_MEMORY_GIB: u32 = 4;

pub(super) fn check(config: &InstallConfig, report: &mut Report) {
    let Platform::Powervm(powervm) = &config.platform else { return };
    hosts(powervm, report);
    image(powervm, report);
    vrrp(config, powervm, report);
    machine_pools::power_only(config, "PowerVM", report);
    names(config, report);
    pools(config, powervm, report);
}

fn at(field: &str) -> String {
    path::key(SECTION, field)
}

fn hosts(powervm: &powervm::Platform, report: &mut Report) {
    if powervm.hosts.is_empty() {
        report.problem(Problem::new(at("hosts"), "must name at least one server"));
    }
    let (mut names, mut addresses) = (HashSet::new(), HashSet::new());
    for (i, host) in powervm.hosts.iter().enumerate() {
        let place = path::index(&at("hosts"), i);
        if !names.insert(host.name.as_str()) {
            report.problem(Problem::new(path::key(&place, "name"), "must be unique in the list").value(&host.name));
        }
        let place = path::key(&place, "address");
        if !addresses.insert(host.address.as_str()) {
            let problem = Problem::new(&place, "must be unique in the list: each server has a NovaLink of its own");
            report.problem(problem.value(&host.address));
        }
        report.check(address(&place, &host.address));
    }
}

/// Where a NovaLink is. Credentials travel there, so it is encrypted unless it is on this computer.
fn address(path: &str, text: &str) -> Option<Problem> {
    let full = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let shown = crate::format::without_password(text);
    let problem = |rule: &str| Some(Problem::new(path, rule).value(&shown));
    match Url::parse(&full) {
        Err(_) => problem("must be a host name or an address, with a port if it is not 12443, or a URL"),
        Ok(url) if url.host_str().is_none_or(str::is_empty) => problem("must name a host"),
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            problem("must not hold credentials: they are in the file that POWERVM_CONFIG names")
        }
        Ok(url) if url.scheme() == "https" || url.scheme() == "http" && super::sources::is_here(&url) => None,
        Ok(_) => problem("must begin with https://: requests carry credentials"),
    }
}

fn image(powervm: &powervm::Platform, report: &mut Report) {
    match (&powervm.image, &powervm.storage) {
        (Image::Disk(place), _) if place.contains("://") => {
            report.check(super::sources::web_url(&path::key(&at("image"), "disk"), place));
        }
        (Image::Disk(place), Storage::VolumeGroup(_)) => {
            let rule = "must be a URL: machines in volume groups are made from it as long as the cluster lives, and the machine \
                        controller does not see files of this computer";
            report.problem(Problem::new(path::key(&at("image"), "disk"), rule).value(place));
        }
        (Image::LogicalUnit(name), Storage::VolumeGroup(_)) => {
            let rule = "must be in a shared storage pool: disks in volume groups are made from image.disk";
            report.problem(Problem::new(path::key(&at("image"), "logicalUnit"), rule).value(name));
        }
        _ => {}
    }
}

fn vrrp(config: &InstallConfig, powervm: &powervm::Platform, report: &mut Report) {
    let Some(ids) = powervm.vrrp else { return };
    if ids.api == ids.ingress {
        let rule = "must differ from platform.powervm.vrrp.api";
        report.problem(Problem::new(path::key(&at("vrrp"), "ingress"), rule).value(ids.ingress));
    }
    if config.load_balancer == LoadBalancer::UserManaged {
        let message = "has no use: with loadBalancer userManaged the machines hold no virtual addresses";
        report.notice(at("vrrp"), message);
    }
}

/// The name of a machine is that of its partition, which is short.
fn names(config: &InstallConfig, report: &mut Report) {
    let infra_id = config.metadata.name.len().min(INFRA_ID_NAME) + INFRA_ID_SUFFIX;
    let room = MAX_PARTITION_NAME.saturating_sub(infra_id + 1);
    let suffixes = located(config).map(|(_, pool)| (pool.name.as_str(), pool.name.len() + MACHINE_SUFFIX));
    let longest = suffixes.chain([(BOOTSTRAP, BOOTSTRAP.len())]).max_by_key(|(_, length)| *length);
    if let Some((pool, length)) = longest.filter(|(_, length)| *length > room) {
        let rule = format!(
            "must be at most {} characters long: machines like '{pool}' are called after it, and names of partitions have at \
             most {MAX_PARTITION_NAME}",
            (MAX_PARTITION_NAME - 1 - INFRA_ID_SUFFIX).saturating_sub(length)
        );
        report.problem(Problem::new("metadata.name", rule).value(&config.metadata.name));
    }
}

fn pools(config: &InstallConfig, powervm: &powervm::Platform, report: &mut Report) {
    let default = powervm.default_machine_platform.as_ref();
    let of_all = default.map(|pool| (path::key(SECTION, "defaultMachinePlatform"), pool));
    let own = located(config).filter_map(|(place, pool)| {
        Some((path::key(&path::key(&place, "platform"), "powervm"), pool.platform.powervm.as_ref()?))
    });
    for (place, pool) in of_all.into_iter().chain(own) {
        for (i, name) in pool.hosts.iter().enumerate() {
            if powervm.hosts.iter().all(|host| host.name != *name) {
                let known: Vec<&str> = powervm.hosts.iter().map(|host| host.name.as_str()).collect();
                let path = path::index(&path::key(&place, "hosts"), i);
                let problem = Problem::new(path, "must be the name of a server in platform.powervm.hosts").value(name);
                report.problem(problem.suggest(format!("there is: {}", known.join(", "))));
            }
        }
    }
    for (place, pool) in located(config) {
        let place = path::key(&path::key(&place, "platform"), "powervm");
        let resolved = config.powervm_pool(pool);
        let (units, processors) = (resolved.processing_units, f64::from(resolved.processors));
        #[expect(clippy::float_cmp, reason = "whole numbers are exact")]
        let (fits, rule) = match resolved.sharing {
            Sharing::Dedicated => (units == processors, "must be left out for dedicated processors".to_owned()),
            Sharing::Uncapped | Sharing::Capped => (
                units >= processors * MIN_UNITS && units <= processors,
                format!("must be from {MIN_UNITS} to 1 for each of {processors} virtual processors"),
            ),
        };
        if !fits {
            report.problem(Problem::new(path::key(&place, "processingUnits"), rule).value(units));
        }
        if resolved.memory_gib < MIN_MEMORY_GIB {
            let rule = format!("must be at least {MIN_MEMORY_GIB}");
            report.problem(Problem::new(path::key(&place, "memoryGiB"), rule).value(resolved.memory_gib));
        }
    }
    let hosts = config.powervm_pool(&config.control_plane).hosts.len();
    if hosts > 1 && (config.control_plane.replicas as usize) > hosts {
        report.notice(
            "controlPlane.replicas",
            format!(
                "there are {hosts} servers, so some masters share one: its loss is the loss of several etcd members"
            ),
        );
    }
}
