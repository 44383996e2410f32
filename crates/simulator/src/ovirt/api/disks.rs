//! Disks.

use super::call::{Call, Done, Outcome};
use super::disk_actions;
use super::found::{Found, Lookup};
use super::kind::{Kind, Subject};
use super::view::View;
use super::{permissions, refs, statistics};
use crate::ovirt::delays;
use crate::ovirt::fault::Fault;
use crate::ovirt::lifecycle::operations::{self, Work};
use crate::ovirt::messages::{Attempt, attempt};
use crate::ovirt::model::{Disk, DiskFormat, DiskStatus, Object};
use crate::ovirt::quota;
use crate::ovirt::representation::Tree;
use crate::ovirt::representation::types::DISK;
use crate::ovirt::state::State;
use crate::ovirt::storage;
use crate::ovirt::table::Id;

const ADD: Attempt = attempt("add", "Virtual Disk");
const EDIT: Attempt = attempt("edit", "Virtual Disk");
const REMOVE: Attempt = attempt("remove", "Virtual Disk");

/// The largest disk that the engine makes: 500 TiB on file storage.
const MAX_BYTES: u64 = 500 << 40;

/// Writes a disk.
pub(crate) fn render(view: &mut View, element: &'static str, disk: &Disk) {
    let path = format_args!("disks/{}", disk.id);
    view.open(element, path, disk.id);
    body(view, disk);
    view.links(path, &["disksnapshots", "permissions", "statistics"]);
    view.actions(path, &["copy", "move", "sparsify", "reduce", "refreshlun"]);
    view.close();
}

/// Writes what a disk is, without its links.
pub(crate) fn body(view: &mut View, disk: &Disk) {
    view.out.text("name", &disk.name);
    view.out.text("description", &disk.description);
    view.out.text("actual_size", disk.actual_bytes);
    view.out.text("alias", &disk.name);
    view.out.text("backup", &disk.backup);
    view.out.text("content_type", &disk.content);
    view.out.text("format", disk.format);
    view.out.text("image_id", disk.image);
    view.out.text("propagate_errors", disk.propagate_errors);
    view.out.text("provisioned_size", disk.provisioned_bytes);
    if disk.format == DiskFormat::Cow {
        view.out.text("qcow_version", &disk.qcow_version);
    }
    view.out.text("shareable", disk.shareable);
    view.out.text("sparse", disk.sparse);
    view.out.text("status", disk.status);
    view.out.text("storage_type", "image");
    view.out.text("total_size", disk.actual_bytes.saturating_add(disk.snapshot_bytes));
    view.out.text("wipe_after_delete", disk.wipe_after_delete);
    view.maybe_reference("disk_profile", "diskprofiles", disk.profile);
    if let Some(quota) = disk.quota.and_then(|quota| view.state.quotas.get(quota)) {
        view.reference_to("quota", format_args!("datacenters/{}/quotas/{}", quota.data_center, quota.id), quota.id);
    }
    view.out.open_list("storage_domains", "storage_domain");
    disk.storage_domains.iter().for_each(|domain| view.reference("storage_domain", "storagedomains", *domain));
    view.close();
    if !disk.vms.is_empty() {
        view.out.open_list("vms", "vm");
        disk.vms.iter().for_each(|vm| view.reference("vm", "vms", *vm));
        view.close();
    }
    view.maybe_reference("template", "templates", disk.template);
}

/// A disk, or what is under it.
pub(crate) fn at<'s>(state: &'s State, disk: &'s Disk, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::subject(Subject::Disk(disk))),
        ["statistics", rest @ ..] => statistics::of_disk(disk, rest),
        ["permissions", rest @ ..] => permissions::of(state, Object::Disk(disk.id), rest),
        ["disksnapshots"] => Ok(Found::nothing("disk_snapshots", "disk_snapshot")),
        _ => Err(Fault::not_found()),
    }
}

/// Makes a disk that belongs to nobody.
pub(crate) fn add(call: &mut Call) -> Outcome {
    let tree = call.read(&DISK)?;
    let (id, job) = create(call.state, &tree, None)?;
    Ok(Done::Created { path: format!("disks/{id}"), job: Some(job) })
}

