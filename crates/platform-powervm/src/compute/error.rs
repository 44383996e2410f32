//! What can go wrong with partitions.

use std::{sync::Arc, time::Duration};

use landfall_platform::{ErrorClass, StepError};

/// What went wrong with a partition, or with what belongs to it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The console refused, or could not be asked.
    #[error("{attempt} on {host}")]
    Console {
        /// What was attempted.
        attempt: String,
        /// The server.
        host: String,
        /// Why not. Operations that share one update share its failure.
        source: Arc<crate::Error>,
    },
    /// Something that is needed is not there.
    #[error("there is no {what} on {host}")]
    Missing {
        /// What.
        what: String,
        /// The server.
        host: String,
    },
    /// Something cannot be done as things are.
    #[error("{what} of {host} cannot be {done}: {reason}")]
    Refused {
        /// What.
        what: String,
        /// The server.
        host: String,
        /// What cannot be done to it, as a participle.
        done: &'static str,
        /// Why not, and what to do about it.
        reason: String,
    },
    /// Somebody else works on it.
    #[error("{what} on {host} is in the hands of {whom}")]
    Busy {
        /// What.
        what: String,
        /// The server.
        host: String,
        /// Who.
        whom: String,
    },
}

impl Error {
    /// An error of the console.
    pub(crate) fn console(attempt: impl Into<String>, host: &str, source: impl Into<Arc<crate::Error>>) -> Self {
        Self::Console { attempt: attempt.into(), host: host.to_owned(), source: source.into() }
    }

    /// What kind of failure it is.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Console { source, .. } => source.class(),
            Self::Missing { .. } => ErrorClass::NotFound,
            Self::Refused { .. } => ErrorClass::Invalid,
            Self::Busy { .. } => ErrorClass::Locked,
        }
    }

    /// Returns how long the console asks to wait before the next attempt.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Console { source, .. } => source.retry_after(),
            Self::Missing { .. } | Self::Refused { .. } | Self::Busy { .. } => None,
        }
    }
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        let wait = error.retry_after();
        Self::new(error.class(), error).retry_after(wait)
    }
}
