//! The phases of an image transfer: one total function from phase and event to the next phase.

use serde::{Deserialize, Serialize};

use crate::ovirt::model::Phase;

/// What can happen to a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    /// The host has the ticket.
    Ready,
    /// The client pauses it.
    Pause,
    /// The engine pauses it: nothing moved for too long, or the host was lost.
    PauseBySystem,
    /// The client wants to go on.
    Resume,
    /// The client says that all bytes are there.
    Finalize,
    /// The image was found good.
    Verified,
    /// The image was found bad.
    Corrupt,
    /// The client gives up.
    Cancel,
    /// The engine gives up.
    CancelBySystem,
    /// Cleaning up begins.
    Clean,
    /// Cleaning up is done.
    Cleaned,
    /// Nothing moved for as long as the transfer allows. What follows depends on its policy, so this is not a
    /// transition of its own.
    Idle,
    /// It was finished long enough to be forgotten; likewise not a transition.
    Forget,
}

/// An event that cannot happen in that phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a transfer that is {phase} cannot take {event:?}")]
pub(crate) struct Illegal {
    pub(crate) phase: Phase,
    pub(crate) event: Event,
}

/// The phase after `event` in the phase `phase`.
#[allow(clippy::match_same_arms, reason = "one line per transition, in the order of a transfer's life")]
pub(crate) fn next(phase: Phase, event: Event) -> Result<Phase, Illegal> {
    use Event as E;
    use Phase as P;
    let next = match (phase, event) {
        (P::Initializing | P::Resuming, E::Ready) => P::Transferring,
        (P::Transferring, E::Pause) => P::PausedUser,
        (P::Transferring | P::Resuming, E::PauseBySystem) => P::PausedSystem,
        (P::PausedUser | P::PausedSystem, E::Resume) => P::Resuming,
        (P::Transferring | P::PausedUser | P::PausedSystem, E::Finalize) => P::FinalizingSuccess,
        (P::FinalizingSuccess, E::Verified) => P::FinishedSuccess,
        (P::FinalizingSuccess, E::Corrupt) => P::FinalizingFailure,
        (phase, E::Cancel) if phase.is_open() => P::CancelledUser,
        (phase, E::CancelBySystem) if phase.is_open() => P::CancelledSystem,
        (P::CancelledUser, E::Clean) => P::FinalizingCleanup,
        (P::CancelledSystem, E::Clean) => P::FinalizingFailure,
        (P::FinalizingCleanup, E::Cleaned) => P::FinishedCleanup,
        (P::FinalizingFailure, E::Cleaned) => P::FinishedFailure,
        (phase, event) => return Err(Illegal { phase, event }),
    };
    Ok(next)
}

impl Phase {
    /// Whether the client still has a say.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Initializing | Self::Transferring | Self::Resuming | Self::PausedUser | Self::PausedSystem)
    }

    /// Whether nothing will happen any more.
    pub(crate) fn is_finished(self) -> bool {
        matches!(self, Self::FinishedSuccess | Self::FinishedFailure | Self::FinishedCleanup)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transfer_that_is_open_can_be_cancelled_to_its_end() {
        for phase in Phase::ALL.iter().filter(|phase| phase.is_open()) {
            for (cancel, end) in
                [(Event::Cancel, Phase::FinishedCleanup), (Event::CancelBySystem, Phase::FinishedFailure)]
            {
                let cancelled = next(*phase, cancel).unwrap();
                let cleaning = next(cancelled, Event::Clean).unwrap();
                assert_eq!(next(cleaning, Event::Cleaned).unwrap(), end);
            }
        }
    }

    #[test]
    fn what_is_finished_stays_finished() {
        for phase in Phase::ALL.iter().filter(|phase| phase.is_finished()) {
            for event in [Event::Ready, Event::Resume, Event::Finalize, Event::Cancel, Event::Clean, Event::Cleaned] {
                assert!(next(*phase, event).is_err(), "{phase} {event:?}");
            }
        }
    }
}
