//! What a machine is for.

use std::fmt;

use landfall_config::Role;
use serde::{Deserialize, Serialize};

/// What a machine is for. Besides the roles of the machine pools there is the machine that brings up the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MachineRole {
    /// Runs the first control plane and serves the configs of the others, then goes away.
    Bootstrap,
    /// Runs the control plane.
    Master,
    /// Runs workloads.
    Worker,
}

impl MachineRole {
    /// The name in URLs, file names and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bootstrap => "bootstrap",
            Self::Master => Role::Master.name(),
            Self::Worker => Role::Worker.name(),
        }
    }
}

impl From<Role> for MachineRole {
    fn from(role: Role) -> Self {
        match role {
            Role::Master => Self::Master,
            Role::Worker => Self::Worker,
        }
    }
}

impl fmt::Display for MachineRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
