//! `landfall powervm`: a look at servers that are managed by NovaLink or an HMC, for an administrator at a terminal.

mod listing;
mod rows;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use landfall_platform_powervm::client::{Client, ConsoleUrl, Group, Login};
use landfall_wire::{Limits, Trust};
use serde::Serialize;

use crate::{cli::Output, context::Context, printer};

use listing::Listing;

/// Look at PowerVM servers.
#[derive(Args, Debug)]
pub(crate) struct Powervm {
    #[command(flatten)]
    console: Console,
    #[command(subcommand)]
    what: What,
}

/// Where, and as whom.
#[derive(Args, Debug)]
#[command(next_help_heading = "Management console")]
struct Console {
    /// Address of the NovaLink or HMC: HOST, http://HOST:PORT or https://HOST:PORT
    #[arg(
        long = "console",
        value_name = "URL",
        env = "POWERVM_CONSOLE",
        default_value = "http://localhost:12080",
        global = true
    )]
    url: String,

    /// User; its password is in the environment.
    #[arg(
        long,
        value_name = "NAME",
        env = "POWERVM_USER",
        global = true,
        help = "User, with a password in POWERVM_PASSWORD; without one, the local logon of the management partition"
    )]
    user: Option<String>,

    /// Certificates of the authority to trust, in PEM [default: those of the system]
    #[arg(long, value_name = "FILE", env = "POWERVM_CA_FILE", global = true)]
    ca_file: Option<PathBuf>,

    /// Trust any certificate: for a console whose certificate is its own
    #[arg(long, global = true, conflicts_with = "ca_file")]
    insecure: bool,
}

/// What to look at.
#[derive(Debug, Subcommand)]
enum What {
    /// Servers: what they are, and what is free
    Systems,
    /// Logical partitions
    Lpars,
    /// Virtual I/O servers: what they map to partitions
    Vios,
    /// Switches, networks and bridges
    Networks,
    /// Shared storage pools, volume groups and disks
    Storage,
    /// What happens from now on
    Events(EventFlags),
}

/// Flags of `powervm events`.
#[derive(Args, Debug)]
struct EventFlags {
    /// Go on until interrupted, instead of until nothing happens for a while
    #[arg(long, short)]
    follow: bool,
}

pub(crate) fn run(args: &Powervm, context: &Context) -> anyhow::Result<()> {
    let client = args.console.connect(context)?;
    tokio::runtime::Runtime::new().context("cannot start the program's tasks")?.block_on(async {
        let shown = show(&args.what, &client, context).await;
        // Consoles keep a limited number of sessions; that this one is not ended properly is not worth a failure.
        let _ended = client.logoff().await;
        shown
    })
}

impl Console {
    fn connect(&self, context: &Context) -> anyhow::Result<Client> {
        let trust = match &self.ca_file {
            Some(path) => {
                let pem = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
                Trust::Only(pem)
            }
            None if self.insecure => Trust::Unverified,
            None => Trust::System,
        };
        let password = context.environment.get("POWERVM_PASSWORD").and_then(|password| password.to_str());
        let login = match (&self.user, password) {
            (Some(user), Some(password)) => Login::Password { user: user.clone(), password: password.into() },
            (Some(_), None) => anyhow::bail!("--user needs a password in the environment variable POWERVM_PASSWORD"),
            (None, _) => Login::Local { user: "landfall".to_owned() },
        };
        Ok(Client::new(ConsoleUrl::parse(&self.url)?, &trust, Limits::default(), login)?)
    }
}

async fn show(what: &What, client: &Client, context: &Context) -> anyhow::Result<()> {
    match what {
        What::Systems => print(&Listing::new(rows::SYSTEMS, client.systems().await?, rows::system), context),
        What::Lpars => print(&Listing::new(rows::LPARS, client.partitions().await?, rows::lpar), context),
        What::Vios => {
            let vioses = client.vioses(&[Group::ViosScsiMappings]).await?;
            print(&Listing::new(rows::VIOSES, vioses, rows::vios), context)
        }
        What::Networks => print(&Listing::new(rows::NETWORKS, rows::networks(client).await?, rows::network), context),
        What::Storage => print(&Listing::new(rows::STORAGE, rows::storage(client).await?, rows::store), context),
        What::Events(flags) => events(client, flags, context).await,
    }
}

fn print<T: Serialize>(listing: &Listing<T>, context: &Context) -> anyhow::Result<()> {
    Ok(context.printer.report(listing)?)
}

/// Prints events one line each, as they come: a table would have to wait for the last one.
async fn events(client: &Client, flags: &EventFlags, context: &Context) -> anyhow::Result<()> {
    let stop = context.interruptible()?.token();
    let mut queue = client.events();
    loop {
        let Some(events) = stop.run_until_cancelled(queue.next()).await.transpose()? else { return Ok(()) };
        for event in &events {
            let line = match context.globals.output {
                Output::Json => serde_json::to_string(event)?,
                Output::Text => format!("{:>8}  {:<20}  {}  {}", event.id, event.kind, event.data, event.detail),
            };
            printer::print(&format!("{}\n", line.trim_end()))?;
            if event.is_gap() {
                context.printer.warn("events were lost; what you know may be out of date");
            }
        }
        if events.is_empty() && !flags.follow {
            return Ok(());
        }
    }
}
