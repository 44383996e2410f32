//! What is due when.

use serde::{Deserialize, Serialize};

use super::Instant;

/// Entries in the order of their times; those of the same time in the order in which they were made.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Agenda<Due>(Vec<(Instant, Due)>);

impl<Due> Default for Agenda<Due> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<Due> Agenda<Due> {
    pub(crate) fn add(&mut self, at: Instant, due: Due) {
        let place = self.0.partition_point(|(other, _)| *other <= at);
        self.0.insert(place, (at, due));
    }

    pub(crate) fn next(&self) -> Option<Instant> {
        self.0.first().map(|(at, _)| *at)
    }

    /// Takes the first entry that is due by `now`.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Instant, Due)> {
        self.next().filter(|at| *at <= now)?;
        Some(self.0.remove(0))
    }

    /// Strikes out all other entries.
    pub(crate) fn retain(&mut self, mut is_kept: impl FnMut(&Due) -> bool) {
        self.0.retain(|(_, due)| is_kept(due));
    }
}
