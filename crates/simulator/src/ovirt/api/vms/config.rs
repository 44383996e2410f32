//! The configuration of VMs: what clients can set, and the rules that bind its parts together.

use std::sync::Arc;

use crate::ovirt::defaults;
use crate::ovirt::fault::Fault;
use crate::ovirt::messages::Attempt;
use crate::ovirt::operating_systems::known_name;
use crate::ovirt::representation::Tree;

/// The fields of a VM, template or instance type that are kept as they are described.
pub(crate) const CONFIGURABLE: &[&str] = &[
    "type",
    "memory",
    "memory_policy",
    "cpu",
    "cpu_shares",
    "cpu_pinning_policy",
    "auto_pinning_policy",
    "bios",
    "os",
    "stateless",
    "delete_protected",
    "high_availability",
    "display",
    "sso",
    "rng_device",
    "console",
    "usb",
    "soundcard_enabled",
    "tunnel_migration",
    "migration_downtime",
    "virtio_scsi",
    "serial_number",
    "start_paused",
    "migration",
    "io",
    "custom_properties",
    "custom_emulated_machine",
    "custom_cpu_model",
    "time_zone",
    "initialization",
    "custom_compatibility_version",
    "storage_error_resume_behaviour",
    "multi_queues_enabled",
    "virtio_scsi_multi_queues_enabled",
    "virtio_scsi_multi_queues",
    "tpm_enabled",
    "numa_tune_mode",
    "use_latest_template_version",
];

/// The longest name of a VM.
pub(crate) const MAX_NAME: usize = 64;

/// The largest memory that the engine gives a VM: 16 TiB.
const MAX_MEMORY: i64 = 16 << 40;

/// What of `tree` is configuration.
pub(crate) fn configurable(tree: &Tree) -> Tree {
    let mut config = Tree::new();
    for (name, value) in tree.iter().filter(|(name, _)| CONFIGURABLE.contains(name)) {
        config.set(name, value.clone());
    }
    if let Some(os) = tree.sub("os").and_then(|os| Some((os, os.text("type")?))) {
        let mut named = os.0.clone();
        named.set("type", known_name(os.1));
        config.set("os", named);
    }
    config
}

/// Lays `patch` over `base`, and sees to it that what belongs together fits: memory and its policy, processors.
pub(crate) fn sized(base: &Arc<Tree>, patch: &Tree, overcommit: u64, attempt: Attempt) -> Result<Arc<Tree>, Fault> {
    if patch.iter().next().is_none() {
        return Ok(base.clone());
    }
    let mut config = (**base).clone();
    config.merge(patch);
    let memory = config.int("memory").unwrap_or(defaults::MEMORY_BYTES);
    if !(1 << 20..=MAX_MEMORY).contains(&memory) {
        return Err(attempt.invalid("The memory size is out of range."));
    }
    let mut policy = config.sub("memory_policy").cloned().unwrap_or_else(|| defaults::memory_policy(memory));
    if patch.has("memory") {
        let given = patch.sub("memory_policy");
        if given.is_none_or(|given| !given.has("guaranteed")) {
            policy.set("guaranteed", memory * 100 / i64::try_from(overcommit.max(1)).unwrap_or(100).max(100));
        }
        if given.is_none_or(|given| !given.has("max")) {
            policy.set("max", memory.saturating_mul(4));
        }
    }
    let (guaranteed, max) = (policy.int("guaranteed").unwrap_or(memory), policy.int("max").unwrap_or(memory));
    if guaranteed < 0 {
        let mb = guaranteed >> 20;
        return Err(attempt.invalid(&format!("Physical Memory Guaranteed cannot be negative ({mb}MB).")));
    }
    if guaranteed > memory {
        return Err(attempt.invalid("Physical Memory Guaranteed cannot exceed Memory Size."));
    }
    if max < memory {
        let (memory, max) = (memory >> 20, max >> 20);
        return Err(attempt.conflict(&format!("Memory size ({memory}MB) cannot exceed maximum memory size ({max}MB).")));
    }
    config.set("memory_policy", policy);
    check_topology(&config, attempt)?;
    check_properties(&config, attempt)?;
    Ok(Arc::new(config))
}

fn check_topology(config: &Tree, attempt: Attempt) -> Result<(), Fault> {
    let Some(topology) = config.at(&["cpu", "topology"]) else { return Ok(()) };
    let parts = ["sockets", "cores", "threads"].map(|part| topology.int(part).unwrap_or(1));
    if parts.iter().any(|part| !(1..=512).contains(part)) {
        return Err(attempt.invalid("The number of sockets, cores and threads must be between 1 and 512."));
    }
    if parts.iter().product::<i64>() > 710 {
        return Err(attempt.invalid("The total number of virtual CPUs is above the maximum of 710."));
    }
    Ok(())
}

/// Custom properties have a name each, and `hugepages` is a number of KiB.
fn check_properties(config: &Tree, attempt: Attempt) -> Result<(), Fault> {
    for property in config.list("custom_properties").into_iter().flatten() {
        let (name, value) = (property.text("name").unwrap_or_default(), property.text("value").unwrap_or_default());
        if name.is_empty() || (name == "hugepages" && value.parse::<u64>().is_err()) {
            return Err(attempt.invalid(&format!("Invalid custom property: {name}={value}.")));
        }
    }
    Ok(())
}

/// Whether a VM or template may have that name.
pub(crate) fn valid_name(name: &str, attempt: Attempt) -> Result<(), Fault> {
    if name.chars().count() > MAX_NAME {
        return Err(attempt.invalid("The given name is too long."));
    }
    if !name.chars().all(|letter| letter.is_alphanumeric() || "-_.+".contains(letter)) {
        return Err(attempt.invalid(
            "The given name contains special characters. Only lower-case and upper-case letters, numbers, '_', '-', '.' \
             and '+' are allowed.",
        ));
    }
    Ok(())
}

/// A configuration of that size for an inventory, whose author is not contradicted.
pub(crate) fn sized_unchecked(base: &Tree, memory_bytes: u64, sockets: u32, cores: u32) -> Arc<Tree> {
    let memory = i64::try_from(memory_bytes).unwrap_or(i64::MAX);
    let topology = Tree::new().with("cores", i64::from(cores)).with("sockets", i64::from(sockets)).with("threads", 1);
    let mut config = base.clone();
    config.merge(
        &Tree::new()
            .with("memory", memory)
            .with("memory_policy", defaults::memory_policy(memory))
            .with("cpu", Tree::new().with("topology", topology)),
    );
    Arc::new(config)
}
