//! What can be due.

use serde::{Deserialize, Serialize};

use crate::core::Agenda;

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

impl Agenda<Due> {
    /// Strikes out what was to happen to a device.
    pub(super) fn forget(&mut self, id: &str) {
        self.retain(|due| {
            !matches!(due, Due::Provision { device, .. } | Due::Power { device, .. } | Due::Evict { device } if device == id)
        });
    }
}
