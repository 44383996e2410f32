//! Templates.

use super::call::{Call, Done, Outcome, require};
use super::disk_actions::duplicate;
use super::found::{Found, Lookup};
use super::kind::{Kind, Subject};
use super::owner::Owner;
use super::view::View;
use super::vms::{config_body, configurable, sized, valid_name};
use super::{disk_attachments, disks, graphics_consoles, nics, permissions, refs, tags};
use crate::ovirt::delays;
use crate::ovirt::fault::Fault;
use crate::ovirt::lifecycle::commands::idle;
use crate::ovirt::lifecycle::operations::{self, Copy, Work};
use crate::ovirt::lifecycle::{power, vm::Event};
use crate::ovirt::messages::{Attempt, attempt};
use crate::ovirt::model::{Disk, DiskFormat, DiskStatus, Object, Template, TemplateStatus, Version, VmStatus};
use crate::ovirt::quota;
use crate::ovirt::representation::Tree;
use crate::ovirt::representation::types::TEMPLATE;
use crate::ovirt::state::{NIL, State};
use crate::ovirt::storage;
use crate::ovirt::table::Id;

const ADD: Attempt = attempt("add", "Template");
const EDIT: Attempt = attempt("edit", "Template");
const REMOVE: Attempt = attempt("remove", "Template");

const LINKS: &[&str] =
    &["cdroms", "diskattachments", "graphicsconsoles", "mediateddevices", "nics", "permissions", "tags", "watchdogs"];

/// Writes a template.
pub(crate) fn render(view: &mut View, element: &'static str, template: &Template) {
    let path = format_args!("templates/{}", template.id);
    view.open(element, path, template.id);
    view.names(&template.name, &template.description, &template.comment);
    config_body(view, &template.config);
    view.date("creation_time", template.created);
    view.out.text("origin", "ovirt");
    view.out.text("status", template.status);
    view.out.open("version");
    view.out.text("version_name", &template.version.name);
    view.out.text("version_number", template.version.number);
    view.reference("base_template", "templates", template.version.base);
    view.close();
    view.maybe_reference("cluster", "clusters", template.cluster);
    let profile = template.cluster.and_then(|id| view.state.cpu_profiles.iter().find(|profile| profile.cluster == id));
    view.maybe_reference("cpu_profile", "cpuprofiles", profile.map(|profile| profile.id));
    view.links(path, LINKS);
    view.actions(path, &["export"]);
    view.close();
}

/// A template, or what is under it.
pub(crate) fn at<'s>(state: &'s State, template: &'s Template, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [] => Ok(Found::subject(Subject::Template(template))),
        ["diskattachments", rest @ ..] => disk_attachments::sub(Owner::Template(template), rest),
        ["nics", rest @ ..] => nics::sub(Owner::Template(template), rest),
        ["graphicsconsoles", rest @ ..] => graphics_consoles::sub(Owner::Template(template), rest),
        ["tags", rest @ ..] => tags::assigned(state, format!("templates/{}", template.id), &template.tags, rest),
        ["permissions", rest @ ..] => permissions::of(state, Object::Template(template.id), rest),
        ["cdroms"] => Ok(Found::nothing("cdroms", "cdrom")),
        ["watchdogs"] => Ok(Found::nothing("watchdogs", "watchdog")),
        ["mediateddevices"] => Ok(Found::nothing("vm_mediated_devices", "vm_mediated_device")),
        _ => Err(Fault::not_found()),
    }
}

