//! The command line of the simulator.

use std::path::PathBuf;

/// Options of `landfall sim ovirt`.
#[derive(Clone, Debug, clap::Args)]
// The group's name is that of the type by default, which is also that of the options flattened below.
#[group(id = "ovirt")]
pub struct Options {
    /// What is in the engine's world at the start, as YAML [default: 1 data centre, 1 cluster, 3 hosts, a template `fcos`]
    #[arg(long, value_name = "FILE")]
    pub inventory: Option<PathBuf>,

    /// Who may log in with all rights, with the profile; replaces the inventory's administrator
    #[arg(long, value_name = "NAME@PROFILE")]
    pub user: Option<String>,

    /// The password of that user
    #[arg(long, value_name = "PASSWORD", env = "LANDFALL_SIM_PASSWORD", hide_env_values = true)]
    pub password: Option<String>,

    /// Where images are kept [default: beside --state, else a temporary directory]
    #[arg(long, value_name = "DIR")]
    pub images: Option<PathBuf>,

    /// Address and port to serve image transfers on, for all hosts; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub imageio_listen: String,

    /// Address and port to serve image transfers on, as the engine's proxy does; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub imageio_proxy_listen: String,

    #[command(flatten)]
    #[allow(missing_docs, reason = "clap would show a comment here as a heading")]
    pub guests: crate::guests::Options,

    #[command(flatten)]
    #[allow(missing_docs, reason = "clap would show a comment here as a heading")]
    pub simulator: crate::core::Options,
}
