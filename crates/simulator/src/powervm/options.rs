//! The command line of the simulator.

use std::path::PathBuf;

/// What becomes of optical media after the time that was asked for with a start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Media {
    /// They are taken out and deleted, as the platform does it
    #[default]
    Eject,
    /// They stay, so that what is found does not depend on how long somebody took to look
    Keep,
}

/// Options of `landfall sim powervm`.
#[derive(Clone, Debug, clap::Args)]
// The group's name is that of the type by default, which is also that of the options flattened below.
#[group(id = "powervm")]
pub struct Options {
    /// What is in the world at the start, as YAML [default: 3 hosts with 2 VIOSes each and a shared storage pool]
    #[arg(long, value_name = "FILE")]
    pub inventory: Option<PathBuf>,

    /// Who may log on with a password
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,

    /// The password of that user
    #[arg(long, value_name = "PASSWORD", env = "LANDFALL_SIM_PASSWORD", hide_env_values = true)]
    pub password: Option<String>,

    /// Where the tokens of local users are put [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    pub token_dir: Option<PathBuf>,

    /// Write stand-ins for the commands mkvterm and rmvterm of the first host's NovaLink partition to this directory
    #[arg(long, value_name = "DIR")]
    pub tools_dir: Option<PathBuf>,

    /// Keep a copy of every optical medium that is uploaded in this directory
    #[arg(long, value_name = "DIR")]
    pub media_dir: Option<PathBuf>,

    /// What becomes of optical media that a partition wants to be rid of some time after its start
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub media: Media,

    #[command(flatten)]
    #[allow(missing_docs, reason = "clap would show a comment here as a heading")]
    pub guests: crate::guests::Options,

    #[command(flatten)]
    #[allow(missing_docs, reason = "clap would show a comment here as a heading")]
    pub simulator: crate::core::Options,
}
