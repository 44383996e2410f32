//! The power states of a VM: one total function from state and event to the next state.
//!
//! ```text
//!            Lock ┌──────────────┐ Unlock
//!        ┌───────►│ image_locked │────────┐
//!        │        └──────────────┘        ▼
//!      ┌─┴──┐ Start ┌─────────────────┐ Launched ┌────────────┐ GuestUp ┌────┐
//!  ───►│down├──────►│ wait_for_launch ├─────────►│ powering_up├────────►│ up │◄─┐ Migrated, Restored,
//!      └─▲──┘       └─────────────────┘          └────────────┘         └─┬──┘  │ GuestUp, ShutdownIgnored
//!        │ Stopped, GuestOff  ┌──────────────┐  Stop, Shutdown            │     │
//!        └────────────────────┤ powering_down│◄──────────────────────────┤     │
//!                             └──────────────┘   migrating, saving_state, ▼     │
//!                                                reboot_in_progress, …  ────────┘
//! ```

use serde::{Deserialize, Serialize};

use crate::ovirt::model::VmStatus;

/// What can happen to a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    /// Its images are worked on.
    Lock,
    /// The work on its images is done.
    Unlock,
    /// It is switched on, resumed from storage, or continued.
    Start,
    /// Its process runs on the host.
    Launched,
    /// Its process runs, and was asked to wait before the first instruction.
    LaunchedPaused,
    /// The host could not start it.
    LaunchFailed,
    /// The guest agent talks, or has had enough time to.
    GuestUp,
    /// The plug is pulled.
    Stop,
    /// The process is gone.
    Stopped,
    /// The guest is asked to shut down.
    Shutdown,
    /// The guest did not shut down in time.
    ShutdownIgnored,
    /// The guest switched itself off.
    GuestOff,
    /// The guest is asked to reboot.
    Reboot,
    /// The machine is reset.
    Reset,
    /// The guest reboots of itself.
    GuestReboots,
    /// Its memory is to be saved.
    Suspend,
    /// Its memory is saved.
    Saved,
    /// Its memory is back.
    Restored,
    /// It is to move to another host.
    Migrate,
    /// It moved.
    Migrated,
    /// It stays where it is after all.
    MigrationCancelled,
    /// It stopped at an error of its storage.
    IoError,
    /// Its process does not answer.
    Hang,
    /// Its host does not answer.
    HostLost,
    /// It answers again.
    Recover,
}

/// An event that cannot happen in that state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a VM that is {status} cannot take {event:?}")]
pub(crate) struct Illegal {
    pub(crate) status: VmStatus,
    pub(crate) event: Event,
}

/// The state after `event` in the state `status`.
#[allow(clippy::match_same_arms, reason = "one line per transition, in the order of a VM's life")]
pub(crate) fn next(status: VmStatus, event: Event) -> Result<VmStatus, Illegal> {
    use Event as E;
    use VmStatus as S;
    let next = match (status, event) {
        (S::Down, E::Lock) => S::ImageLocked,
        (S::ImageLocked, E::Unlock) => S::Down,

        (S::Down, E::Start) => S::WaitForLaunch,
        (S::Suspended, E::Start) => S::RestoringState,
        (S::Paused, E::Start) => S::Up,
        (S::WaitForLaunch, E::Launched) => S::PoweringUp,
        (S::WaitForLaunch, E::LaunchedPaused) => S::Paused,
        (S::WaitForLaunch, E::LaunchFailed) => S::Down,
        (S::PoweringUp | S::RebootInProgress, E::GuestUp) => S::Up,

        (S::Suspended, E::Stop) => S::Down,
        (status, E::Stop) if status.is_running() => S::PoweringDown,
        (S::PoweringDown, E::Stopped) => S::Down,
        (S::Up | S::PoweringUp | S::RebootInProgress | S::PoweringDown, E::Shutdown) => S::PoweringDown,
        (S::PoweringDown, E::ShutdownIgnored) => S::Up,
        (status, E::GuestOff) if status.is_running() && status != S::WaitForLaunch => S::Down,

        (S::Up | S::PoweringUp, E::Reboot) => S::RebootInProgress,
        (S::Up | S::PoweringUp | S::Paused | S::RebootInProgress, E::Reset) => S::RebootInProgress,
        (S::Up | S::PoweringUp | S::PoweringDown | S::RebootInProgress, E::GuestReboots) => S::RebootInProgress,

        (S::Up, E::Suspend) => S::SavingState,
        (S::SavingState, E::Saved) => S::Suspended,
        (S::RestoringState, E::Restored) => S::Up,

        (S::Up, E::Migrate) => S::Migrating,
        (S::Migrating, E::Migrated | E::MigrationCancelled) => S::Up,

        (S::Up, E::IoError) => S::Paused,
        (S::Up, E::Hang) => S::NotResponding,
        (status, E::HostLost) if status.is_running() => S::Unknown,
        (S::NotResponding | S::Unknown, E::Recover) => S::Up,

        (status, event) => return Err(Illegal { status, event }),
    };
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: [Event; 25] = [
        Event::Lock,
        Event::Unlock,
        Event::Start,
        Event::Launched,
        Event::LaunchedPaused,
        Event::LaunchFailed,
        Event::GuestUp,
        Event::Stop,
        Event::Stopped,
        Event::Shutdown,
        Event::ShutdownIgnored,
        Event::GuestOff,
        Event::Reboot,
        Event::Reset,
        Event::GuestReboots,
        Event::Suspend,
        Event::Saved,
        Event::Restored,
        Event::Migrate,
        Event::Migrated,
        Event::MigrationCancelled,
        Event::IoError,
        Event::Hang,
        Event::HostLost,
        Event::Recover,
    ];

    #[test]
    fn images_are_locked_only_while_the_vm_is_down() {
        for status in VmStatus::ALL {
            for event in EVENTS {
                let Ok(after) = next(*status, event) else { continue };
                if after == VmStatus::ImageLocked {
                    assert_eq!((*status, event), (VmStatus::Down, Event::Lock));
                }
                if *status == VmStatus::ImageLocked {
                    assert_eq!((event, after), (Event::Unlock, VmStatus::Down));
                }
            }
        }
    }

    #[test]
    fn whatever_runs_can_be_stopped() {
        for status in VmStatus::ALL.iter().filter(|status| status.is_running()) {
            let stopping = next(*status, Event::Stop).unwrap();
            assert_eq!(next(stopping, Event::Stopped).unwrap(), VmStatus::Down, "{status}");
        }
    }

    #[test]
    fn every_state_but_the_legacy_one_is_reached_from_down() {
        let mut reached = vec![VmStatus::Down];
        let mut at = 0;
        while let Some(status) = reached.get(at).copied() {
            for after in EVENTS.iter().filter_map(|event| next(status, *event).ok()) {
                if !reached.contains(&after) {
                    reached.push(after);
                }
            }
            at += 1;
        }
        let missing: Vec<_> = VmStatus::ALL.iter().filter(|status| !reached.contains(status)).collect();
        assert_eq!(missing, [&VmStatus::Unassigned], "only for VMs whose configuration is lost");
    }
}
