//! Making VMs: from a template, thin or cloned, and from another VM.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::config::{configurable, sized, valid_name};
use crate::ovirt::api::call::{Call, Done, Outcome, require};
use crate::ovirt::api::disk_actions::duplicate;
use crate::ovirt::api::found::parse_id;
use crate::ovirt::api::kind::Kind;
use crate::ovirt::api::{disks, graphics_consoles, nics, permissions, refs};
use crate::ovirt::delays;
use crate::ovirt::fault::Fault;
use crate::ovirt::lifecycle::commands::idle;
use crate::ovirt::lifecycle::operations::{self, Copy, Work};
use crate::ovirt::lifecycle::{jobs, power, vm::Event};
use crate::ovirt::messages::{Attempt, attempt};
use crate::ovirt::model::{
    About, Attachment, Cdrom, Disk, DiskFormat, DiskStatus, Holder, Object, Placement, Power, Severity, Snapshot,
    SnapshotStatus, SnapshotType, Template, TemplateStatus, Vm, VmAffinity, VmStatus,
};
use crate::ovirt::quota;
use crate::ovirt::representation::Tree;
use crate::ovirt::representation::types::VM;
use crate::ovirt::roles;
use crate::ovirt::state::{NIL, State};
use crate::ovirt::storage;
use crate::ovirt::table::Id;

const ADD: Attempt = attempt("add", "VM");

/// What a client wants a disk of the new VM to be, where it is not to be like the template's.
#[derive(Default)]
struct Override {
    domain: Option<Id>,
    format: Option<DiskFormat>,
    sparse: Option<bool>,
    name: Option<Box<str>>,
}

/// Makes a VM.
pub(crate) fn add(call: &mut Call) -> Outcome {
    let tree = call.read(&VM)?;
    let clone = call.params.flag("clone").unwrap_or(false);
    let state = &mut *call.state;
    let cluster = refs::required(state, &tree, "cluster", Kind::Cluster, "Vm", "add")?;
    let name = require(&tree, "Vm", "name", "add")?;
    let template = refs::required(state, &tree, "template", Kind::Template, "Vm", "add")?;
    valid_name(name, ADD)?;
    name_is_free(state, name, cluster, None, ADD)?;
    let base = state.templates.get(template).ok_or_else(Fault::not_found)?;
    if base.status == TemplateStatus::Locked {
        return Err(ADD.conflict("Template's Image is locked (temporarily)."));
    }
    let overrides = overrides(state, base, &tree)?;
    let instance_type = refs::reference(state, &tree, "instance_type", Kind::InstanceType)?;
    let overcommit = state.clusters.get(cluster).map_or(100, |cluster| cluster.overcommit_percent);
    let mut config = base.config.clone();
    if let Some(size) = instance_type.and_then(|id| state.instance_types.get(id)) {
        config = sized(&config, &size.config, overcommit, ADD)?;
    }
    let mut wanted = configurable(&tree);
    if template == NIL && !wanted.has("soundcard_enabled") {
        // Where no template says otherwise, a VM gets the devices that its operating system can use.
        wanted.set("soundcard_enabled", true);
    }
    let config = sized(&config, &wanted, overcommit, ADD)?;
    let placement = placement(state, &tree, Placement { affinity: VmAffinity::Migratable, hosts: Vec::new() })?;
    let quota = refs::reference_quota(state, &tree)?.or_else(|| quota::usual(state, state.data_center_of(cluster)));
    let cpu_profile = match refs::reference(state, &tree, "cpu_profile", Kind::CpuProfile)? {
        Some(profile) => Some(profile),
        None => state.cpu_profiles.iter().find(|profile| profile.cluster == cluster).map(|profile| profile.id),
    };
    let plans = plan_disks(state, template, &overrides, clone, quota)?;

    let id = match tree.text("id").filter(|id| !id.is_empty()) {
        Some(id) => parse_id(id)?,
        None => state.new_id(),
    };
    if state.vms.contains(id) {
        return Err(ADD.conflict("VM with the given Id already exists in the system."));
    }
    let mut vm = blank(state, id, name, cluster, config);
    vm.description = tree.text("description").unwrap_or_default().into();
    vm.comment = tree.text("comment").unwrap_or_default().into();
    vm.template = if clone { NIL } else { template };
    vm.original_template = template;
    (vm.instance_type, vm.cpu_profile, vm.quota, vm.placement) = (instance_type, cpu_profile, quota, placement);
    vm.nics = nics::copies(state, template);
    vm.consoles = graphics_consoles::defaults(state, template);
    let made = make_disks(state, &mut vm, plans);
    state.vms.insert(vm);
    if !clone
        && template != NIL
        && let Some(template) = state.templates.get_mut(template)
    {
        template.dependants.insert(id);
    }
    own(state, id);
    if call.params.flag("clone_permissions") == Some(true) {
        copy_permissions(state, Object::Template(template), Object::Vm(id));
    }
    let job = begin(state, id, made, clone, None);
    Ok(Done::Created { path: format!("vms/{id}"), job })
}

