//! What is due when.

use serde::{Deserialize, Serialize};

use crate::core::Instant;

/// What happens when its time has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Due {
    /// A device takes its next step of being provisioned.
    Provision { device: String, stage: usize },
    /// A change of power is done.
    Power { device: String, on: bool },
    /// A device is gone.
    Gone { device: String },
    /// Reserved hardware is usable again.
    HardwareFree { reservation: String },
    /// A spot instance is taken away.
    Evict { device: String },
}

/// Entries in the order of their times; those of the same time in the order in which they were made.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Agenda(Vec<(Instant, Due)>);

impl Agenda {
    pub(super) fn add(&mut self, at: Instant, due: Due) {
        let place = self.0.partition_point(|(other, _)| *other <= at);
        self.0.insert(place, (at, due));
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.0.first().map(|(at, _)| *at)
    }

    /// Takes the first entry that is due by `now`.
    pub(super) fn pop(&mut self, now: Instant) -> Option<(Instant, Due)> {
        self.next().filter(|at| *at <= now)?;
        Some(self.0.remove(0))
    }

    /// Strikes out what was to happen to a device.
    pub(super) fn forget(&mut self, id: &str) {
        self.0.retain(|(_, due)| {
            !matches!(due, Due::Provision { device, .. } | Due::Power { device, .. } | Due::Evict { device } if device == id)
        });
    }
}
