//! Size and kind of machines on oVirt.

use std::collections::HashSet;

use super::{Report, ovirt::engine_name};
use crate::{
    InstallConfig, MachinePool, Platform, Problem, Role, Size,
    ovirt::{self, AutoPinningPolicy, DiskFormat},
    path,
};

/// Less and kubeadm refuses the machine, or the kubelet evicts what it starts.
const MIN_MASTER_MIB: u32 = 2048;
const MIN_WORKER_MIB: u32 = 1024;
const MIN_MASTER_CPUS: u32 = 2;

/// The operating system image alone takes 10 GiB.
const MIN_DISK_GIB: u32 = 16;

/// What OpenShift documents as its minimum.
const OPENSHIFT_MASTER: (u32, u32) = (4, 16384);
const OPENSHIFT_WORKER: (u32, u32) = (2, 8192);
const OPENSHIFT_DISK_GIB: u32 = 100;

/// More than any host has; keeps sums far from overflow.
const MAX_MEMORY_MIB: u32 = 64 * 1024 * 1024;
const MAX_DISK_GIB: u32 = 64 * 1024;

pub(super) fn check(config: &InstallConfig, report: &mut Report) {
    let Platform::Ovirt(platform) = &config.platform;
    if let Some(level) = &platform.default_machine_platform {
        contradictions("platform.ovirt.defaultMachinePlatform", level, report);
    }
    pool("controlPlane", &config.control_plane, Role::Master, config, report);
    for (i, worker) in config.compute.iter().enumerate() {
        pool(&path::index("compute", i), worker, Role::Worker, config, report);
    }
}

fn pool(parent: &str, pool: &MachinePool, role: Role, config: &InstallConfig, report: &mut Report) {
    let path = path::key(&path::key(parent, "platform"), "ovirt");
    if let Some(level) = &pool.platform.ovirt {
        contradictions(&path, level, report);
    }
    let own = pool.platform.ovirt.clone().unwrap_or_default();
    let resolved = config.ovirt_pool(pool, role);
    // A value is shown where it stands: in the pool, or else in the defaults for all pools.
    let place = |in_pool: bool, field: &str| {
        format!("{}.{field}", if in_pool { path.as_str() } else { "platform.ovirt.defaultMachinePlatform" })
    };
    if let Size::Custom { sockets, cores, threads, memory_mib, guaranteed_memory_mib } = resolved.size {
        let cpus = sockets.saturating_mul(cores).saturating_mul(threads);
        let (cpu_place, memory_place) = (place(own.cpu.is_some(), "cpu"), place(own.memory_mb.is_some(), "memoryMB"));
        if role == Role::Master && cpus < MIN_MASTER_CPUS {
            report.problem(
                Problem::new(&cpu_place, format!("must come to at least {MIN_MASTER_CPUS} processors for masters"))
                    .value(cpus),
            );
        }
        let least = if role == Role::Master { MIN_MASTER_MIB } else { MIN_WORKER_MIB };
        if !(least..=MAX_MEMORY_MIB).contains(&memory_mib) {
            report.problem(
                Problem::new(
                    &memory_place,
                    format!("must be from {least} to {MAX_MEMORY_MIB} MiB for {}s", role.name()),
                )
                .value(memory_mib),
            );
        }
        if guaranteed_memory_mib > memory_mib {
            report.problem(
                Problem::new(
                    place(own.guaranteed_memory_mb.is_some(), "guaranteedMemoryMB"),
                    format!("must not be more than the memory of the machine, {memory_mib} MiB"),
                )
                .value(guaranteed_memory_mib),
            );
        }
        huge_pages(resolved.hugepages, memory_mib, &memory_place, report);
        let (wanted_cpus, wanted_mib) = if role == Role::Master { OPENSHIFT_MASTER } else { OPENSHIFT_WORKER };
        if config.distribution.is_openshift() && (cpus < wanted_cpus || memory_mib < wanted_mib) {
            report.notice(
                &path,
                format!(
                    "OpenShift asks for at least {wanted_cpus} processors and {wanted_mib} MiB for a {}",
                    role.name()
                ),
            );
        }
        if resolved.auto_pinning_policy == AutoPinningPolicy::ResizeAndPin && own.cpu.is_some() {
            report.notice(
                &cpu_place,
                "will be replaced by the host's topology, because of autoPinningPolicy resize_and_pin",
            );
        }
    }
    let disk_place = place(own.os_disk.is_some(), "osDisk.sizeGB");
    if !(MIN_DISK_GIB..=MAX_DISK_GIB).contains(&resolved.os_disk_gib) {
        report.problem(
            Problem::new(&disk_place, format!("must be from {MIN_DISK_GIB} to {MAX_DISK_GIB} GiB"))
                .value(resolved.os_disk_gib),
        );
    } else if config.distribution.is_openshift() && resolved.os_disk_gib < OPENSHIFT_DISK_GIB {
        report.notice(&disk_place, format!("OpenShift asks for at least {OPENSHIFT_DISK_GIB} GiB"));
    }
    // The engine builds a thin layer as sparse qcow2, whatever it is asked for.
    if !resolved.clone && resolved.format == Some(DiskFormat::Raw) {
        report.problem(
            Problem::new(
                place(own.format.is_some(), "format"),
                "must be 'cow' when clone is false: a thin layer over the template is never raw",
            )
            .value("raw"),
        );
    }
    if !resolved.clone && resolved.sparse == Some(false) {
        report.problem(
            Problem::new(
                place(own.sparse.is_some(), "sparse"),
                "must be true when clone is false: a thin layer over the template is always sparse",
            )
            .value(false),
        );
    }
}

fn huge_pages(page_kib: Option<u32>, memory_mib: u32, path: &str, report: &mut Report) {
    if let Some(page_mib) = page_kib.map(|kib| kib / 1024).filter(|mib| *mib > 0)
        && !memory_mib.is_multiple_of(page_mib)
    {
        report.problem(
            Problem::new(path, format!("must be a multiple of the size of huge pages, {page_mib} MiB"))
                .value(memory_mib),
        );
    }
}

/// What is wrong within one level of settings, whatever it is laid over.
fn contradictions(path: &str, level: &ovirt::MachinePool, report: &mut Report) {
    if level.instance_type_id.is_some() {
        for (field, given) in [
            ("cpu", level.cpu.is_some()),
            ("memoryMB", level.memory_mb.is_some()),
            ("guaranteedMemoryMB", level.guaranteed_memory_mb.is_some()),
        ] {
            if given {
                report.problem(
                    Problem::new(path::key(path, field), "must be left out, because instanceTypeID decides it")
                        .suggest("or leave out instanceTypeID"),
                );
            }
        }
    }
    let mut names = HashSet::new();
    for (i, name) in level.affinity_groups_names.iter().flatten().enumerate() {
        let path = path::index(&path::key(path, "affinityGroupsNames"), i);
        report.problems.extend(engine_name(&path, name));
        if !names.insert(name) {
            report.problem(Problem::new(path, "must be unique in the list").value(name));
        }
    }
}