/// Makes a template from a VM that is off.
pub(crate) fn add(call: &mut Call) -> Outcome {
    let tree = call.read(&TEMPLATE)?;
    let name = require(&tree, "Template", "name", "add")?;
    let state = &mut *call.state;
    let vm = refs::required(state, &tree, "vm", Kind::Vm, "Template", "add")?;
    valid_name(name, ADD)?;
    let source = idle(state, vm, ADD)?;
    if source.status != VmStatus::Down {
        return Err(Fault::conflict(
            "Cannot add Template. VM is locked or still running, try again once VM is in the Down state.",
        ));
    }
    let version = version(state, &tree, name)?;
    let source = state.vms.get(vm).ok_or_else(Fault::not_found)?;
    let cluster = refs::reference(state, &tree, "cluster", Kind::Cluster)?.unwrap_or(source.cluster);
    let overcommit = state.clusters.get(cluster).map_or(100, |cluster| cluster.overcommit_percent);
    let mut config = sized(&source.config, &configurable(&tree), overcommit, ADD)?;
    if config.has("delete_protected") && !tree.has("delete_protected") {
        // Protection is of the VM and does not pass on.
        std::sync::Arc::make_mut(&mut config).set("delete_protected", false);
    }
    let plans = plan_disks(state, vm, &tree)?;

    let (id, now) = (state.new_id(), state.now);
    let mut attachments = Vec::new();
    let mut copies = Vec::new();
    let mut bytes = 0_u64;
    for (mut attachment, mut disk) in plans {
        disk.id = state.new_id();
        disk.image = state.new_id();
        disk.created = now;
        disk.template = Some(id);
        disk.profile = disk.storage_domains.first().and_then(|domain| operations::default_profile(state, *domain));
        disk.origin = Some(name.into());
        copies.push(Copy { from: attachment.disk, to: disk.id });
        attachment.disk = disk.id;
        bytes = bytes.saturating_add(disk.actual_bytes);
        storage::add(state, disk);
        attachments.push(attachment);
    }
    let source = state.vms.get(vm).ok_or_else(Fault::not_found)?;
    let mut interfaces = source.nics.clone();
    let consoles = source.consoles.clone();
    for nic in &mut interfaces {
        // A template's interface has no address: each VM made from it gets its own.
        (nic.id, nic.mac) = (state.new_id(), "".into());
    }
    state.templates.insert(Template {
        id,
        name: name.into(),
        description: tree.text("description").unwrap_or_default().into(),
        comment: tree.text("comment").unwrap_or_default().into(),
        cluster: Some(cluster),
        config,
        status: TemplateStatus::Locked,
        created: now,
        version: Version { base: version.base.unwrap_or(id), name: version.name, number: version.number },
        disks: attachments,
        nics: interfaces,
        consoles,
        tags: Vec::new(),
        dependants: std::collections::BTreeSet::new(),
    });
    operations::lock_disks_of(state, vm);
    power::due(state, vm, Event::Lock);
    let work = Work::CreateTemplate { template: id, vm, copies };
    let job = operations::begin(state, &format!("Creating Template {name}"), work, delays::copying(bytes));
    Ok(Done::Created { path: format!("templates/{id}"), job: Some(job) })
}

struct NewVersion {
    number: u32,
    name: Box<str>,
    base: Option<Id>,
}

/// A template of its own, or the next version of one.
fn version(state: &State, tree: &Tree, name: &str) -> Result<NewVersion, Fault> {
    let given = tree.sub("version");
    let base = given.map(|version| refs::reference(state, version, "base_template", Kind::Template)).transpose()?;
    let Some(base) = base.flatten() else {
        if state.templates.named(name).next().is_some() {
            return Err(ADD.name_in_use());
        }
        return Ok(NewVersion { number: 1, name: "base version".into(), base: None });
    };
    if base == NIL {
        return Err(Fault::conflict("Blank template can't have sub-templates."));
    }
    let base = state.templates.get(base).map_or(base, |template| template.version.base);
    let newest =
        state.templates.iter().filter(|template| template.version.base == base).map(|t| t.version.number).max();
    let version_name = given.and_then(|version| version.text("version_name")).unwrap_or_default();
    Ok(NewVersion { number: newest.unwrap_or(0) + 1, name: version_name.into(), base: Some(base) })
}

/// The disks that the template will have, after checking that there is room for them.
fn plan_disks(state: &State, vm: Id, tree: &Tree) -> Result<Vec<(crate::ovirt::model::Attachment, Disk)>, Fault> {
    let source = state.vms.get(vm).ok_or_else(Fault::not_found)?;
    let everywhere = refs::reference(state, tree, "storage_domain", Kind::StorageDomain)?;
    // Clients describe the wanted disks beside the VM, or within it.
    let described = tree.list("disk_attachments").into_iter().flatten();
    let nested = tree.sub("vm").and_then(|vm| vm.list("disk_attachments")).into_iter().flatten();
    let wanted: Vec<&Tree> = described.chain(nested).filter_map(|attachment| attachment.sub("disk")).collect();
    let mut plans = Vec::new();
    for attachment in &source.disks {
        let disk = disks::unlocked(state, attachment.disk, ADD)?;
        if disk.status != DiskStatus::Ok {
            return Err(ADD.conflict(&format!("The following attached disks are in ILLEGAL status: {}.", disk.name)));
        }
        let own = disk.storage_domains.first().copied().ok_or_else(Fault::not_found)?;
        let given = wanted.iter().find(|given| given.text("id") == Some(&disk.id.to_string()));
        let asked = given.map(|given| disks::domain_of(state, given)).transpose()?.flatten();
        let domain = asked.or(everywhere).unwrap_or(own);
        let mut copy = duplicate(disk, domain);
        if let Some(given) = given {
            copy.format = given.text("format").and_then(DiskFormat::parse).unwrap_or(copy.format);
            copy.sparse = given.bool("sparse").unwrap_or(copy.sparse);
            if let Some(name) = given.text("alias").or_else(|| given.text("name")) {
                copy.name = name.into();
            }
        }
        storage::room(state, domain, copy.actual_bytes, ADD)?;
        quota::allow_storage(state, copy.quota, domain, copy.provisioned_bytes, ADD)?;
        plans.push((attachment.clone(), copy));
    }
    Ok(plans)
}

