//! Zones and records.

use serde::{Deserialize, Serialize};

use super::record::Record;

/// All that the account holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) zones: Vec<Zone>,
    pub(super) records: Vec<Record>,
    /// Ids that were given out.
    pub(super) ids: u64,
}

/// A zone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Zone {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) status: String,
    pub(super) name_servers: Vec<String>,
}

impl State {
    pub(super) fn new(zones: &[String], seed: u64) -> Self {
        let mut state = Self { zones: Vec::new(), records: Vec::new(), ids: 0 };
        for name in zones {
            let id = state.next_id(seed);
            let name_servers = ["ada.ns.cloudflare.com", "bob.ns.cloudflare.com"].map(str::to_owned).into();
            state.zones.push(Zone { id, name: name.clone(), status: "active".to_owned(), name_servers });
        }
        state
    }

    /// Ids are 32 hexadecimal digits, in no order.
    pub(super) fn next_id(&mut self, seed: u64) -> String {
        self.ids += 1;
        let mixed =
            (u128::from(seed) << 64 | u128::from(self.ids)).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        format!("{mixed:032x}")
    }
}