/// Makes a copy of a VM that is off: the action `clone`.
pub(crate) fn clone_vm(call: &mut Call, source: Id, tree: &Tree) -> Outcome {
    const CLONE: Attempt = attempt("clone", "VM");
    let state = &mut *call.state;
    let described = tree.sub("vm").ok_or_else(|| Fault::incomplete("Action", "vm.name", "clone"))?;
    let name = require(described, "Vm", "name", "clone")?;
    let original = idle(state, source, CLONE)?;
    if original.status != VmStatus::Down {
        return Err(CLONE.vm_not_down());
    }
    valid_name(name, CLONE)?;
    let original = state.vms.get(source).ok_or_else(Fault::not_found)?;
    let (cluster, quota, config) = (original.cluster, original.quota, original.config.clone());
    name_is_free(state, name, cluster, None, CLONE)?;
    let original = state.vms.get(source).ok_or_else(Fault::not_found)?;
    let mut plans = Vec::new();
    for attachment in &original.disks {
        let disk = disks::unlocked(state, attachment.disk, CLONE)?;
        let domain = *disk.storage_domains.first().ok_or_else(Fault::not_found)?;
        storage::room(state, domain, disk.actual_bytes.saturating_add(disk.snapshot_bytes), CLONE)?;
        quota::allow_storage(state, quota, domain, disk.provisioned_bytes, CLONE)?;
        plans.push((attachment.clone(), duplicate(disk, domain)));
    }
    let id = state.new_id();
    let mut vm = blank(state, id, name, cluster, config);
    vm.quota = quota;
    vm.nics = nics::copies_of_vm(state, source);
    vm.consoles = graphics_consoles::defaults(state, NIL);
    let made = make_disks(state, &mut vm, plans);
    state.vms.insert(vm);
    own(state, id);
    operations::lock_disks_of(state, source);
    power::due(state, source, Event::Lock);
    let job = begin(state, id, made, true, Some(source));
    Ok(Done::Acted { job, pending: true })
}

/// Makes a VM of a template for an inventory: at once, without asking whether there is room.
pub(crate) fn blank_vm(state: &mut State, name: &str, cluster: Id, template: Id) -> Id {
    let id = state.new_id();
    let config = state.templates.get(template).map(|template| template.config.clone()).unwrap_or_default();
    let mut vm = blank(state, id, name, cluster, config);
    vm.template = template;
    vm.original_template = template;
    vm.cpu_profile = state.cpu_profiles.iter().find(|profile| profile.cluster == cluster).map(|profile| profile.id);
    vm.nics = nics::copies(state, template);
    vm.consoles = graphics_consoles::defaults(state, template);
    let plans = plan_disks(state, template, &BTreeMap::new(), false, None).unwrap_or_default();
    let (copies, _) = make_disks(state, &mut vm, plans);
    for copy in copies {
        operations::unlock(state, copy.to);
    }
    state.vms.insert(vm);
    if template != NIL
        && let Some(template) = state.templates.get_mut(template)
    {
        template.dependants.insert(id);
    }
    id
}

