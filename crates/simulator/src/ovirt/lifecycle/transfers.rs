//! Image transfers: their deadlines, their tickets, and what becomes of their disks.

use std::time::Duration;

use super::jobs;
use super::operations;
use super::removal;
use super::transfer::{Event, Illegal, next};
use crate::ovirt::agenda::Due;
use crate::ovirt::delays;
use crate::ovirt::imageio::Format;
use crate::ovirt::model::{
    About, Direction, DiskFormat, DiskStatus, JobStatus, Phase, Severity, TimeoutPolicy, Transfer,
};
use crate::ovirt::state::State;
use crate::ovirt::storage;
use crate::ovirt::table::Id;

/// Begins a transfer whose disk was found free. The engine hands the ticket to the host before it answers, so the answer
/// already has the URLs, and some clients look for them nowhere else. Only a slow engine is seen to initialize.
pub(crate) fn begin(state: &mut State, transfer: Transfer) {
    let id = transfer.id;
    operations::lock(state, transfer.disk);
    state.transfers.insert(transfer);
    if state.cause.held || state.cause.slowdown > 1 {
        schedule(state, id, delays::TRANSFER_SETUP, Event::Ready);
    } else {
        due(state, id, Event::Ready);
    }
}

/// Lets an event happen to a transfer. `None` if there is no such transfer.
pub(crate) fn apply(state: &mut State, id: Id, event: Event) -> Option<Result<Phase, Illegal>> {
    let transfer = state.transfers.get_mut(id)?;
    let phase = match next(transfer.phase, event) {
        Ok(phase) => phase,
        Err(illegal) => return Some(Err(illegal)),
    };
    transfer.phase = phase;
    let pending = transfer.pending.take();
    if let Some(key) = pending {
        state.agenda.cancel(key);
    }
    enter(state, id, phase);
    Some(Ok(phase))
}

/// Lets what is due for a transfer happen.
pub(crate) fn due(state: &mut State, id: Id, event: Event) {
    match event {
        Event::Forget => drop(state.transfers.remove(id)),
        Event::Idle => idle(state, id),
        event => {
            let event = if event == Event::Verified && !verified(state, id) { Event::Corrupt } else { event };
            if let Some(Err(illegal)) = apply(state, id, event) {
                tracing::error!(%id, %illegal, "an impossible change was due");
            }
        }
    }
}

fn enter(state: &mut State, id: Id, phase: Phase) {
    match phase {
        Phase::Transferring => {
            let (ticket, now) = (state.new_id(), state.now);
            if let Some(transfer) = state.transfers.get_mut(id) {
                transfer.ticket.get_or_insert(ticket);
                transfer.touched = now;
            }
            watch(state, id);
        }
        Phase::Resuming => schedule(state, id, delays::TRANSFER_SETUP, Event::Ready),
        Phase::FinalizingSuccess => schedule(state, id, delays::TRANSFER_FINALIZE, Event::Verified),
        Phase::CancelledUser | Phase::CancelledSystem => {
            schedule(state, id, delays::TRANSFER_CLEANUP / 2, Event::Clean);
        }
        Phase::FinalizingCleanup | Phase::FinalizingFailure => {
            schedule(state, id, delays::TRANSFER_CLEANUP / 2, Event::Cleaned);
        }
        Phase::FinishedSuccess | Phase::FinishedFailure | Phase::FinishedCleanup => settle(state, id, phase),
        Phase::Initializing | Phase::PausedSystem | Phase::PausedUser => {}
    }
}

/// Looks at an uploaded image as a host does: its format, its size, and what space it takes.
fn verified(state: &mut State, id: Id) -> bool {
    let Some(transfer) = state.transfers.get(id).filter(|transfer| transfer.direction == Direction::Upload) else {
        return true;
    };
    let Some(disk) = state.disks.get(transfer.disk) else { return false };
    let (disk_id, provisioned) = (disk.id, disk.provisioned_bytes);
    let format = if disk.format == DiskFormat::Cow { Format::Cow } else { Format::Raw };
    let checked =
        state.images.0.verify(disk_id, format).and_then(|size| Ok((size, state.images.0.allocated(disk_id)?)));
    match checked {
        Ok((size, allocated)) => {
            storage::change(state, disk_id, |disk| disk.actual_bytes = disk.actual_bytes.max(allocated));
            size.is_none_or(|size| size <= provisioned)
        }
        Err(error) => {
            let description = format!("Image verification failed for disk {disk_id}: {error}");
            state.log(1038, Severity::Error, description, About::default());
            false
        }
    }
}

/// The transfer is over: its disk is released, spoilt or gone.
fn settle(state: &mut State, id: Id, phase: Phase) {
    let Some(transfer) = state.transfers.get_mut(id) else { return };
    transfer.active = false;
    let (disk, job) = (transfer.disk, transfer.job);
    let upload = transfer.direction == Direction::Upload;
    let (fresh, success) = (transfer.fresh, phase == Phase::FinishedSuccess);
    match phase {
        Phase::FinishedCleanup if upload && fresh => removal::finish_disk(state, disk),
        Phase::FinishedFailure if upload => {
            if let Some(disk) = state.disks.get_mut(disk) {
                disk.status = DiskStatus::Illegal;
            }
        }
        _ => operations::unlock(state, disk),
    }
    jobs::end(state, job, if success { JobStatus::Finished } else { JobStatus::Failed });
    let kept = if success { delays::TRANSFER_KEPT } else { delays::FAILED_TRANSFER_KEPT };
    schedule(state, id, kept, Event::Forget);
}

/// Nothing moved for as long as the transfer allows, or something did and the watch begins again.
fn idle(state: &mut State, id: Id) {
    let Some(transfer) = state.transfers.get_mut(id) else { return };
    transfer.pending = None;
    if transfer.phase != Phase::Transferring {
        return;
    }
    if transfer.active {
        // A request that takes long is not idle, even if it moves nothing: a checksum of a large image, for example.
        transfer.touched = state.now;
    }
    if state.now < transfer.idle_at() {
        return watch(state, id);
    }
    let event = match (transfer.timeout_policy, transfer.direction) {
        (TimeoutPolicy::Cancel, _) | (TimeoutPolicy::Legacy, Direction::Download) => Event::CancelBySystem,
        (TimeoutPolicy::Pause, _) | (TimeoutPolicy::Legacy, Direction::Upload) => Event::PauseBySystem,
    };
    due(state, id, event);
}

/// Sees to it that the transfer is looked at when it has been idle for too long.
fn watch(state: &mut State, id: Id) {
    let Some(transfer) = state.transfers.get_mut(id).filter(|transfer| transfer.inactivity_secs > 0) else { return };
    let at = transfer.idle_at();
    transfer.pending = Some(state.agenda.add(at, Due::Transfer(id, Event::Idle)));
}

fn schedule(state: &mut State, id: Id, delay: Duration, event: Event) {
    if state.cause.held {
        return;
    }
    let key = state.later(delay, Due::Transfer(id, event));
    if let Some(transfer) = state.transfers.get_mut(id) {
        transfer.pending = Some(key);
    }
}

/// The event that a transfer waits for in its phase, if it waits for one: for releasing one that is held.
pub(crate) fn awaited(phase: Phase) -> Option<Event> {
    match phase {
        Phase::Initializing | Phase::Resuming => Some(Event::Ready),
        Phase::FinalizingSuccess => Some(Event::Verified),
        Phase::CancelledUser | Phase::CancelledSystem => Some(Event::Clean),
        Phase::FinalizingCleanup | Phase::FinalizingFailure => Some(Event::Cleaned),
        _ => None,
    }
}
