//! How far the installation of a cluster has come, as plans need to know it.

use crate::StepId;

/// Whether the bootstrap machine is wanted: it is until the control plane has moved to the masters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The control plane is on the bootstrap machine, or nowhere yet.
    Bootstrapping,
    /// The control plane is on the masters.
    Pivoted,
}

/// The id of the step that makes the bootstrap machine: the same on all platforms.
pub fn bootstrap_step() -> StepId {
    "vm/bootstrap".into()
}

/// The id of the step that removes the keys from what the platform keeps of the bootstrap machine's user data: the same on all
/// platforms.
///
/// Installers have to hold it back until the machine has read its config: a plan alone does not know when that is.
pub fn user_data_step() -> StepId {
    "user-data/bootstrap".into()
}

/// The title of that step.
pub const USER_DATA_TITLE: &str = "the bootstrap machine's user data holds no keys";
