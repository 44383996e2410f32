//! The command line.

use clap::{Parser, Subcommand, ValueEnum};
use tracing_subscriber::EnvFilter;

/// What runs on the machines of a cluster. Its commands are run by systemd; `doctor` is for people.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Cli {
    /// What to log, for example `debug`.
    #[arg(long, global = true, env = "LANDFALL_LOG", default_value = "info")]
    log: String,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the iPXE script to machines that boot from the network.
    BootScript,
    /// Bring up the cluster on the bootstrap machine, and hand it over to the masters.
    Bootstrap,
    /// Renew the control plane's certificates on a master, and approve those of kubelets.
    Certificates,
    /// Serve Ignition configs to machines that boot.
    ConfigServer,
    /// Serve the names of the cluster to this machine.
    Dns {
        /// Also find machines of the segment by multicast, before there is an API to ask.
        #[arg(long, env = "LANDFALL_MDNS", value_parser = clap::builder::FalseyValueParser::new())]
        mdns: bool,
    },
    /// Say what is wrong on this machine.
    Doctor {
        /// The form of what is said.
        #[arg(long, value_enum, default_value = "text")]
        output: Output,
    },
    /// Keep etcd's members like the masters, on a master.
    Etcd,
    /// Join the cluster.
    Join,
    /// Balance the API of the masters on a master.
    LoadBalancer,
    /// Look after the machines of the cluster.
    #[cfg(feature = "controller")]
    #[command(subcommand)]
    Machines(crate::commands::machines::Machines),
    /// Keep the pod network of this machine.
    Network,
    /// Hold the virtual addresses of the cluster.
    Vip,
}

/// The form of what is said.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Output {
    /// Lines for people.
    Text,
    /// JSON for programs.
    Json,
}

impl Command {
    /// Returns true if the command turns panics into errors itself, and continues.
    pub(crate) fn outlives_panics(&self) -> bool {
        #[cfg(feature = "controller")]
        return matches!(self, Self::Machines(_));
        #[cfg(not(feature = "controller"))]
        false
    }
}

impl Cli {
    /// A filter that is not understood must not keep a machine from its work.
    pub(crate) fn log_filter(&self) -> EnvFilter {
        EnvFilter::try_new(&self.log).unwrap_or_else(|_| EnvFilter::new("info"))
    }
}
