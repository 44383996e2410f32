//! What can go wrong with an engine or its credentials.

use std::{fmt, io, path::PathBuf, time::Duration};

use landfall_platform::{ErrorClass, StepError};
use landfall_wire::ImageError;

use crate::client::EngineUrl;

/// What went wrong with an engine or its credentials.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not the address of an engine.
    #[error("'{text}' is not the address of an engine: {reason}")]
    Address {
        /// What was given.
        text: String,
        /// Why it is not one.
        reason: &'static str,
    },
    /// The exchange with the engine failed.
    #[error("{attempt} at {engine} failed{}", correlated(.correlation.as_ref()))]
    Exchange {
        /// What was attempted.
        attempt: String,
        /// Which engine.
        engine: String,
        /// Under which correlation id the engine's log and events have it, if it was to change something.
        correlation: Option<String>,
        /// How.
        source: Box<landfall_wire::Error>,
    },
    /// The engine answered with a fault.
    #[error("{attempt} at {engine} was answered with {fault}")]
    Fault {
        /// What was attempted.
        attempt: String,
        /// Which engine.
        engine: String,
        /// What the engine said.
        fault: Box<Fault>,
    },
    /// A machine does not come up. What the engine logged about it says more than its answers do.
    #[error("machine {machine} at {engine} does not start{}", logged(.events))]
    Start {
        /// Which machine.
        machine: String,
        /// Which engine.
        engine: String,
        /// What the engine logged about it.
        events: Vec<String>,
        /// What the engine answered.
        source: Box<Error>,
    },
    /// The bytes of an image could not be handed over.
    #[error("{attempt} failed")]
    Transfer {
        /// What was attempted.
        attempt: String,
        /// How.
        source: Box<landfall_wire::Error>,
    },
    /// What was handed over is not what was to be handed over.
    #[error("{object} at {engine} does not hold what was uploaded to it")]
    Corrupt {
        /// What.
        object: String,
        /// Which engine.
        engine: String,
    },
    /// An image cannot be used.
    #[error("the image {image} cannot be used: {reason}")]
    Image {
        /// Path or URL.
        image: String,
        /// Why not.
        reason: String,
    },
    /// An image could not be fetched.
    #[error("downloading the image {image} failed")]
    Download {
        /// Its URL.
        image: String,
        /// How.
        source: Box<landfall_wire::Error>,
    },
    /// The engine does not let the user in.
    #[error("the engine at {engine} refused user {user}: {answer}")]
    Login {
        /// Which engine.
        engine: String,
        /// Who.
        user: String,
        /// What the engine said.
        answer: String,
    },
    /// Something is in a state from which it does not recover by itself.
    #[error("{object} at {engine} is {state}")]
    State {
        /// What.
        object: String,
        /// Which engine.
        engine: String,
        /// Its state, in the engine's word.
        state: String,
    },
    /// Something with the name that an object needs exists and does not belong to the cluster.
    #[error("{object} exists at {engine} and does not belong to the cluster")]
    Foreign {
        /// What.
        object: String,
        /// Which engine.
        engine: String,
    },
    /// Something that an object refers to does not exist.
    #[error("{object} does not exist at {engine}")]
    Missing {
        /// What.
        object: String,
        /// Which engine.
        engine: String,
    },
    /// A text is not a CA certificate.
    #[error("{origin} is not a CA certificate in PEM form: {reason}")]
    Authority {
        /// Where it came from.
        origin: String,
        /// Why it is not one.
        reason: String,
    },
    /// There is no place for the credentials.
    #[error("the credentials file cannot be found because neither OVIRT_CONFIG nor HOME is set")]
    NoHome,
    /// A file could not be read or written.
    #[error("{attempt} {} failed", .path.display())]
    File {
        /// `reading` or `writing`.
        attempt: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The credentials file is not YAML.
    #[error("the credentials file {} is not understood: {reason}", .path.display())]
    Format {
        /// Which file.
        path: PathBuf,
        /// What is wrong, without the contents, which are secret.
        reason: String,
    },
    /// The credentials file lacks something.
    #[error("the credentials file {} lacks {key}", .path.display())]
    Incomplete {
        /// Which file.
        path: PathBuf,
        /// What is missing.
        key: &'static str,
    },
}

/// What an engine says when it refuses or fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The status.
    pub status: u16,
    /// The reason, which is nearly always the same.
    pub reason: String,
    /// The detail.
    pub detail: String,
    /// Under which correlation id the engine's log and events have it.
    pub correlation: String,
    /// How long the engine asks to wait.
    pub retry_after: Option<Duration>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, reason, detail, correlation, .. } = self;
        write!(f, "status {status}: {reason}: {detail}{}", correlated(Some(correlation)))
    }
}

fn correlated(id: Option<&String>) -> String {
    id.map_or_else(String::new, |id| format!(" (correlation id {id})"))
}

fn logged(texts: &[String]) -> String {
    if texts.is_empty() { String::new() } else { format!("; the engine logged: {}", texts.join("; ")) }
}

/// What kind of trouble a fault is.
///
/// The engine has one status, 409, for everything that is in the way: an operation under way, a name that is taken, hosts
/// and storage that are full. Its texts are all there is to tell them apart; they come from its message catalogue
/// (`AppErrors.properties`) and have not changed in years. What is not recognised counts as an operation under way, because
/// that is what passes.
fn fault_class(status: u16, detail: &str) -> ErrorClass {
    let detail = detail.to_ascii_lowercase();
    let says = |phrase: &str| detail.contains(phrase);
    match status {
        401 | 403 => ErrorClass::Auth,
        404 => ErrorClass::NotFound,
        429 => ErrorClass::Throttled,
        409 if ["no host that satisfies", "low disk space", "quota", "not enough memory"].into_iter().any(says) => {
            ErrorClass::Capacity
        }
        409 if says("name is already in use") || says("already exists") => ErrorClass::Invalid,
        409 => ErrorClass::Locked,
        408 | 500.. => ErrorClass::Transient,
        _ => ErrorClass::Invalid,
    }
}

