//! Whether the servers have memory and processors for all machines of the plan.

use std::collections::BTreeMap;

use landfall_config::MachinePool;
use landfall_platform::Finding;

use super::{Server, Subject};

/// What is needed on a server.
#[derive(Clone, Copy, Default)]
struct Need {
    memory_mib: u64,
    units: f64,
}

/// Masters and the bootstrap machine are counted where the plan puts them, workers all together.
pub(super) fn check(subject: &Subject<'_>, servers: &[Server<'_>]) -> Vec<Finding> {
    let config = subject.config;
    let need = |pool: &MachinePool| {
        let resolved = config.powervm_pool(pool);
        (resolved.hosts, u64::from(resolved.memory_gib) * 1024, resolved.processing_units)
    };
    let mut needs: BTreeMap<String, Need> = BTreeMap::new();
    let (hosts, memory_mib, units) = need(&config.control_plane);
    // One more for the bootstrap machine.
    for number in 0..=config.control_plane.replicas as usize {
        if let Some(host) = hosts.get(number % hosts.len().max(1)) {
            let sum = needs.entry(host.clone()).or_default();
            sum.memory_mib += memory_mib;
            sum.units += units;
        }
    }
    let mut findings: Vec<Finding> = servers.iter().map(|server| of_server(server, &needs, subject)).collect();
    findings.extend(of_all(subject, servers, &needs));
    findings
}

fn of_server(server: &Server<'_>, needs: &BTreeMap<String, Need>, subject: &Subject<'_>) -> Finding {
    const CHECK: &str = "room";
    let (name, system) = (&server.member.name, &server.system);
    let need = needs.get(name).copied().unwrap_or_default();
    let modes = std::iter::once(&subject.config.control_plane).chain(&subject.config.compute);
    let unknown = modes
        .map(|pool| subject.config.powervm_pool(pool).compatibility_mode)
        .find(|mode| mode != "default" && !system.processor_modes.is_empty() && !system.processor_modes.contains(mode));
    if let Some(mode) = unknown {
        let message = format!("{name} cannot run processors in mode {mode}");
        let hint = format!("it knows {}", system.processor_modes.join(", "));
        return Finding::problem(CHECK, message, hint).blame("compatibilityMode");
    }
    let region = system.memory_region_mib;
    if region > 0 && need.memory_mib % region != 0 {
        let message = format!("{name} gives memory in multiples of {region} MiB");
        return Finding::problem(CHECK, message, "choose another memoryGiB").blame("memoryGiB");
    }
    let message = format!(
        "{name}: {} GiB and {:.2} processing units for masters and bootstrap, {} GiB and {:.2} free",
        need.memory_mib / 1024,
        need.units,
        system.free_memory_mib / 1024,
        system.free_processors
    );
    if need.memory_mib > system.free_memory_mib || need.units > system.free_processors {
        Finding::problem(CHECK, message, "use smaller machines or other servers, or free something")
    } else {
        Finding::ok(CHECK, message)
    }
}

fn of_all(subject: &Subject<'_>, servers: &[Server<'_>], needs: &BTreeMap<String, Need>) -> Option<Finding> {
    const CHECK: &str = "room for workers";
    let config = subject.config;
    let (mut memory, mut units) = (0, 0.0);
    for pool in &config.compute {
        let resolved = config.powervm_pool(pool);
        memory += u64::from(pool.replicas) * u64::from(resolved.memory_gib) * 1024;
        units += f64::from(pool.replicas) * resolved.processing_units;
    }
    if servers.is_empty() || memory == 0 {
        return None;
    }
    let free: u64 = servers.iter().map(|server| server.system.free_memory_mib).sum();
    let taken: u64 = needs.values().map(|need| need.memory_mib).sum();
    let free_units: f64 = servers.iter().map(|server| server.system.free_processors).sum();
    let taken_units: f64 = needs.values().map(|need| need.units).sum();
    let (free, free_units) = (free.saturating_sub(taken), free_units - taken_units);
    let message = format!(
        "{} GiB and {units:.2} processing units needed, {} GiB and {free_units:.2} left by the masters",
        memory / 1024,
        free / 1024
    );
    Some(if memory > free || units > free_units {
        let hint = "workers that find no server will not be made; use smaller pools or free something";
        Finding::notice(CHECK, message, hint)
    } else {
        Finding::ok(CHECK, message)
    })
}
