//! Size and kind of machines on oVirt.

use std::collections::HashSet;

use super::ovirt::engine_name;
use crate::{
    InstallConfig, MachinePool, Platform, Problem, ResolvedPool, Role, Size,
    ovirt::{self, AffinityGroup, AutoPinningPolicy, DiskFormat},
    path,
    report::Report,
};

const DEFAULTS: &str = "platform.ovirt.defaultMachinePlatform";

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
    let Platform::Ovirt(platform) = &config.platform else { return };
    if let Some(level) = &platform.default_machine_platform {
        contradictions(DEFAULTS, level, report);
        affinity_groups(DEFAULTS, level, platform, report);
    }
    check_pool("controlPlane", &config.control_plane, Role::Master, (config, platform), report);
    for (i, pool) in config.compute.iter().enumerate() {
        check_pool(&path::index("compute", i), pool, Role::Worker, (config, platform), report);
    }
}

fn check_pool(
    parent: &str,
    pool: &MachinePool,
    role: Role,
    (config, platform): (&InstallConfig, &ovirt::Platform),
    report: &mut Report,
) {
    let path = path::key(&path::key(parent, "platform"), "ovirt");
    if let Some(level) = &pool.platform.ovirt {
        contradictions(&path, level, report);
        affinity_groups(&path, level, platform, report);
    }
    let pool = Pool {
        path,
        own: pool.platform.ovirt.clone().unwrap_or_default(),
        resolved: config.ovirt_pool(pool, role),
        role,
        is_openshift: config.distribution.is_openshift(),
    };
    pool.size(report);
    pool.disk(report);
}

/// What is wrong within one level of settings, whatever it is laid over.
fn contradictions(path: &str, level: &ovirt::MachinePool, report: &mut Report) {
    if level.instance_type_id.is_none() {
        return;
    }
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

/// Groups that are declared nowhere may exist in the engine, which cannot be asked here.
fn affinity_groups(path: &str, level: &ovirt::MachinePool, platform: &ovirt::Platform, report: &mut Report) {
    let is_declared = |name: &str| match &platform.affinity_groups {
        Some(declared) => declared.iter().any(|group| group.name == name),
        None => [Role::Master, Role::Worker].iter().any(|role| AffinityGroup::built_in_name(*role) == name),
    };
    let mut names = HashSet::new();
    for (i, name) in level.affinity_groups_names.iter().flatten().enumerate() {
        let path = path::index(&path::key(path, "affinityGroupsNames"), i);
        if let Some(problem) = engine_name(&path, name) {
            report.problem(problem);
        } else if !names.insert(name) {
            report.problem(Problem::new(path, "must be unique in the list").value(name));
        } else if !is_declared(name) {
            report.notice(path, format!("'{name}' is not in affinityGroups, so it has to exist in the engine"));
        }
    }
}

/// A pool after all levels of settings are laid over each other, and what it says itself.
struct Pool {
    path: String,
    own: ovirt::MachinePool,
    resolved: ResolvedPool,
    role: Role,
    is_openshift: bool,
}

impl Pool {
    /// Where a value stands: in the pool, or else in the defaults for all pools.
    fn place(&self, in_pool: bool, field: &str) -> String {
        format!("{}.{field}", if in_pool { &self.path } else { DEFAULTS })
    }

    fn size(&self, report: &mut Report) {
        let Size::Custom { sockets, cores, threads, memory_mib, guaranteed_memory_mib } = self.resolved.size else {
            return;
        };
        let cpus = sockets.saturating_mul(cores).saturating_mul(threads);
        let cpu_place = self.place(self.own.cpu.is_some(), "cpu");
        if self.role == Role::Master && cpus < MIN_MASTER_CPUS {
            report.problem(
                Problem::new(&cpu_place, format!("must come to at least {MIN_MASTER_CPUS} processors for masters"))
                    .value(cpus),
            );
        }
        if self.resolved.auto_pinning_policy == AutoPinningPolicy::ResizeAndPin && self.own.cpu.is_some() {
            report
                .notice(&cpu_place, "is replaced by the host's topology, because autoPinningPolicy is resize_and_pin");
        }
        self.memory(memory_mib, guaranteed_memory_mib, report);
        let (wanted_cpus, wanted_mib) = if self.role == Role::Master { OPENSHIFT_MASTER } else { OPENSHIFT_WORKER };
        if self.is_openshift && (cpus < wanted_cpus || memory_mib < wanted_mib) {
            report.notice(
                &self.path,
                format!("OpenShift asks for at least {wanted_cpus} processors and {wanted_mib} MiB of memory"),
            );
        }
    }

    fn memory(&self, memory_mib: u32, guaranteed_mib: u32, report: &mut Report) {
        let place = self.place(self.own.memory_mb.is_some(), "memoryMB");
        let least = if self.role == Role::Master { MIN_MASTER_MIB } else { MIN_WORKER_MIB };
        if !(least..=MAX_MEMORY_MIB).contains(&memory_mib) {
            let rule = format!("must be from {least} to {MAX_MEMORY_MIB} MiB for {}s", self.role.name());
            report.problem(Problem::new(&place, rule).value(memory_mib));
        }
        if guaranteed_mib > memory_mib {
            let place = self.place(self.own.guaranteed_memory_mb.is_some(), "guaranteedMemoryMB");
            let rule = format!("must not be more than the memory of the machine, {memory_mib} MiB");
            report.problem(Problem::new(place, rule).value(guaranteed_mib));
        }
        if let Some(page_mib) = self.resolved.hugepages.map(|kib| kib / 1024).filter(|mib| *mib > 0)
            && !memory_mib.is_multiple_of(page_mib)
        {
            let rule = format!("must be a multiple of the size of huge pages, {page_mib} MiB");
            report.problem(Problem::new(place, rule).value(memory_mib));
        }
    }

    fn disk(&self, report: &mut Report) {
        let ResolvedPool { os_disk_gib, clone, sparse, format, .. } = self.resolved;
        let place = self.place(self.own.os_disk.is_some(), "osDisk.sizeGB");
        if !(MIN_DISK_GIB..=MAX_DISK_GIB).contains(&os_disk_gib) {
            let rule = format!("must be from {MIN_DISK_GIB} to {MAX_DISK_GIB} GiB");
            report.problem(Problem::new(&place, rule).value(os_disk_gib));
        } else if self.is_openshift && os_disk_gib < OPENSHIFT_DISK_GIB {
            report.notice(&place, format!("OpenShift asks for at least {OPENSHIFT_DISK_GIB} GiB"));
        }
        // The engine builds a thin layer as sparse qcow2, whatever it is asked for.
        if !clone && format == Some(DiskFormat::Raw) {
            let place = self.place(self.own.format.is_some(), "format");
            report.problem(
                Problem::new(place, "must be 'cow' when clone is false: a layer over the template is never raw")
                    .value("raw"),
            );
        }
        if !clone && sparse == Some(false) {
            let place = self.place(self.own.sparse.is_some(), "sparse");
            report.problem(
                Problem::new(place, "must be true when clone is false: a layer over the template is always sparse")
                    .value(false),
            );
        }
    }
}
