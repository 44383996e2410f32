//! What can go wrong with a cluster's API.

use std::time::Duration;

use landfall_platform::ErrorClass;

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
        source: Box<landfall_wire::Error>,
    },
    /// What was waited for did not come.
    #[error("{awaited} did not come within {} s; last seen: {evidence}", limit.as_secs())]
    Timeout {
        /// What was waited for.
        awaited: &'static str,
        /// How long.
        limit: Duration,
        /// What was seen last.
        evidence: String,
    },
}

impl Error {
    /// What kind of trouble it is.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Kubeconfig(_) => ErrorClass::Invalid,
            Self::Request { source, .. } => source.class(),
            Self::Timeout { .. } => ErrorClass::Timeout,
        }
    }
}
