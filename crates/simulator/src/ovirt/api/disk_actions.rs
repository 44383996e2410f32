//! What can be done to a disk besides changing it: copying, moving, giving back unused space.

use super::disks::{domain_of, unlocked};
use super::kind::Kind;
use super::refs;
use crate::ovirt::delays;
use crate::ovirt::fault::Fault;
use crate::ovirt::lifecycle::operations::{self, Work};
use crate::ovirt::messages::{Attempt, attempt};
use crate::ovirt::model::{Disk, DiskFormat, DiskStatus, Vm};
use crate::ovirt::quota;
use crate::ovirt::representation::Tree;
use crate::ovirt::state::State;
use crate::ovirt::storage;
use crate::ovirt::table::Id;

/// Copies a disk: a template's to another domain, any other to a new disk.
pub(crate) fn copy(state: &mut State, id: Id, tree: &Tree) -> Result<Id, Fault> {
    const COPY: Attempt = attempt("copy", "Virtual Disk");
    let disk = usable(state, id, COPY)?;
    let described = tree.sub("disk");
    let named = described.map(|disk| domain_of(state, disk)).transpose()?.flatten();
    let to = match refs::reference(state, tree, "storage_domain", Kind::StorageDomain)?.or(named) {
        Some(to) => to,
        None => {
            *disk.storage_domains.first().ok_or_else(|| Fault::incomplete("Action", "storageDomain.id|name", "copy"))?
        }
    };
    let bytes = disk.actual_bytes.saturating_add(disk.snapshot_bytes);
    storage::room(state, to, bytes, COPY)?;
    let takes = delays::copying(bytes);
    if disk.template.is_some() {
        if disk.storage_domains.contains(&to) {
            return Err(COPY.conflict("The Template Disk is already on the target Storage Domain."));
        }
        let description = format!("Copying Template Disk {}", disk.name);
        operations::lock(state, id);
        return Ok(operations::begin(state, &description, Work::SpreadDisk { disk: id, to }, takes));
    }
    let name = described
        .and_then(|disk| disk.text("alias").or_else(|| disk.text("name")))
        .map_or_else(|| format!("Copy of {}", disk.name), str::to_owned);
    let quota = refs::reference_quota(state, tree)?.or(disk.quota);
    quota::allow_storage(state, quota, to, disk.provisioned_bytes, COPY)?;
    let mut copy = duplicate(disk, to);
    copy.id = state.new_id();
    copy.image = state.new_id();
    copy.created = state.now;
    copy.name = name.clone().into();
    copy.quota = quota;
    copy.profile = operations::default_profile(state, to);
    let new = copy.id;
    storage::add(state, copy);
    operations::lock(state, id);
    Ok(operations::begin(state, &format!("Copying Disk to {name}"), Work::CopyDisk { source: id, copy: new }, takes))
}

/// A disk of the same content that depends on nothing. The caller gives it its own ids.
pub(crate) fn duplicate(disk: &Disk, domain: Id) -> Disk {
    Disk {
        id: disk.id,
        name: disk.name.clone(),
        description: disk.description.clone(),
        status: DiskStatus::Locked,
        image: disk.image,
        format: disk.format,
        sparse: disk.sparse,
        provisioned_bytes: disk.provisioned_bytes,
        initial_bytes: 0,
        actual_bytes: disk.actual_bytes.saturating_add(disk.snapshot_bytes),
        snapshot_bytes: 0,
        storage_domains: vec![domain],
        profile: disk.profile,
        quota: disk.quota,
        content: disk.content.clone(),
        backup: disk.backup.clone(),
        qcow_version: disk.qcow_version.clone(),
        shareable: false,
        wipe_after_delete: disk.wipe_after_delete,
        propagate_errors: disk.propagate_errors,
        created: disk.created,
        vms: Vec::new(),
        template: None,
        backing: None,
        origin: disk.origin.clone(),
    }
}

/// Moves a disk to another domain.
pub(crate) fn relocate(state: &mut State, id: Id, tree: &Tree) -> Result<Id, Fault> {
    const MOVE: Attempt = attempt("move", "Virtual Disk");
    let disk = usable(state, id, MOVE)?;
    let to = refs::required(state, tree, "storage_domain", Kind::StorageDomain, "Action", "move")?;
    if disk.storage_domains.contains(&to) {
        return Err(MOVE.conflict("The source and target Storage Domains are the same."));
    }
    if disk.template.is_some() {
        return Err(MOVE.conflict("Template disks cannot be moved."));
    }
    if let Some(base) = disk.backing.and_then(|base| state.disks.get(base))
        && !base.storage_domains.contains(&to)
    {
        return Err(MOVE.conflict("The selected Storage Domain does not contain the VM Template."));
    }
    let bytes = disk.actual_bytes.saturating_add(disk.snapshot_bytes);
    storage::room(state, to, bytes, MOVE)?;
    let description = format!("Moving Disk {}", disk.name);
    operations::lock(state, id);
    Ok(operations::begin(state, &description, Work::MoveDisk { disk: id, to }, delays::copying(bytes)))
}

/// Gives back what a disk does not use.
pub(crate) fn sparsify(state: &mut State, id: Id) -> Result<Id, Fault> {
    const SPARSIFY: Attempt = attempt("sparsify", "Virtual Disk");
    let disk = usable(state, id, SPARSIFY)?;
    if disk.vms.iter().any(|vm| state.vms.get(*vm).is_some_and(Vm::is_running)) {
        return Err(SPARSIFY.vm_not_down());
    }
    if !disk.sparse || disk.format == DiskFormat::Raw && disk.backing.is_some() {
        return Err(SPARSIFY.conflict("The disk is not thin provisioned."));
    }
    let description = format!("Sparsifying Disk {}", disk.name);
    operations::lock(state, id);
    Ok(operations::begin(state, &description, Work::SparsifyDisk { disk: id }, delays::DISK_SPARSIFY))
}

fn usable(state: &State, id: Id, attempt: Attempt) -> Result<&Disk, Fault> {
    let disk = unlocked(state, id, attempt)?;
    if disk.status == DiskStatus::Illegal {
        return Err(attempt.conflict(&format!("The following disk is in ILLEGAL status: {}.", disk.name)));
    }
    Ok(disk)
}
