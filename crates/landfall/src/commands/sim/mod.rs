//! `landfall sim`: platforms to practise on and to test against.

mod install_config;
mod pods;

use std::{
    fs::OpenOptions,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use landfall_simulator::{
    cloudflare,
    core::{Running, Simulation},
    guests::{self, NetworkClaim},
    ovirt, packet, powervm, powervs,
};

pub(crate) use install_config::{moved_address, moved_text, write_install_config};
pub(crate) use pods::programs;

/// Run a simulated platform until it is stopped.
#[derive(Debug, Subcommand)]
pub(crate) enum Sim {
    /// An oVirt engine; when it is ready it prints one line of JSON with what a client needs
    Ovirt(Box<Ovirt>),
    /// Packet (Equinix Metal); when it is ready it prints one line of JSON with its URL, an API key and a project
    Packet(Box<Packet>),
    /// PowerVM servers with NovaLink; when they are ready it prints one line of JSON with what a client needs
    Powervm(Box<Powervm>),
    /// IBM Cloud with Power Virtual Server; when it is ready it prints one line of JSON with its URLs and an API key
    Powervs(Box<Powervs>),
    /// Cloudflare's DNS; when it is ready it prints one line of JSON with its URL and token
    Cloudflare(Box<Cloudflare>),
}

/// Flags of `sim cloudflare`.
#[derive(Args, Debug)]
#[group(id = "sim-cloudflare")]
pub(crate) struct Cloudflare {
    #[command(flatten)]
    options: cloudflare::Options,
}

/// Flags of `sim packet`.
#[derive(Args, Debug)]
#[group(id = "sim-packet")]
pub(crate) struct Packet {
    /// Write the API's address and key to a file.
    #[arg(long, value_name = "FILE", help = "Write the API's address and key to this file, for PACKET_CONFIG")]
    credentials: Option<PathBuf>,

    #[command(flatten)]
    options: packet::Options,
}

/// Flags of `sim powervm`.
#[derive(Args, Debug)]
#[group(id = "sim-powervm")]
pub(crate) struct Powervm {
    /// Write the servers' addresses and credentials to a file.
    #[arg(
        long,
        value_name = "FILE",
        help = "Write the servers' addresses and credentials to this file, for POWERVM_CONFIG"
    )]
    credentials: Option<PathBuf>,

    /// Write an install-config that fits.
    #[arg(long, value_name = "FILE", help = "Write an install-config for the simulator's machines to this file")]
    install_config: Option<PathBuf>,

    #[command(flatten)]
    options: powervm::Options,
}

/// Flags of `sim powervs`.
#[derive(Args, Debug)]
#[group(id = "sim-powervs")]
pub(crate) struct Powervs {
    /// Write the API key to a file.
    #[arg(long, value_name = "FILE", help = "Write API key, zone and region to this file, for POWERVS_AUTH_FILEPATH")]
    credentials: Option<PathBuf>,

    #[command(flatten)]
    options: powervs::Options,
}

/// Flags of `sim ovirt`.
#[derive(Args, Debug)]
// The group's name is that of the type by default, which is also that of the options flattened below.
#[group(id = "sim-ovirt")]
pub(crate) struct Ovirt {
    /// Write the engine's address and credentials to a file.
    #[arg(
        long,
        value_name = "FILE",
        help = "Write the engine's address and credentials to this file, for OVIRT_CONFIG"
    )]
    credentials: Option<PathBuf>,

    /// Write an install-config that fits.
    #[arg(long, value_name = "FILE", help = "Write an install-config for the simulator's machines to this file")]
    install_config: Option<PathBuf>,

    #[command(flatten)]
    options: ovirt::Options,
}

pub(crate) fn run(sim: &Sim) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start the simulator's tasks")?;
    runtime.block_on(async {
        match sim {
            Sim::Ovirt(args) => {
                let mut options = args.options.clone();
                options.guests.programs = programs();
                let _claim = claim(&mut options.guests, options.simulator.state.as_deref())?;
                let running = ovirt::start(&options).await.context("cannot start the simulated oVirt engine")?;
                if let Some(path) = &args.credentials {
                    write_credentials(&running, path)?;
                }
                if let Some(path) = &args.install_config {
                    write_install_config(&options.guests, &running.ready(), path)?;
                }
                serve(running).await
            }
            Sim::Packet(args) => {
                let mut options = args.options.clone();
                options.guests.programs = programs();
                let _claim = claim(&mut options.guests, options.simulator.state.as_deref())?;
                let running = packet::start(&options).await.context("cannot start the simulated Packet")?;
                if let Some(path) = &args.credentials {
                    super::demo::write_packet_credentials(&running, path)?;
                }
                serve(running).await
            }
            Sim::Powervm(args) => {
                let mut options = args.options.clone();
                options.guests.programs = programs();
                let _claim = claim(&mut options.guests, options.simulator.state.as_deref())?;
                let running = powervm::start(&options).await.context("cannot start the simulated PowerVM servers")?;
                if let Some(path) = &args.credentials {
                    super::demo::write_powervm_credentials(&running, path)?;
                }
                if let Some(path) = &args.install_config {
                    super::demo::write_powervm_install_config(&running, options.guests.network(), path)?;
                }
                serve(running).await
            }
            Sim::Powervs(args) => {
                let mut options = args.options.clone();
                let _claim = claim(&mut options.guests, options.simulator.state.as_deref())?;
                let running = powervs::start(&options).await.context("cannot start the simulated IBM Cloud")?;
                if let Some(path) = &args.credentials {
                    super::demo::write_powervs_credentials(&running, path)?;
                }
                serve(running).await
            }
            Sim::Cloudflare(args) => {
                let running =
                    cloudflare::start(&args.options).await.context("cannot start the simulated Cloudflare")?;
                serve(running).await
            }
        }
    })
}

/// Claims a loopback network for the guests if they need one.
pub(crate) fn claim(options: &mut guests::Options, state: Option<&Path>) -> anyhow::Result<Option<NetworkClaim>> {
    NetworkClaim::choose(options, state.is_some()).context(
        "cannot claim a loopback network for the guests: stop another simulator, or choose one with --guest-network",
    )
}

async fn serve<S: Simulation>(running: Running<S>) -> anyhow::Result<()> {
    running.run_until_signal(&mut std::io::stdout()).await.context("cannot say where the simulator is")
}

/// Writes what a client needs into the file that oVirt's other tools read, too.
pub(crate) fn write_credentials(engine: &Running<ovirt::Engine>, path: &Path) -> anyhow::Result<()> {
    let ready = engine.ready();
    let field = |name: &str| ready.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
    let document = serde_json::json!({
        "ovirt_url": field("url"),
        "ovirt_username": field("user"),
        "ovirt_password": field("password"),
        "ovirt_ca_bundle": engine.ca_pem(),
    });
    write_private(path, &serde_saphyr::to_string(&document).context("cannot write the credentials")?)
}

/// Writes a file that only its owner can read.
pub(crate) fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))
}
