//! Storage domains: at the root, and as a data centre has them attached.

use super::call::{Call, Done, Outcome};
use super::found::{Found, Lookup, subject};
use super::kind::{Kind, Subject};
use super::permissions;
use super::view::View;
use crate::ovirt::fault::Fault;
use crate::ovirt::messages::attempt;
use crate::ovirt::model::{DataCenter, Disk, Object, StorageDomain, StorageDomainStatus};
use crate::ovirt::representation::types::STORAGE_DOMAIN;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

const LINKS: &[&str] =
    &["diskprofiles", "disks", "disksnapshots", "files", "permissions", "storageconnections", "templates", "vms"];

/// Writes a storage domain as it is at the root: its status is that of its attachment, so there is none here.
pub(crate) fn render(view: &mut View, element: &'static str, domain: &StorageDomain) {
    let path = format_args!("storagedomains/{}", domain.id);
    view.open(element, path, domain.id);
    body(view, domain);
    view.out.open_list("data_centers", "data_center");
    view.maybe_reference("data_center", "datacenters", domain.data_center);
    view.close();
    if domain.data_center.is_none() {
        view.out.text("status", domain.status);
    }
    view.links(path, LINKS);
    view.actions(path, &["isattached", "refreshluns", "updateovfstore"]);
    view.close();
}

/// Writes a storage domain as it is under its data centre.
fn render_attached(view: &mut View, element: &'static str, domain: &StorageDomain, dc: Id) {
    let path = format_args!("datacenters/{dc}/storagedomains/{}", domain.id);
    view.open(element, path, domain.id);
    body(view, domain);
    view.out.text("status", domain.status);
    view.reference("data_center", "datacenters", dc);
    view.links(path, &["disks"]);
    view.actions(path, &["activate", "deactivate"]);
    view.close();
}

fn body(view: &mut View, domain: &StorageDomain) {
    view.names(&domain.name, &domain.description, &domain.comment);
    view.out.text("available", domain.available_bytes());
    view.out.text("backup", domain.backup);
    view.out.text("block_size", 512);
    view.out.text("committed", domain.committed_bytes);
    view.out.text("critical_space_action_blocker", domain.blocker_bytes >> 30);
    view.out.text("discard_after_delete", domain.discard_after_delete);
    view.out.text("external_status", "ok");
    view.out.text("master", domain.master);
    view.out.open("storage");
    view.out.tree(&domain.storage);
    view.close();
    view.out.text("storage_format", "v5");
    view.out.text("supports_discard", false);
    view.out.text("supports_discard_zeroes_data", false);
    view.out.text("type", &domain.kind);
    view.out.text("used", domain.used_bytes);
    view.out.text("warning_low_space_indicator", domain.warning_percent);
    view.out.text("wipe_after_delete", domain.wipe_after_delete);
}

/// A storage domain, or what is under it.
pub(crate) fn at<'s>(state: &'s State, domain: &'s StorageDomain, parts: &[&str]) -> Lookup<'s> {
    let on_it = |disk: &&Disk| disk.storage_domains.contains(&domain.id);
    match parts {
        [] => Ok(Found::subject(Subject::StorageDomain(domain))),
        ["disks"] => Ok(Found::subjects(Kind::Disk, state.disks.iter().filter(on_it).map(Subject::Disk).collect())),
        ["disks", id] => match subject(state, Kind::Disk, id)? {
            Subject::Disk(disk) if on_it(&disk) => Ok(Found::subject(Subject::Disk(disk))),
            _ => Err(Fault::not_found()),
        },
        ["diskprofiles"] => {
            let profiles = state.disk_profiles.iter().filter(|profile| profile.storage_domain == domain.id);
            Ok(Found::subjects(Kind::DiskProfile, profiles.map(Subject::DiskProfile).collect()))
        }
        ["vms"] => {
            let has = |id: Id| state.disks.get(id).is_some_and(|disk| on_it(&disk));
            let vms = state.vms.iter().filter(|vm| vm.disks.iter().any(|attached| has(attached.disk)));
            Ok(Found::subjects(Kind::Vm, vms.map(Subject::Vm).collect()))
        }
        ["templates"] => {
            let has = |id: Id| state.disks.get(id).is_some_and(|disk| on_it(&disk));
            let templates = state.templates.iter().filter(|template| template.disks.iter().any(|disk| has(disk.disk)));
            Ok(Found::subjects(Kind::Template, templates.map(Subject::Template).collect()))
        }
        ["permissions", rest @ ..] => permissions::of(state, Object::StorageDomain(domain.id), rest),
        ["disksnapshots"] => Ok(Found::nothing("disk_snapshots", "disk_snapshot")),
        ["files"] => Ok(Found::nothing("files", "file")),
        ["storageconnections"] => Ok(Found::nothing("storage_connections", "storage_connection")),
        _ => Err(Fault::not_found()),
    }
}