impl Error {
    /// What kind of failure it is.
    pub fn class(&self) -> ErrorClass {
        match self {
            // The engine gave out a token and did not take it, as while it restarts. Users who may not do something get a
            // fault, and those who are not let in get no token.
            Self::Exchange { source, .. } if source.status() == Some(401) => ErrorClass::Transient,
            // A ticket that is not good any more: the next attempt looks for the transfer again.
            Self::Transfer { source, .. } if source.status() == Some(403) => ErrorClass::Transient,
            Self::Exchange { source, .. } | Self::Transfer { source, .. } | Self::Download { source, .. } => {
                source.class()
            }
            Self::Fault { fault, .. } => fault_class(fault.status, &fault.detail),
            Self::Start { source, .. } => source.class(),
            Self::Corrupt { .. } => ErrorClass::Transient,
            Self::Login { .. } => ErrorClass::Auth,
            Self::Missing { .. } => ErrorClass::NotFound,
            Self::State { state, .. } if state == "locked" => ErrorClass::Locked,
            // The next attempt starts it again, perhaps on another host, or makes it again.
            Self::State { state, .. } if state == "down" || state == "gone" => ErrorClass::Transient,
            Self::State { .. }
            | Self::Address { .. }
            | Self::Authority { .. }
            | Self::Image { .. }
            | Self::Foreign { .. }
            | Self::NoHome
            | Self::File { .. }
            | Self::Format { .. }
            | Self::Incomplete { .. } => ErrorClass::Invalid,
        }
    }

    pub(crate) fn exchange(attempt: impl Into<String>, engine: &EngineUrl, source: landfall_wire::Error) -> Self {
        Self::Exchange { attempt: attempt.into(), engine: engine.host(), correlation: None, source: Box::new(source) }
    }

    /// How long the engine asks to wait before the next attempt.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Fault { fault, .. } => fault.retry_after,
            Self::Exchange { source, .. } | Self::Transfer { source, .. } | Self::Download { source, .. } => {
                source.retry_after()
            }
            Self::Start { source, .. } => source.retry_after(),
            _ => None,
        }
    }

    /// The error and its causes on one line, for notices.
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }

    /// Whether a name is taken by an object that was made meanwhile, perhaps by a request whose answer was lost.
    pub(crate) fn is_name_taken(&self) -> bool {
        matches!(self, Self::Fault { fault, .. } if fault.status == 409) && self.class() == ErrorClass::Invalid
    }

    /// Whether the engine's certificate is what failed.
    pub fn is_untrusted(&self) -> bool {
        use landfall_wire::Error as Wire;
        match self {
            Self::Exchange { source, .. } => matches!(**source, Wire::Certificate { .. } | Wire::Roots(_)),
            _ => false,
        }
    }
}

impl From<ImageError> for Error {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::Unusable { image, reason } => Self::Image { image, reason },
            ImageError::Download { image, source } => Self::Download { image, source },
            ImageError::File { attempt, path, source } => Self::File { attempt, path, source },
        }
    }
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        let wait = error.retry_after();
        Self::new(error.class(), error).retry_after(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_apart() {
        for (status, detail, class) in [
            (400, "[]", ErrorClass::Invalid),
            (401, "", ErrorClass::Auth),
            (403, "[User is not authorized to perform this action.]", ErrorClass::Auth),
            (404, "Entity not found: x", ErrorClass::NotFound),
            (409, "[Cannot edit VM. VM is locked. Please try again later.]", ErrorClass::Locked),
            (409, "[Related operation is currently in progress. Please try again later.]", ErrorClass::Locked),
            (409, "[Cannot add VM. The VM name is already in use, please choose a unique name.]", ErrorClass::Invalid),
            (
                409,
                "[Cannot run VM. There is no host that satisfies current scheduling constraints.]",
                ErrorClass::Capacity,
            ),
            (409, "[Cannot add Virtual Disk. Low disk space on Storage Domain data.]", ErrorClass::Capacity),
            (409, "[Cannot run VM. Quota for the Cluster is exceeded.]", ErrorClass::Capacity),
            (429, "", ErrorClass::Throttled),
            (500, "", ErrorClass::Transient),
        ] {
            assert_eq!(fault_class(status, detail), class, "{status} {detail}");
        }
    }

    #[test]
    fn what_the_engine_asks_and_logs_is_passed_on() {
        let fault = Error::Fault {
            attempt: "start of machine a".to_owned(),
            engine: "engine".to_owned(),
            fault: Box::new(Fault {
                status: 429,
                reason: "Operation Failed".to_owned(),
                detail: "[]".to_owned(),
                correlation: "landfall-1".to_owned(),
                retry_after: Some(Duration::from_secs(7)),
            }),
        };
        let events = vec!["VM a is down with error".to_owned()];
        let error =
            Error::Start { machine: "a".to_owned(), engine: "engine".to_owned(), events, source: Box::new(fault) };
        assert_eq!(
            error.chain(),
            "machine a at engine does not start; the engine logged: VM a is down with error: start of machine a at engine \
             was answered with status 429: Operation Failed: [] (correlation id landfall-1)"
        );
        let error = StepError::from(error);
        assert_eq!((error.class(), error.wait()), (ErrorClass::Throttled, Some(Duration::from_secs(7))));
    }
}
