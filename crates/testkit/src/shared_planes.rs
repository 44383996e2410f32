//! Control planes that the processes of one test run share: to start one takes longer than most tests.

use std::path::{Path, PathBuf};

use crate::ControlPlane;

/// Names the directory that has the control planes of this run, one directory for each platform.
pub const VARIABLE: &str = "LANDFALL_CONTROL_PLANES";

/// Platforms that have a control plane. The definitions of machines differ from platform to platform.
pub const PLATFORMS: [&str; 4] = ["ovirt", "packet", "powervm", "powervs"];

impl ControlPlane {
    /// Returns the control plane of this run for a platform; starts one where the run has none. Blocks.
    ///
    /// What it starts ends with the thread that calls.
    pub fn shared(platform: &str) -> Self {
        match std::env::var_os(VARIABLE) {
            Some(directory) => Self::attach(&of(Path::new(&directory), platform)),
            None => Self::start(),
        }
    }
}

/// Returns the directory of a platform's control plane.
pub fn of(directory: &Path, platform: &str) -> PathBuf {
    directory.join(platform)
}