/// Makes a disk from its description, and returns it and its job.
pub(crate) fn create(state: &mut State, tree: &Tree, vm: Option<Id>) -> Result<(Id, Id), Fault> {
    let bytes = |field| tree.int(field).and_then(|bytes| u64::try_from(bytes).ok());
    let provisioned =
        bytes("provisioned_size").ok_or_else(|| Fault::incomplete("Disk", "provisionedSize|size", "add"))?;
    if provisioned == 0 || provisioned > MAX_BYTES {
        return Err(ADD.invalid("The disk size must be between 1 byte and 500 TB."));
    }
    let domain = domain_of(state, tree)?.ok_or_else(|| Fault::incomplete("Disk", "storageDomains.id|name", "add"))?;
    let format =
        tree.text("format").and_then(DiskFormat::parse).ok_or_else(|| Fault::incomplete("Disk", "format", "add"))?;
    let backup = tree.text("backup").unwrap_or("none");
    if backup == "incremental" && format == DiskFormat::Raw {
        return Err(ADD.invalid("Incremental backup is enabled only for disks in the format qcow."));
    }
    let is_block = state.storage_domains.get(domain).is_some_and(crate::ovirt::model::StorageDomain::is_block);
    let sparse = tree.bool("sparse").unwrap_or(format == DiskFormat::Cow || !is_block);
    if (format == DiskFormat::Cow && !sparse) || (format == DiskFormat::Raw && sparse && is_block) {
        let kind = if sparse { "Sparse" } else { "Preallocated" };
        let format = format.as_str().to_ascii_uppercase();
        return Err(ADD.conflict(&format!(
            "Disk configuration ({format} {kind} backup-{backup}) is incompatible with the storage domain type."
        )));
    }
    let data_center = state.storage_domains.get(domain).and_then(|domain| domain.data_center);
    let quota = refs::reference_quota(state, tree)?.or_else(|| quota::usual(state, data_center));
    let initial = bytes("initial_size").unwrap_or_default();
    let target = storage::room(state, domain, 0, ADD)?;
    let actual = storage::initial_bytes(target, format, sparse, provisioned, initial);
    storage::room(state, domain, actual, ADD)?;
    quota::allow_storage(state, quota, domain, provisioned, ADD)?;
    let id = match tree.text("id").filter(|id| !id.is_empty()) {
        Some(id) => super::found::parse_id(id)?,
        None => state.new_id(),
    };
    if let Some(taken) = state.disks.get(id) {
        return Err(ADD.conflict(&format!(
            "The selected disk ID: {id} is already used by the following existing disk: {}.",
            taken.name
        )));
    }
    let profile = match refs::reference(state, tree, "disk_profile", Kind::DiskProfile)? {
        Some(profile) => Some(profile),
        None => operations::default_profile(state, domain),
    };
    let image = state.new_id();
    let text = |field: &str, default: &str| -> Box<str> { tree.text(field).unwrap_or(default).into() };
    let name = tree.text("alias").or_else(|| tree.text("name")).unwrap_or_default();
    let disk = Disk {
        id,
        name: name.into(),
        description: text("description", ""),
        status: DiskStatus::Locked,
        image,
        format,
        sparse,
        provisioned_bytes: provisioned,
        initial_bytes: initial,
        actual_bytes: actual,
        snapshot_bytes: 0,
        storage_domains: vec![domain],
        profile,
        quota,
        content: text("content_type", "data"),
        backup: backup.into(),
        qcow_version: text("qcow_version", "qcow2_v3"),
        shareable: tree.bool("shareable").unwrap_or(false),
        wipe_after_delete: tree.bool("wipe_after_delete").unwrap_or(false),
        propagate_errors: tree.bool("propagate_errors").unwrap_or(false),
        created: state.now,
        vms: vm.into_iter().collect(),
        template: None,
        backing: None,
        origin: None,
    };
    let allocated = if sparse { 0 } else { provisioned };
    let description = format!("Adding Disk {name}");
    storage::add(state, disk);
    let job = operations::begin(state, &description, Work::CreateDisk { disk: id }, delays::allocating(allocated));
    Ok((id, job))
}

/// The storage domain that a disk's description names, in either of the two forms.
pub(crate) fn domain_of(state: &State, tree: &Tree) -> Result<Option<Id>, Fault> {
    let listed = tree.list("storage_domains").and_then(|mut domains| domains.next());
    match listed.map(|given| refs::resolve(state, given, Kind::StorageDomain)).transpose()?.flatten() {
        Some(domain) => Ok(Some(domain)),
        None => refs::reference(state, tree, "storage_domain", Kind::StorageDomain),
    }
}

/// Changes a disk: names at once, its size with a lock.
pub(crate) fn update(call: &mut Call, id: Id) -> Outcome {
    let tree = call.read(&DISK)?;
    change(call.state, id, &tree)?;
    Ok(Done::Updated { path: format!("disks/{id}") })
}