/// The storage domains of a data centre, one of them, or what is under it.
pub(crate) fn attached<'s>(state: &'s State, dc: &'s DataCenter, parts: &[&str]) -> Lookup<'s> {
    let dc = dc.id;
    let Some((id, rest)) = parts.split_first() else {
        return Ok(Found::list("storage_domains", "storage_domain", move |view| {
            for domain in state.storage_domains.iter().filter(|domain| domain.data_center == Some(dc)) {
                render_attached(view, "storage_domain", domain, dc);
            }
        }));
    };
    match subject(state, Kind::StorageDomain, id)? {
        Subject::StorageDomain(domain) if domain.data_center == Some(dc) => match rest {
            [] => Ok(Found::item("storage_domain", move |view, element| render_attached(view, element, domain, dc))),
            rest => at(state, domain, rest),
        },
        _ => Err(Fault::not_found()),
    }
}

/// Changes a storage domain.
pub(crate) fn update(call: &mut Call, id: Id) -> Outcome {
    let tree = call.read(&STORAGE_DOMAIN)?;
    if let Some(name) = tree.text("name") {
        if call.state.storage_domains.named(name).any(|other| other.id != id) {
            return Err(attempt("edit", "Storage").conflict("The Storage Domain name is already in use."));
        }
        call.state.storage_domains.rename(id, name);
    }
    let domain = call.state.storage_domains.get_mut(id).ok_or_else(Fault::not_found)?;
    tree.update("description", &mut domain.description);
    tree.update("comment", &mut domain.comment);
    let number = |name| tree.int(name).and_then(|number| u64::try_from(number).ok());
    if let Some(gib) = number("critical_space_action_blocker") {
        domain.blocker_bytes = gib.saturating_mul(1 << 30);
    }
    if let Some(percent) = number("warning_low_space_indicator") {
        domain.warning_percent = u32::try_from(percent.min(100)).unwrap_or(100);
    }
    domain.wipe_after_delete = tree.bool("wipe_after_delete").unwrap_or(domain.wipe_after_delete);
    domain.discard_after_delete = tree.bool("discard_after_delete").unwrap_or(domain.discard_after_delete);
    domain.backup = tree.bool("backup").unwrap_or(domain.backup);
    Ok(Done::Updated { path: format!("storagedomains/{id}") })
}

/// `activate` and `deactivate` of a data centre's storage domain; the rest of the actions change nothing here.
pub(crate) fn act(call: &mut Call, id: Id, action: &str) -> Outcome {
    call.read_action()?;
    let domain = call.state.storage_domains.get_mut(id).ok_or_else(Fault::not_found)?;
    match action {
        "activate" => domain.status = StorageDomainStatus::Active,
        "deactivate" => {
            let busy = |disk: &Disk| {
                disk.storage_domains.contains(&id)
                    && disk
                        .vms
                        .iter()
                        .any(|vm| call.state.vms.get(*vm).is_some_and(crate::ovirt::model::Vm::is_running))
            };
            if call.state.disks.iter().any(busy) {
                return Err(
                    attempt("deactivate", "Storage").conflict("There are running VMs with disks on this domain.")
                );
            }
            let domain = call.state.storage_domains.get_mut(id).ok_or_else(Fault::not_found)?;
            domain.status = StorageDomainStatus::Maintenance;
        }
        _ => {}
    }
    Ok(Done::Acted { job: None, pending: false })
}