/// A VM of that configuration that has nothing yet.
fn blank(state: &mut State, id: Id, name: &str, cluster: Id, config: Arc<Tree>) -> Vm {
    let (cdrom, active, now) = (state.new_id(), state.new_id(), state.now);
    Vm {
        id,
        name: name.into(),
        description: "".into(),
        comment: "".into(),
        cluster,
        template: NIL,
        original_template: NIL,
        instance_type: None,
        cpu_profile: None,
        quota: None,
        config,
        next_run: None,
        placement: Placement { affinity: VmAffinity::Migratable, hosts: Vec::new() },
        status: VmStatus::Down,
        requested: Power::Down,
        pending: None,
        slowdown: 1,
        job: None,
        host: None,
        destination: None,
        created: now,
        started: None,
        stopped: None,
        stop_reason: None,
        run_once: false,
        initialized: false,
        run_config: None,
        drive: None,
        disks: Vec::new(),
        nics: Vec::new(),
        consoles: Vec::new(),
        cdrom: Cdrom { id: cdrom, file: None },
        snapshots: vec![Snapshot {
            id: active,
            description: "Active VM".into(),
            kind: SnapshotType::Active,
            status: SnapshotStatus::Ok,
            created: now,
            persist_memory: false,
            frozen: None,
        }],
        tags: Vec::new(),
        numa_nodes: Vec::new(),
        watchdogs: Vec::new(),
        guest_started: false,
        guest: None,
    }
}

/// A VM's name is its own within its data centre.
pub(super) fn name_is_free(
    state: &State,
    name: &str,
    cluster: Id,
    own: Option<Id>,
    attempt: Attempt,
) -> Result<(), Fault> {
    let data_center = state.data_center_of(cluster);
    let taken = |vm: &Vm| Some(vm.id) != own && state.data_center_of(vm.cluster) == data_center;
    if state.vms.named(name).any(taken) { Err(attempt.name_in_use()) } else { Ok(()) }
}

/// The placement policy in a body, laid over what there was.
pub(super) fn placement(state: &State, tree: &Tree, old: Placement) -> Result<Placement, Fault> {
    let Some(policy) = tree.sub("placement_policy") else { return Ok(old) };
    let affinity = policy.text("affinity").and_then(VmAffinity::parse).unwrap_or(old.affinity);
    let hosts = match policy.list("hosts") {
        Some(hosts) => {
            let hosts = hosts.filter_map(|host| refs::resolve(state, host, Kind::Host).transpose());
            hosts.collect::<Result<Vec<Id>, Fault>>()?
        }
        None => old.hosts,
    };
    Ok(Placement { affinity, hosts })
}

/// What the client wants to differ, by the id of the template's disk. An unknown id is answered without a word.
fn overrides(state: &State, template: &Template, tree: &Tree) -> Result<BTreeMap<Id, Override>, Fault> {
    let everywhere = refs::reference(state, tree, "storage_domain", Kind::StorageDomain)?;
    let mut overrides: BTreeMap<Id, Override> = template
        .disks
        .iter()
        .map(|attachment| (attachment.disk, Override { domain: everywhere, ..Override::default() }))
        .collect();
    for given in tree.list("disk_attachments").into_iter().flatten() {
        let Some(disk) = given.sub("disk") else { continue };
        let Some(id) = disk.text("id").or_else(|| given.text("id")) else { continue };
        let wanted = overrides.get_mut(&parse_id(id)?).ok_or_else(Fault::not_found)?;
        wanted.domain = disks::domain_of(state, disk)?.or(wanted.domain);
        wanted.format = disk.text("format").and_then(DiskFormat::parse);
        wanted.sparse = disk.bool("sparse");
        wanted.name = disk.text("alias").or_else(|| disk.text("name")).map(Into::into);
    }
    Ok(overrides)
}

