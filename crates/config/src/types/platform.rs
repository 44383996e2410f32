//! Where the cluster runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ovirt;

/// Where the cluster runs. Exactly one platform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// An oVirt or RHV engine.
    Ovirt(Box<ovirt::Platform>),
}

impl Platform {
    /// The names of all platforms, as the install-config spells them.
    pub const NAMES: [&str; 1] = ["ovirt"];

    /// The name of this platform.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ovirt(_) => "ovirt",
        }
    }
}
