//! What can be due.

use serde::{Deserialize, Serialize};

use super::knobs::Kind;
use crate::core::Agenda;

/// What happens to something when its time has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Due {
    pub(super) kind: Kind,
    pub(super) id: String,
    pub(super) event: Event,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Event {
    /// It begins to be worked on.
    Begun,
    /// It is made, or what was changed of it is.
    Done,
    /// It is gone.
    Gone,
    /// It is switched on.
    On,
    /// It is switched off.
    Off,
}

impl Agenda<Due> {
    /// Strikes out what was to happen to something.
    pub(super) fn forget(&mut self, id: &str) {
        self.retain(|due| due.id != id);
    }
}