/// Changes a template.
pub(crate) fn update(call: &mut Call, id: Id) -> Outcome {
    let tree = call.read(&TEMPLATE)?;
    let state = &mut *call.state;
    let template = unlocked(state, id, EDIT)?;
    let config = sized(&template.config, &configurable(&tree), 100, EDIT)?;
    let base = template.version.base;
    if let Some(name) = tree.text("name") {
        valid_name(name, EDIT)?;
        if state.templates.named(name).any(|other| other.version.base != base) {
            return Err(EDIT.name_in_use());
        }
        state.templates.rename(id, name);
    }
    let template = state.templates.get_mut(id).ok_or_else(Fault::not_found)?;
    template.config = config;
    tree.update("description", &mut template.description);
    tree.update("comment", &mut template.comment);
    if let Some(name) = tree.sub("version").and_then(|version| version.text("version_name")) {
        template.version.name = name.into();
    }
    Ok(Done::Updated { path: format!("templates/{id}") })
}

/// Removes a template that nothing depends on.
pub(crate) fn remove(call: &mut Call, id: Id) -> Outcome {
    let state = &mut *call.state;
    if id == NIL {
        return Err(REMOVE.conflict("Removing Blank Template is not allowed."));
    }
    let template = unlocked(state, id, REMOVE)?;
    if template.config.bool("delete_protected") == Some(true) {
        return Err(REMOVE.delete_protected());
    }
    let users: Vec<&str> = template.dependants.iter().filter_map(|vm| state.vms.get(*vm)).map(|vm| &*vm.name).collect();
    if !users.is_empty() {
        return Err(Fault::conflict(format!(
            "Cannot delete Template. Template is being used by the following VMs: {}.",
            users.join(",")
        )));
    }
    // A disk that was detached from its VM still lies on the template's, unless it is about to go.
    let lies_on_it = |disk: &&Disk| {
        let base = disk.backing.filter(|_| !state.operations.values().any(|operation| operation.work.removes(disk.id)));
        base.is_some_and(|base| template.disks.iter().any(|own| own.disk == base))
    };
    let derived: Vec<&str> = state.disks.iter().filter(lies_on_it).map(|disk| &*disk.name).collect();
    if !derived.is_empty() {
        return Err(REMOVE.conflict(&format!("The following Disk(s) are based on it: \n {}.", derived.join(","))));
    }
    let versions = state.templates.iter().filter(|other| other.version.base == id && other.id != id);
    let versions: Vec<String> = versions.map(|other| format!("{}/{}", other.name, other.version.number)).collect();
    if !versions.is_empty() {
        return Err(Fault::conflict(format!(
            "Cannot delete Base Template that has Template Versions, please first remove all Template Versions for this \
             Template: {}.",
            versions.join(",")
        )));
    }
    let locked = template.disks.iter().filter_map(|disk| state.disks.get(disk.disk));
    if let Some(disk) = locked.clone().find(|disk| disk.status == DiskStatus::Locked) {
        return Err(REMOVE.disks_locked(&[&disk.name]));
    }
    let description = format!("Removing Template {}", template.name);
    let attached: Vec<Id> = template.disks.iter().map(|disk| disk.disk).collect();
    for disk in attached {
        operations::lock(state, disk);
    }
    if let Some(template) = state.templates.get_mut(id) {
        template.status = TemplateStatus::Locked;
    }
    let job = operations::begin(state, &description, Work::RemoveTemplate { template: id }, delays::TEMPLATE_REMOVE);
    Ok(Done::Removed { job: Some(job) })
}

fn unlocked(state: &State, id: Id, attempt: Attempt) -> Result<&Template, Fault> {
    let template = state.templates.get(id).ok_or_else(Fault::not_found)?;
    if state.busy.contains(&id) {
        return Err(attempt.object_locked());
    }
    if template.status == TemplateStatus::Locked {
        return Err(attempt.conflict("Template's Image is locked (temporarily)."));
    }
    Ok(template)
}
