//! Distributions `openshift` and `okd`: what is bound to a release is rendered by the release's own installer.
//!
//! The walk: [`locate()`] the program → [`manifests()`] has it render the manifests for platform `external` and adds
//! Landfall's → the user edits them → [`ignition_configs()`] gives them back to it and takes over what machines boot with.
//!
//! All of this happens on a private copy, because the program deletes what it reads. What it must find again the
//! next time is its state file; [`Rendered::state`] is to be kept beside the other secrets and handed in again.

mod additions;
mod bootstrap;
mod config_server;
mod copy;
mod error;
mod ignition_configs;
mod install_config;
mod locate;
mod machine_config;
mod manifest;
mod manifests;
mod node;
mod pointer;
mod process;
mod state;
mod version;

#[cfg(test)]
mod testing;

use std::{fmt, path::Path};

use landfall_platform::{File, FileSet, InfraId};

pub use error::Error;
pub use ignition_configs::ignition_configs;
pub use install_config::install_config;
pub use locate::{locate, release_image};
pub use manifests::manifests;
pub use process::Program;
pub use version::VersionInfo;

/// A release's own installer.
///
/// The one real implementation is [`Program`]; the trait is there so that callers can be tested without it. One run of
/// Landfall calls `version` once and then `create` once or twice.
pub trait OpenshiftInstall {
    /// Which release it renders.
    fn version(&self) -> Result<VersionInfo, Error>;

    /// Makes a target from the files in `directory`, and writes its files there. Returns what it warned of.
    ///
    /// It may delete what it has read. It must not ask anybody anything.
    fn create(&self, target: Target, directory: &Path) -> Result<Vec<String>, Error>;
}

/// What a run of the program came to.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// The files of the target, the program's and Landfall's.
    pub files: FileSet,
    /// The program's state, which holds secrets.
    pub state: File,
    /// The infra id that the program minted for the cluster, and that Landfall takes over.
    pub infra_id: InfraId,
    /// Which release was rendered.
    pub version: VersionInfo,
    /// What the user should know, mostly what the program warned of.
    pub warnings: Vec<String>,
}

/// What the program is asked to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Reads the install-config into its state.
    InstallConfig,
    /// The manifests.
    Manifests,
    /// What machines boot with.
    IgnitionConfigs,
}

impl Target {
    /// The name that the program knows it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::InstallConfig => "install-config",
            Self::Manifests => "manifests",
            Self::IgnitionConfigs => "ignition-configs",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
