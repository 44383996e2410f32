//! IBM Cloud as far as clusters on Power Virtual Server need it: IAM, resource controller, power-iaas, VPC with its load
//! balancers, transit gateways, Internet Services, DNS Services and object storage, all behind one listener.
//!
//! ```text
//!  request ─► cloud (which service, whose token) ─► one module per service ─► state ◄─ lifecycle ◄─ agenda
//!                                                                              │
//!        forward (load balancers on the network), names (the name server), guests ◄┘
//! ```
//! Each service has a prefix ([`call`](self)); power-iaas also answers without one, since its own client takes no address with
//! a path. Written from recorded answers and from what other people's clients send and read (`conformance/powervs`).
//!
//! Not modelled: access policies, VPC machines and endpoint gateways, snapshots and clones, cloud connections, multipart
//! uploads, and private DNS zones that only their networks see.

#![allow(clippy::unnecessary_wraps, reason = "whatever answers a call has the same form, also where it never refuses")]

mod admin;
mod agenda;
mod balancing;
mod call;
mod cis;
mod cloud;
mod cos;
mod dns_services;
mod forward;
mod genesis;
mod guests;
mod iam;
mod knobs;
mod lifecycle;
mod names;
mod options;
mod places;
mod power;
mod reply;
mod resources;
mod state;
mod tags;
mod transit;
mod vpc;

pub use cloud::Cloud;
pub use knobs::{Delay, Kind, Limited, Outcome, OutcomeRule, PublicObject, Quota};
pub use options::Options;

use crate::core::{Running, Stage, StartError};
use crate::guests::{Kind as GuestKind, LightGuests};

/// Why the simulator did not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The shell did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The state file makes no sense.
    #[error("restore the account from its saved state")]
    Restore(#[source] serde_json::Error),
    /// The name server has no address.
    #[error("answer for names at {address}")]
    Names {
        /// The address as given.
        address: String,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// Its machines have no real hosts.
    #[error("the machines of this simulator are light or plain: real hosts are of another architecture")]
    RealHosts,
}

/// Starts the simulator.
pub async fn start(options: &Options) -> Result<Running<Cloud>, Error> {
    let failed = |source| Error::Names { address: options.dns_listen.clone(), source };
    let sockets = names::Sockets::bind(&options.dns_listen).await.map_err(failed)?;
    let name_server = sockets.address().map_err(failed)?;
    let mut stage = Stage::prepare("powervs", &options.simulator).await?;
    let light = match options.guests.kind {
        GuestKind::Light => {
            let mut light = options.guests.light(options.simulator.pace());
            light.resolver = light.resolver.or(Some(name_server));
            stage = stage.with_guests(LightGuests::new(&light));
            true
        }
        GuestKind::Plain => false,
        GuestKind::Real => return Err(Error::RealHosts),
    };
    let (url, epoch) = (stage.url().to_owned(), stage.epoch());
    let (account, is_new) = match stage.take_saved_state() {
        Some(saved) => (serde_json::from_value(saved).map_err(Error::Restore)?, false),
        None => (genesis::create(options, stage.seed()), true),
    };
    let mut cloud = Cloud::new(options, &url, &name_server.to_string(), epoch, account);
    if is_new {
        genesis::furnish(&mut cloud);
    }
    let running = stage.start(cloud, |_| Vec::new())?;
    running.accompany(sockets.serve(running.world().clone()));
    if light {
        running.accompany(forward::run(running.world().clone()));
    }
    Ok(running)
}
