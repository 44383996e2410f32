//! Records, the states of a step, and the one function that leads from state to state.

use landfall_platform::{ErrorClass, Outputs, StepId, StepSpec};
use serde::{Deserialize, Serialize};

/// Where a step stands. A step that the journal does not know has not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// `ensure` was about to be called; how far it came is unknown.
    Ensuring,
    /// The object exists and is usable.
    Done,
    /// `ensure` failed; part of the object may exist.
    Failed,
    /// `remove` was about to be called; how far it came is unknown.
    Removing,
    /// `remove` failed; part of the object may exist.
    RemoveFailed,
    /// The object is gone.
    Removed,
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// `ensure` is about to be called.
    EnsureBegins(Box<StepSpec>),
    /// `ensure` goes on, and this is known of the object already.
    EnsureNotes(Outputs),
    /// `ensure` succeeded.
    EnsureDone(Outputs),
    /// `ensure` failed for good.
    EnsureFailed {
        /// What kind of trouble.
        class: ErrorClass,
        /// What went wrong, with its causes.
        error: String,
    },
    /// `remove` is about to be called.
    RemoveBegins(Box<StepSpec>),
    /// `remove` succeeded.
    RemoveDone,
    /// `remove` failed for good.
    RemoveFailed {
        /// What kind of trouble.
        class: ErrorClass,
        /// What went wrong, with its causes.
        error: String,
    },
}

/// A record that cannot follow on the state of its step. A mistake of the engine, or two engines on one journal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {step} is {state:?} in the journal, '{record}' cannot follow")]
pub struct IllegalRecord {
    /// The step.
    pub step: StepId,
    /// Its state; `None` if it has not begun.
    pub state: Option<State>,
    /// The record's name.
    pub record: &'static str,
}

impl Record {
    /// The state after this record, if it may follow on `state`.
    ///
    /// Beginning is always allowed, because a process may have died at any point; an end needs its beginning.
    pub fn next(&self, step: &StepId, state: Option<State>) -> Result<State, IllegalRecord> {
        match (self, state) {
            (Self::EnsureBegins(_), _) | (Self::EnsureNotes(_), Some(State::Ensuring)) => Ok(State::Ensuring),
            (Self::EnsureDone(_), Some(State::Ensuring)) => Ok(State::Done),
            (Self::EnsureFailed { .. }, Some(State::Ensuring)) => Ok(State::Failed),
            (Self::RemoveBegins(_), _) => Ok(State::Removing),
            (Self::RemoveDone, Some(State::Removing)) => Ok(State::Removed),
            (Self::RemoveFailed { .. }, Some(State::Removing)) => Ok(State::RemoveFailed),
            (
                Self::EnsureNotes(_)
                | Self::EnsureDone(_)
                | Self::EnsureFailed { .. }
                | Self::RemoveDone
                | Self::RemoveFailed { .. },
                None
                | Some(
                    State::Ensuring
                    | State::Done
                    | State::Failed
                    | State::Removing
                    | State::RemoveFailed
                    | State::Removed,
                ),
            ) => Err(IllegalRecord { step: step.clone(), state, record: self.name() }),
        }
    }

    /// The record's name, as it stands in the file.
    pub fn name(&self) -> &'static str {
        match self {
            Self::EnsureBegins(_) => "ensure-begins",
            Self::EnsureNotes(_) => "ensure-notes",
            Self::EnsureDone(_) => "ensure-done",
            Self::EnsureFailed { .. } => "ensure-failed",
            Self::RemoveBegins(_) => "remove-begins",
            Self::RemoveDone => "remove-done",
            Self::RemoveFailed { .. } => "remove-failed",
        }
    }
}

impl State {
    /// The state's name, as it stands in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ensuring => "ensuring",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Removing => "removing",
            Self::RemoveFailed => "remove-failed",
            Self::Removed => "removed",
        }
    }

    /// The state with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Ensuring, Self::Done, Self::Failed, Self::Removing, Self::RemoveFailed, Self::Removed]
            .into_iter()
            .find(|state| state.name() == name)
    }
}
