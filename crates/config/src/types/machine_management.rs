//! Who looks after the cluster's machines once it runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::InstallConfig;

/// Who looks after the cluster's machines once it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MachineManagement {
    /// The cluster: it holds credentials of the platform, makes machines that are missing, starts those that are off, and scales.
    Managed,
    /// You: the cluster knows nothing of the platform, and has no machine objects, no machine controller and no credentials.
    UserManaged,
}

impl InstallConfig {
    /// Whether the cluster looks after its own machines.
    pub fn manages_machines(&self) -> bool {
        self.machines != Some(MachineManagement::UserManaged)
    }
}
