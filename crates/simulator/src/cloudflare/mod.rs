//! Cloudflare's API, version 4, as far as zones and their DNS records go.
//!
//! Written from the public API documentation; the `cloudflare` package for Python judges it (`conformance/dns`).
//!
//! | file | what is in it |
//! |---|---|
//! | `api` | who may do what, and which call is which |
//! | `envelope` | the shape of every answer, and the errors with their codes |
//! | `filter` | which records a list holds, and its pages |
//! | `record` | records: what is valid, and what can stand beside what |
//! | `state` | zones and records |

mod api;
mod envelope;
mod filter;
mod options;
mod record;
mod state;

pub use api::Cloudflare;
pub use options::Options;

use crate::core::{Running, Stage, StartError};

/// Starts the simulator.
pub async fn start(options: &Options) -> Result<Running<Cloudflare>, StartError> {
    let mut stage = Stage::prepare("cloudflare", &options.simulator).await?;
    let saved = stage.take_saved_state().and_then(|saved| serde_json::from_value(saved).ok());
    let simulation = Cloudflare::new(options, stage.seed(), stage.epoch(), saved);
    stage.start(simulation, |_| Vec::new())
}
