//! What must be true before a partition moves.

use super::Destination;
use crate::client::Entry;
use crate::compute::{Error, Host, PartitionId, document, inventory};

/// Looks whether a partition can move while it runs.
pub(super) async fn live(source: &Host, target: &Host, id: &PartitionId) -> Result<Entry, Error> {
    let entry = common(source, target, id).await?;
    running(source, &entry, id)?;
    Ok(entry)
}

/// Looks whether a partition can leave its server while it runs, wherever it goes.
pub(super) async fn departure(source: &Host, id: &PartitionId) -> Result<Entry, Error> {
    let entry = movable(source, id).await?;
    running(source, &entry, id)?;
    Ok(entry)
}

fn running(source: &Host, entry: &Entry, id: &PartitionId) -> Result<(), Error> {
    let refused = |reason: &str| Err(error(source, id, reason));
    if entry.text("PartitionState") != "running" {
        return refused("it does not run");
    }
    if entry.text("ResourceMonitoringControlState") != "active" {
        return refused("its operating system has no RMC connection");
    }
    let able = ["DynamicLogicalPartitionMemoryCapable", "DynamicLogicalPartitionProcessorCapable"];
    if able.iter().any(|name| !entry.is(&format!("PartitionCapabilities/{name}"))) {
        return refused("its operating system cannot be changed while it runs");
    }
    if entry.text("PartitionType") == "OS400" && !entry.is("IsRestrictedIOPartition") {
        return refused("its I/O is not restricted, as that of IBM i has to be");
    }
    Ok(())
}

/// Looks whether a partition can move at all.
async fn movable(source: &Host, id: &PartitionId) -> Result<Entry, Error> {
    let missing = || Error::Missing { what: format!("partition {id}"), host: source.label() };
    let entry = source.partition(id).await?.ok_or_else(missing)?;
    let refused = |reason: String| Err(error(source, id, &reason));
    if entry.is("IsManagementPartition") {
        return refused("NovaLink itself runs in it".to_owned());
    }
    if !matches!(entry.text("MigrationState").as_str(), "" | "Not_Migrating") {
        return refused(format!("it is being migrated: {}", entry.text("MigrationState")));
    }
    Ok(entry)
}

/// Looks whether a server takes a partition, as far as it does not depend on how much of it is free.
pub(super) fn fits(source: &Host, entry: &Entry, id: &PartitionId, there: &Destination) -> Result<(), Error> {
    let refused = |reason: String| Err(error(source, id, &reason));
    let here = source.system();
    if here.memory_region_mib != there.memory_region_mib {
        return refused(format!(
            "memory comes in pieces of {} MiB on {} and of {} MiB on {}",
            here.memory_region_mib,
            source.name(),
            there.memory_region_mib,
            there.name
        ));
    }
    let mode = entry.text("CurrentProcessorCompatibilityMode");
    let known = there.processor_modes.iter().any(|known| known.eq_ignore_ascii_case(&mode));
    if !mode.is_empty() && !there.processor_modes.is_empty() && !known {
        return refused(format!("{} has no processor mode {mode}", there.name));
    }
    Ok(())
}

/// Looks whether a partition can be on another server at all.
pub(super) async fn common(source: &Host, target: &Host, id: &PartitionId) -> Result<Entry, Error> {
    let entry = movable(source, id).await?;
    let refused = |reason: String| Err(error(source, id, &reason));
    if source.name() == target.name() {
        return refused(format!("it is on {} already", target.name()));
    }
    let there = inventory::resources(target).await?;
    let destination = Destination {
        name: target.name().to_owned(),
        memory_region_mib: there.memory_region_mib,
        processor_modes: there.processor_modes,
        peer: None,
        vlans: Vec::new(),
        fibre: Vec::new(),
    };
    fits(source, &entry, id, &destination)?;
    let shape = document::shape(&entry.object);
    let free = there.memory_mib.saturating_sub(there.memory_used_mib);
    if shape.memory.desired_mib > free {
        return refused(format!("{} has {free} MiB of memory left", target.name()));
    }
    Ok(entry)
}

fn error(source: &Host, id: &PartitionId, reason: &str) -> Error {
    let what = format!("partition {id}");
    Error::Refused { what, host: source.label(), done: "migrated", reason: reason.to_owned() }
}
