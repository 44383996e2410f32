//! What can go wrong on a machine.

use std::{io, path::PathBuf, time::Duration};

use landfall_platform::{ErrorClass, StepError};

use crate::program::ProgramError;

/// What went wrong on a machine.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be used.
    #[error("cannot {action} {}", path.display())]
    File {
        /// What was attempted.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// What the system answered.
        #[source]
        source: io::Error,
    },
    /// A file is there and not of the expected form.
    #[error("{} is not understood: {reason}", path.display())]
    NotUnderstood {
        /// Which file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The facts were written by another version.
    #[error(
        "{} has format {found}, this program reads {known}; use the landfall-node of the landfall that made the cluster",
        path.display()
    )]
    FactsFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The format that is read here.
        known: u32,
    },
    /// The facts lack what a command is about.
    #[error("the facts of this machine name no {0}; this command is not for machines of its role or distribution")]
    NoSuchFact(&'static str),
    /// The machine has no address in the networks of the cluster's machines.
    #[error("no address of this machine is in a machine network ({networks}); seen: {seen}")]
    NoAddress {
        /// The networks.
        networks: String,
        /// The addresses that it has.
        seen: String,
    },
    /// A program failed.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The cluster's API failed.
    #[error(transparent)]
    Cluster(#[from] landfall_cluster::Error),
    /// Another HTTP service of the cluster failed.
    #[error("{attempt} failed")]
    Request {
        /// What was attempted.
        attempt: String,
        /// How.
        #[source]
        source: Box<landfall_wire::Error>,
    },
    /// A file of the config server cannot be used.
    #[error(transparent)]
    Unreadable(#[from] crate::config_server::Unreadable),
    /// No way to the API worked.
    #[error("no way to the cluster's API worked: {}", failures.join("; "))]
    NoWay {
        /// What came of each way.
        failures: Vec<String>,
        /// Whether the credentials of one of them were not accepted, or cannot be used.
        is_refused: bool,
    },
    /// Something is not as it must be before the next thing can be done.
    #[error("{0}")]
    NotYet(String),
    /// Waiting took too long.
    #[error("{awaited} did not come within {} s; last seen: {evidence}", limit.as_secs())]
    Timeout {
        /// What was waited for.
        awaited: &'static str,
        /// How long.
        limit: Duration,
        /// What was seen last.
        evidence: String,
    },
    /// The network cannot be used as wanted.
    #[error("cannot {action}")]
    Network {
        /// What was attempted.
        action: String,
        /// What the system answered.
        #[source]
        source: io::Error,
    },
}

impl Error {
    /// For `map_err` after using a file.
    pub(crate) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }

    /// What kind of trouble it is. Programs and the API fail while a cluster comes up, and that passes; what is wrong in
    /// files does not.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::File { .. }
            | Self::Unreadable(_)
            | Self::Program(_)
            | Self::Network { .. }
            | Self::NoWay { .. }
            | Self::NotYet(_)
            // Addresses come by DHCP, sometimes late.
            | Self::NoAddress { .. } => ErrorClass::Transient,
            Self::NotUnderstood { .. } | Self::FactsFormat { .. } | Self::NoSuchFact(_) => ErrorClass::Invalid,
            Self::Cluster(error) => error.class(),
            Self::Request { source, .. } => source.class(),
            Self::Timeout { .. } => ErrorClass::Timeout,
        }
    }
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        Self::new(error.class(), error)
    }
}
