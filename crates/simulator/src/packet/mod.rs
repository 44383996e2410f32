//! Packet's API, later Equinix Metal's: both base paths (`/` and `/metal/v1`) from one router.
//!
//! ```text
//!  request ─► metal ─► call (who asks, for what) ─► api (one file per resource) ─► state ◄─ lifecycle ◄─ agenda
//!                                                                                    │
//!                                                   routes (which guest an elastic address leads to), guests
//! ```
//! Written from recorded answers and from what other people's clients send and read (`conformance/packet`).
//!
//! Not modelled: volumes, metal gateways, VRFs, interconnections, licences, bandwidth that is more than a flat line, and
//! batches that are anything but finished at once.

#![allow(clippy::unnecessary_wraps, reason = "whatever answers a call has the same form, also where it never refuses")]

mod account;
mod addresses;
mod admin;
mod agenda;
mod api_keys;
mod bgp;
mod call;
mod catalogue;
mod devices;
mod events;
mod genesis;
mod guests;
mod hardware;
mod knobs;
mod lifecycle;
mod market;
mod metadata;
mod metal;
mod networks;
mod options;
mod reply;
mod route;
mod show;
mod state;

pub use knobs::{Capacity, Outcome, OutcomeRule, Reserved, SpotPrice};
pub use metal::Metal;
pub use options::Options;

use crate::core::{Running, Stage, StartError};
use crate::guests::{Kind, LightGuests};

/// Why the simulator did not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The shell did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The state file makes no sense.
    #[error("restore the account from its saved state")]
    Restore(#[source] serde_json::Error),
    /// Its machines have no real hosts.
    #[error("the machines of this simulator are light or plain: real hosts boot by other means than a network")]
    RealHosts,
}

/// Starts the simulator.
pub async fn start(options: &Options) -> Result<Running<Metal>, Error> {
    let mut stage = Stage::prepare("packet", &options.simulator).await?;
    match options.guests.kind {
        Kind::Light => {
            let light = LightGuests::new(&options.guests.light(options.simulator.pace()));
            stage = stage.with_guests(light);
        }
        Kind::Plain => {}
        Kind::Real => return Err(Error::RealHosts),
    }
    let world = match stage.take_saved_state() {
        Some(saved) => serde_json::from_value(saved).map_err(Error::Restore)?,
        None => genesis::create(options, stage.seed()),
    };
    let simulation = Metal::new(options, stage.epoch(), world);
    Ok(stage.start(simulation, |_| Vec::new())?)
}