/// Changes a disk as `tree` says, and returns the job if that takes time.
pub(crate) fn change(state: &mut State, id: Id, tree: &Tree) -> Result<Option<Id>, Fault> {
    let disk = unlocked(state, id, EDIT)?;
    let wanted = tree.int("provisioned_size").and_then(|bytes| u64::try_from(bytes).ok());
    let grown = wanted.filter(|wanted| *wanted != disk.provisioned_bytes);
    if let Some(bytes) = grown {
        if bytes < disk.provisioned_bytes {
            return Err(EDIT.invalid("New disk size must be larger than the current disk size."));
        }
        if bytes > MAX_BYTES {
            return Err(EDIT.invalid("The disk size must be between 1 byte and 500 TB."));
        }
        let more = if disk.sparse { 0 } else { bytes - disk.provisioned_bytes };
        let (quota, domains) = (disk.quota, disk.storage_domains.clone());
        let growth = bytes - disk.provisioned_bytes;
        for domain in domains {
            storage::room(state, domain, more, EDIT)?;
            quota::allow_storage(state, quota, domain, growth, EDIT)?;
        }
    }
    let quota = refs::reference_quota(state, tree)?;
    let profile = refs::reference(state, tree, "disk_profile", Kind::DiskProfile)?;
    if let Some(name) = tree.text("alias").or_else(|| tree.text("name")) {
        state.disks.rename(id, name);
    }
    let disk = state.disks.get_mut(id).ok_or_else(Fault::not_found)?;
    if let Some(description) = tree.text("description") {
        disk.description = description.into();
    }
    disk.shareable = tree.bool("shareable").unwrap_or(disk.shareable);
    disk.wipe_after_delete = tree.bool("wipe_after_delete").unwrap_or(disk.wipe_after_delete);
    disk.propagate_errors = tree.bool("propagate_errors").unwrap_or(disk.propagate_errors);
    if let Some(backup) = tree.text("backup") {
        disk.backup = backup.into();
    }
    if let Some(version) = tree.text("qcow_version") {
        disk.qcow_version = version.into();
    }
    disk.quota = quota.or(disk.quota);
    disk.profile = profile.or(disk.profile);
    let Some(bytes) = grown else { return Ok(None) };
    let description = format!("Extending Disk {}", disk.name);
    disk.status = DiskStatus::Locked;
    Ok(Some(operations::begin(state, &description, Work::ResizeDisk { disk: id, bytes }, delays::DISK_RESIZE)))
}

/// Removes a disk, also from the VM that has it if that is off.
pub(crate) fn remove(call: &mut Call, id: Id) -> Outcome {
    destroy(call.state, id).map(|job| Done::Removed { job: Some(job) })
}

/// Removes a disk and returns the job.
pub(crate) fn destroy(state: &mut State, id: Id) -> Result<Id, Fault> {
    let disk = unlocked(state, id, REMOVE)?;
    if disk.template.is_some() {
        return Err(REMOVE.conflict("Removing the Template Snapshot is not allowed."));
    }
    let (vms, name) = (disk.vms.clone(), disk.name.clone());
    for vm in vms.iter().filter_map(|vm| state.vms.get(*vm)) {
        let plugged = vm.disks.iter().any(|attachment| attachment.disk == id && attachment.active);
        if vm.is_running() && plugged {
            return Err(REMOVE.conflict(&format!("The following VMs are running: {}.", vm.name)));
        }
    }
    operations::lock(state, id);
    let description = format!("Removing Disk {name}");
    Ok(operations::begin(state, &description, Work::RemoveDisk { disk: id }, delays::DISK_REMOVE))
}

/// The disk, if nothing is in the way of changing it.
pub(crate) fn unlocked(state: &State, id: Id, attempt: Attempt) -> Result<&Disk, Fault> {
    let disk = state.disks.get(id).ok_or_else(Fault::not_found)?;
    if state.busy.contains(&id) {
        return Err(attempt.object_locked());
    }
    if disk.status == DiskStatus::Locked {
        return Err(attempt.disk_locked());
    }
    for vm in &disk.vms {
        if state.busy.contains(vm) {
            return Err(attempt.object_locked());
        }
        if state.vms.get(*vm).is_some_and(|vm| vm.status == crate::ovirt::model::VmStatus::ImageLocked) {
            return Err(attempt.vm_locked());
        }
    }
    Ok(disk)
}

/// `copy`, `move`, `sparsify` and what changes nothing here.
pub(crate) fn act(call: &mut Call, id: Id, action: &str) -> Outcome {
    let tree = call.read_action()?;
    let job = match action {
        "copy" => disk_actions::copy(call.state, id, &tree)?,
        "move" => disk_actions::relocate(call.state, id, &tree)?,
        "sparsify" | "reduce" => disk_actions::sparsify(call.state, id)?,
        "refreshlun" => return Err(attempt("refresh", "LUN").conflict("Disk is not a LUN disk.")),
        _ => return Err(Fault::not_found()),
    };
    Ok(Done::Acted { job: Some(job), pending: true })
}
