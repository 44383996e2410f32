//! How work on a cluster can end other than well.

use landfall_engine::{ApplyError, RemovalError};

/// How work on a cluster ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterError {
    #[error("the infrastructure is not complete")]
    Apply(#[from] ApplyError),
    #[error("not everything is removed")]
    Removal(#[from] RemovalError),
    #[error("the control plane did not come up")]
    Bootstrap(#[source] landfall_cluster::Error),
    #[error("the cluster did not become ready")]
    Initialisation(#[source] landfall_cluster::Error),
}

/// Whether a run ended because the user stopped it.
pub(crate) fn interrupted(error: &ClusterError) -> bool {
    matches!(
        error,
        ClusterError::Apply(ApplyError::Cancelled { .. }) | ClusterError::Removal(RemovalError::Cancelled { .. })
    )
}
