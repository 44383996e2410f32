//! The command line: commands, flags and their help.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum, parser::ValueSource};

use crate::{commands, exit::ExitStatus};

/// Installs Kubernetes and OpenShift clusters on platforms that have no installer of their own.
#[derive(Debug, Parser)]
#[command(
    name = "landfall",
    version,
    max_term_width = 100,
    propagate_version = false,
    subcommand_required = true,
    arg_required_else_help = true,
    after_long_help = exit_codes()
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads the command line of this process.
    pub(crate) fn read() -> clap::error::Result<Self> {
        let matches = Self::command().try_get_matches()?;
        let mut cli = Self::from_arg_matches(&matches)?;
        cli.globals.dir_is_given = matches.value_source("dir") == Some(ValueSource::CommandLine);
        Ok(cli)
    }
}

/// Flags that every command takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Globals {
    /// Install directory: holds the install-config and everything that is made from it
    #[arg(long, global = true, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    /// True if the user named the install directory: it then decides which cluster is meant.
    #[arg(skip)]
    pub(crate) dir_is_given: bool,

    /// How much to tell
    #[arg(long, global = true, value_enum, value_name = "LEVEL", default_value_t = LogLevel::Info)]
    pub(crate) log_level: LogLevel,

    /// Tell only errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    /// When to use colours
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub(crate) color: Color,

    /// Form of what is printed to stdout
    #[arg(long, global = true, value_enum, value_name = "FORM", default_value_t = Output::Text)]
    pub(crate) output: Output,
}

impl Globals {
    /// The level that holds once `--quiet` is taken into account.
    pub(crate) fn effective_log_level(&self) -> LogLevel {
        if self.quiet { LogLevel::Error } else { self.log_level }
    }
}

/// How much to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum LogLevel {
    /// What went wrong
    Error,
    /// Also what you should know
    Warn,
    /// Also what was done
    Info,
    /// Also what happens inside
    Debug,
    /// Everything
    Trace,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless the environment forbids it.
    #[value(help = "On a terminal, unless NO_COLOR is set")]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Form of what is printed to stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people
    Text,
    /// For programs
    Json,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make the install-config, or files from it
    #[command(subcommand)]
    Create(Create),
    /// Remove what was created
    #[command(subcommand)]
    Destroy(commands::destroy::Destroy),
    /// Wait for a cluster that is being installed
    #[command(subcommand)]
    WaitFor(commands::wait_for::WaitFor),
    /// Collect what there is to know about a cluster that does not come up
    #[command(subcommand)]
    Gather(commands::gather::Gather),
    /// Look after the public DNS records of a cluster, and nothing else
    #[command(subcommand)]
    Dns(commands::dns::Dns),
    /// Look after the machines of a cluster once it is installed
    #[command(subcommand)]
    Machines(commands::machines::Machines),
    /// Install on infrastructure of your own: make the kit for it, and check it
    #[command(subcommand)]
    Upi(commands::upi::Upi),
    /// Look at PowerVM servers: systems, partitions, networks, storage, events
    Powervm(commands::powervm::Powervm),
    /// Print the steps of the installation without touching anything
    Plan(commands::plan::Plan),
    /// Say what a field of the install-config means
    Explain(commands::explain::Explain),
    /// Say where an install directory stands: stages, edits, certificates
    Status(commands::status::Status),
    /// Draw what is made from what
    Graph(commands::graph::Graph),
    /// Install a cluster on a simulated platform, look at it, and remove it again
    Demo(commands::demo::Demo),
    /// Run a simulated platform, to practise on and to test against
    #[command(subcommand)]
    Sim(commands::sim::Sim),
    /// Print the version
    Version(commands::version::Version),
    /// Print a completion script for a shell
    Completion(commands::completion::Completion),
    /// Write the reference pages of the book into the directory that --dir names
    #[command(hide = true)]
    Docs(commands::docs::Docs),
}

/// The targets, in the order in which each is made from the one before it.
#[derive(Debug, Subcommand)]
pub(crate) enum Create {
    /// Make install-config.yaml, from answers, flags or a file
    InstallConfig(Box<commands::create::install_config::InstallConfig>),
    /// Make the manifests that the cluster starts with; edit them if you like
    Manifests(commands::create::Derive),
    /// Make what the machines boot with, and the kubeconfig
    IgnitionConfigs(commands::create::Derive),
    /// Create the cluster; run it again to go on after an interruption
    Cluster(commands::create::cluster::Cluster),
}

impl Command {
    /// Whether it runs for months, so that what it says must not pile up anywhere.
    pub(crate) fn is_service(&self) -> bool {
        matches!(self, Self::Machines(commands::machines::Machines::Controller(_)))
    }

    /// How much of what happens inside goes to stderr: guests that run in this process talk much.
    pub(crate) fn traced_level(&self, asked: LogLevel) -> LogLevel {
        if matches!(self, Self::Demo(_)) && asked == LogLevel::Info { LogLevel::Warn } else { asked }
    }

    /// The command's name with its target, for the lock and the log: no arguments, which may be secret.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Create(Create::InstallConfig(_)) => "create install-config",
            Self::Create(Create::Manifests(_)) => "create manifests",
            Self::Create(Create::IgnitionConfigs(_)) => "create ignition-configs",
            Self::Create(Create::Cluster(_)) => "create cluster",
            Self::Destroy(_) => "destroy cluster",
            Self::WaitFor(_) => "wait-for",
            Self::Gather(_) => "gather",
            Self::Dns(_) => "dns",
            Self::Machines(_) => "machines",
            Self::Upi(commands::upi::Upi::Create(_)) => "upi create",
            Self::Upi(commands::upi::Upi::Check(_)) => "upi check",
            Self::Powervm(_) => "powervm",
            Self::Plan(_) => "plan",
            Self::Explain(_) => "explain",
            Self::Status(_) => "status",
            Self::Graph(_) => "graph",
            Self::Demo(_) => "demo",
            Self::Sim(_) => "sim",
            Self::Version(_) => "version",
            Self::Completion(_) => "completion",
            Self::Docs(_) => "docs",
        }
    }
}

fn exit_codes() -> String {
    let lines = ExitStatus::ALL.map(|status| format!("\n  {}  {}", status.code(), status.meaning()));
    format!("Exit codes:{}", lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
