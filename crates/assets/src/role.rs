//! What a machine is for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a machine is for. Each role has its own Ignition config.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Runs the first control plane and serves the configs of the others, then goes away.
    Bootstrap,
    /// Runs the control plane.
    Master,
    /// Runs workloads.
    Worker,
}

impl Role {
    /// The roles whose machines fetch their config from the config server.
    pub const SERVED: [Self; 2] = [Self::Master, Self::Worker];

    /// The name in URLs and file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bootstrap => "bootstrap",
            Self::Master => "master",
            Self::Worker => "worker",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
