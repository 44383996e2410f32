//! What can go wrong with a cluster's API.

use std::time::Duration;

/// What went wrong with a cluster's API.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kubeconfig is not understood.
    #[error("the kubeconfig is not understood: {0}")]
    Kubeconfig(String),
    /// A request failed.
    #[error("{attempt} failed")]
    Request {
        /// What was attempted.
        attempt: &'static str,
        /// How.
        #[source]
        source: landfall_wire::Error,
    },
    /// What was waited for did not come.
    #[error("{awaited} did not come within {limit:?}; at the end: {evidence}")]
    Timeout {
        /// What was waited for.
        awaited: &'static str,
        /// How long.
        limit: Duration,
        /// What was seen last.
        evidence: String,
    },
}
