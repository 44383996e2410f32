//! A simulated engine in this process, and a cluster on it.

use std::{sync::Arc, time::Duration};

use landfall_config::InstallConfig;
use landfall_platform_ovirt::{Client, EngineUrl};
use landfall_simulator::{
    core::{Running, Simulation},
    ovirt,
};
use landfall_wire::{Limits, Trust};

/// Simulated seconds per second: minutes of an engine's work pass in milliseconds.
const TIME_SCALE: &str = "2000";
pub(crate) const INTERVAL: Duration = Duration::from_millis(4);

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: ovirt::Options,
}

/// Starts an engine with the default inventory.
pub(crate) async fn start(flags: &[&str]) -> Running<ovirt::Engine> {
    let arguments = [&["sim", "--time-scale", TIME_SCALE], flags].concat();
    let Flags { options } = <Flags as clap::Parser>::parse_from(arguments);
    ovirt::start(&options).await.expect("the simulator starts")
}

pub(crate) fn client(engine: &Running<ovirt::Engine>, password: &str) -> Arc<Client> {
    let url: EngineUrl = engine.url().parse().unwrap();
    let trust = Trust::Only(engine.ca_pem().unwrap().to_owned());
    Arc::new(Client::new(url, &trust, Limits::default(), "admin@internal", password.into()).unwrap())
}