/// The disks that the VM will have, after checking that there is room for them.
fn plan_disks(
    state: &State,
    template: Id,
    overrides: &BTreeMap<Id, Override>,
    clone: bool,
    quota: Option<Id>,
) -> Result<Vec<(Attachment, Disk)>, Fault> {
    let template = state.templates.get(template).ok_or_else(Fault::not_found)?;
    let none = Override::default();
    let mut plans = Vec::new();
    for attachment in &template.disks {
        let base = state.disks.get(attachment.disk).ok_or_else(Fault::not_found)?;
        if base.status != DiskStatus::Ok {
            return Err(ADD.conflict("The VM template disk status is not 'OK'."));
        }
        let wanted = overrides.get(&base.id).unwrap_or(&none);
        let own = base.storage_domains.first().copied().ok_or_else(Fault::not_found)?;
        let domain = wanted.domain.unwrap_or(own);
        if !clone && !base.storage_domains.contains(&domain) {
            return Err(ADD.conflict("The selected Storage Domain does not contain the VM Template."));
        }
        let target = storage::room(state, domain, 0, ADD)?;
        let mut disk = duplicate(base, domain);
        disk.quota = quota;
        disk.profile = operations::default_profile(state, domain);
        if let Some(name) = &wanted.name {
            disk.name = name.clone();
        }
        if clone {
            disk.format = wanted.format.unwrap_or(disk.format);
            disk.sparse = wanted.sparse.unwrap_or(disk.sparse);
            disk.actual_bytes = if disk.sparse { disk.actual_bytes } else { disk.provisioned_bytes };
        } else {
            disk.format = DiskFormat::Cow;
            disk.sparse = true;
            disk.backing = Some(base.id);
            disk.actual_bytes = storage::initial_bytes(target, DiskFormat::Cow, true, disk.provisioned_bytes, 0);
        }
        storage::room(state, domain, disk.actual_bytes, ADD)?;
        quota::allow_storage(state, quota, domain, disk.provisioned_bytes, ADD)?;
        plans.push((attachment.clone(), disk));
    }
    Ok(plans)
}

/// Makes the planned disks, locked, and attaches them. Returns them with the bytes that have to be written.
fn make_disks(state: &mut State, vm: &mut Vm, plans: Vec<(Attachment, Disk)>) -> (Vec<Copy>, u64) {
    let mut made = Vec::new();
    let mut bytes = 0_u64;
    for (mut attachment, mut disk) in plans {
        disk.id = state.new_id();
        disk.image = state.new_id();
        disk.created = state.now;
        disk.vms = vec![vm.id];
        bytes = bytes.saturating_add(disk.actual_bytes);
        made.push(Copy { from: attachment.disk, to: disk.id });
        attachment.disk = disk.id;
        vm.disks.push(attachment);
        storage::add(state, disk);
    }
    (made, bytes)
}

/// Locks a VM whose disks are being made. Without disks it is there at once.
fn begin(state: &mut State, id: Id, (copies, bytes): (Vec<Copy>, u64), clone: bool, source: Option<Id>) -> Option<Id> {
    let name = state.vms.get(id).map(|vm| vm.name.clone()).unwrap_or_default();
    let description = format!("Creating VM {name}");
    let about = About { vm: Some(id), ..About::default() };
    state.log(34, Severity::Normal, format!("VM {name} creation was initiated."), about);
    if copies.is_empty() && source.is_none() {
        jobs::note(state, &description);
        return None;
    }
    power::due(state, id, Event::Lock);
    let takes: Duration = if clone { delays::copying(bytes) } else { delays::VM_CREATE_THIN };
    Some(operations::begin(state, &description, Work::CreateVm { vm: id, copies, source }, takes))
}

/// Who makes a VM manages it; administrators do so anyway.
fn own(state: &mut State, vm: Id) {
    if let Some(user) = state.cause.user.filter(|user| !state.is_administrator(*user)) {
        permissions::grant(state, roles::USER_VM_MANAGER, Holder::User(user), Object::Vm(vm));
    }
}

fn copy_permissions(state: &mut State, from: Object, to: Object) {
    let held: Vec<(Id, Holder)> = state
        .permissions
        .iter()
        .filter(|permission| permission.object == from)
        .map(|permission| (permission.role, permission.holder))
        .collect();
    for (role, holder) in held {
        permissions::grant(state, role, holder, to);
    }
}
