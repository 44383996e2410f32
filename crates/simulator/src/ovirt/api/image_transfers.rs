//! Image transfers.

use super::call::{Call, Done, Outcome};
use super::disks;
use super::found::{Found, Lookup};
use super::kind::{Kind, Subject};
use super::refs;
use super::view::View;
use crate::ovirt::fault::Fault;
use crate::ovirt::lifecycle::transfer::Event;
use crate::ovirt::lifecycle::{jobs, transfers};
use crate::ovirt::messages::{Attempt, attempt};
use crate::ovirt::model::{Direction, Disk, DiskFormat, DiskStatus, HostStatus, Phase, TimeoutPolicy, Transfer};
use crate::ovirt::representation::types::IMAGE_TRANSFER;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

const TRANSFER: Attempt = attempt("transfer", "Virtual Disk");

/// The idle time that a transfer is allowed if the client gives none.
const INACTIVITY_SECS: u64 = 60;

const ACTIONS: &[&str] = &["cancel", "extend", "finalize", "pause", "resume"];

/// Writes a transfer.
pub(crate) fn render(view: &mut View, element: &'static str, transfer: &Transfer) {
    let path = format_args!("imagetransfers/{}", transfer.id);
    view.open(element, path, transfer.id);
    view.out.text("active", transfer.active);
    view.out.text("direction", transfer.direction);
    view.out.text("format", transfer.format);
    view.out.text("inactivity_timeout", transfer.inactivity_secs);
    view.out.text("phase", transfer.phase);
    view.out.text("shallow", transfer.shallow);
    view.out.text("timeout_policy", transfer.timeout_policy);
    view.out.text("transferred", transfer.transferred_bytes);
    if let Some(ticket) = transfer.ticket.filter(|_| !transfer.phase.is_finished()) {
        let settings = &view.state.settings;
        let address = view.state.hosts.get(transfer.host).map_or("localhost", |host| &host.address);
        if settings.transfer_url.is_empty() {
            view.out.text("transfer_url", format_args!("https://{address}:54322/images/{ticket}"));
        } else {
            view.out.text("transfer_url", format_args!("{}/images/{ticket}", settings.transfer_url));
        }
        let proxy = if settings.proxy_url.is_empty() { "https://localhost:54323" } else { &settings.proxy_url };
        view.out.text("proxy_url", format_args!("{proxy}/images/{ticket}"));
    }
    view.maybe_reference("host", "hosts", Some(transfer.host).filter(|_| view.access.sees_hosts()));
    // The engine refers to the image and not to the disk, whose id this is.
    view.out.open("image");
    view.out.attribute("id", transfer.disk);
    view.close();
    view.actions(path, ACTIONS);
    view.close();
}

/// A transfer; there is nothing under it.
pub(crate) fn at<'s>(transfer: &'s Transfer, parts: &[&str]) -> Lookup<'s> {
    if parts.is_empty() { Ok(Found::subject(Subject::Transfer(transfer))) } else { Err(Fault::not_found()) }
}

/// Begins a transfer.
pub(crate) fn add(call: &mut Call) -> Outcome {
    let tree = call.read(&IMAGE_TRANSFER)?;
    let state = &mut *call.state;
    let disk = match refs::reference(state, &tree, "disk", Kind::Disk)? {
        Some(disk) => disk,
        None => refs::required(state, &tree, "image", Kind::Disk, "ImageTransfer", "add")?,
    };
    let direction = tree.text("direction").and_then(Direction::parse).unwrap_or(Direction::Upload);
    let subject = disks::unlocked(state, disk, TRANSFER)?;
    if subject.status == DiskStatus::Illegal && direction == Direction::Download {
        return Err(TRANSFER.conflict(&format!("The following disk is in ILLEGAL status: {}.", subject.name)));
    }
    let used = subject.vms.iter().filter_map(|vm| state.vms.get(*vm)).find(|vm| vm.is_running());
    if let Some(vm) = used {
        return Err(TRANSFER.conflict(&format!("The disk is attached to a running VM: {}.", vm.name)));
    }
    let format = tree.text("format").and_then(DiskFormat::parse).unwrap_or(subject.format);
    let (fresh, name) = (is_fresh(state, subject), subject.name.clone());
    let host = host(state, &tree)?;
    let inactivity_secs = tree.int("inactivity_timeout").and_then(|secs| u64::try_from(secs).ok());
    let (id, now) = (state.new_id(), state.now);
    let job = jobs::begin(state, &format!("Transferring Disk {name}"));
    let transfer = Transfer {
        id,
        name: "".into(),
        disk,
        direction,
        format,
        shallow: tree.bool("shallow").unwrap_or(false),
        phase: Phase::Initializing,
        ticket: None,
        host,
        transferred_bytes: 0,
        inactivity_secs: inactivity_secs.unwrap_or(INACTIVITY_SECS),
        timeout_policy: tree.text("timeout_policy").and_then(TimeoutPolicy::parse).unwrap_or(TimeoutPolicy::Legacy),
        touched: now,
        active: false,
        pending: None,
        fresh: fresh && direction == Direction::Upload,
        job,
    };
    transfers::begin(state, transfer);
    Ok(Done::Created { path: format!("imagetransfers/{id}"), job: None })
}

/// Whether a disk holds nothing that a cancelled upload could spare.
fn is_fresh(state: &State, disk: &Disk) -> bool {
    let uploaded = state.transfers.iter().any(|transfer| {
        transfer.disk == disk.id && transfer.direction == Direction::Upload && transfer.phase == Phase::FinishedSuccess
    });
    disk.vms.is_empty() && disk.template.is_none() && disk.backing.is_none() && !uploaded && disk.origin.is_none()
}

/// The host that will serve the bytes: the one asked for, or the first that is up in the disk's data centre.
fn host(state: &State, tree: &crate::ovirt::representation::Tree) -> Result<Id, Fault> {
    if let Some(host) = refs::reference(state, tree, "host", Kind::Host)? {
        let up = state.hosts.get(host).is_some_and(|host| host.status == HostStatus::Up);
        return if up { Ok(host) } else { Err(TRANSFER.conflict("The host is not up.")) };
    }
    let up = state.hosts.iter().find(|host| host.status == HostStatus::Up);
    up.map(|host| host.id).ok_or_else(|| TRANSFER.conflict("There is no host that can serve the transfer."))
}

/// The actions of a transfer.
pub(crate) fn act(call: &mut Call, id: Id, action: &str) -> Outcome {
    call.read_action()?;
    let state = &mut *call.state;
    let transfer = state.transfers.get_mut(id).ok_or_else(Fault::not_found)?;
    let event = match action {
        "finalize" => Event::Finalize,
        "cancel" => Event::Cancel,
        "pause" => Event::Pause,
        "resume" => Event::Resume,
        "extend" => {
            transfer.touched = state.now;
            return Ok(Done::Acted { job: None, pending: false });
        }
        _ => return Err(Fault::not_found()),
    };
    match transfers::apply(state, id, event) {
        Some(Ok(_)) => Ok(Done::Acted { job: None, pending: false }),
        Some(Err(illegal)) => {
            Err(Fault::conflict(format!("Cannot {action} image transfer. The transfer is in phase {}.", illegal.phase)))
        }
        None => Err(Fault::not_found()),
    }
}
