//! What can go wrong on Packet.

use std::{fmt, io, path::PathBuf, time::Duration};

use landfall_platform::{ErrorClass, StepError};

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No answer, or one that is not the API's.
    #[error("{attempt} at {api} failed")]
    Exchange {
        /// What was attempted.
        attempt: String,
        /// Which API.
        api: String,
        /// How.
        source: Box<landfall_wire::Error>,
    },
    /// The API refused.
    #[error("{attempt} at {api} was answered with {fault}")]
    Fault {
        /// What was attempted.
        attempt: String,
        /// Which API.
        api: String,
        /// What the API said.
        fault: Box<Fault>,
    },
    /// No place and plan had a server.
    #[error("no server for {machine} is to be had: {}", .tried.join("; "))]
    Capacity {
        /// Which machine.
        machine: String,
        /// What was tried, and what the API answered.
        tried: Vec<String>,
    },
    /// Reserved hardware is being wiped and comes back by itself.
    #[error("the reserved hardware for {machine} is being prepared and will be free in a few minutes")]
    Preparing {
        /// Which machine.
        machine: String,
    },
    /// The platform did not bring a machine up. The next attempt makes it anew.
    #[error("machine {machine} failed to provision ({state}); it is replaced")]
    Failed {
        /// Which machine.
        machine: String,
        /// The platform's word.
        state: String,
    },
    /// Something that is needed does not exist.
    #[error("{object} does not exist at {api}")]
    Missing {
        /// What.
        object: String,
        /// Which API.
        api: String,
    },
    /// Something with the name that an object needs exists and does not belong to the cluster.
    #[error("{object} exists and does not belong to the cluster")]
    Foreign {
        /// What.
        object: String,
    },
    /// Something is in a state from which it does not recover by itself.
    #[error("{object} is {state}")]
    State {
        /// What.
        object: String,
        /// Its state.
        state: String,
    },
    /// There is no API key.
    #[error("there is no API key: neither METAL_AUTH_TOKEN nor PACKET_AUTH_TOKEN is set, and {} does not exist", .path.display())]
    NoKey {
        /// The file that could hold it.
        path: PathBuf,
    },
    /// There is no place for the credentials.
    #[error("the credentials file cannot be found because neither PACKET_CONFIG nor HOME is set")]
    NoHome,
    /// A file could not be read or written.
    #[error("{attempt} {} failed", .path.display())]
    File {
        /// What was attempted: `reading`, `writing`.
        attempt: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The credentials file is not understood.
    #[error("the credentials file {} is not understood: {reason}", .path.display())]
    Format {
        /// Which file.
        path: PathBuf,
        /// What is wrong, without the contents, which are secret.
        reason: String,
    },
}

/// What the API says when it refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The status.
    pub status: u16,
    /// What it said.
    pub errors: Vec<String>,
    /// Whether it was the API that spoke, and not something before it.
    pub is_json: bool,
    /// How long it asks to wait.
    pub retry_after: Option<Duration>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}", self.status)?;
        if self.errors.is_empty() { Ok(()) } else { write!(f, ": {}", self.errors.join("; ")) }
    }
}

impl Fault {
    /// What kind of trouble it is.
    ///
    /// The API has one status, 422, for what is wrong with a request, for what is in the way, and for a lack of servers; its
    /// texts are all there is to tell them apart. A 403 that is not JSON comes from the gate before the API, which throttles
    /// with it.
    pub fn class(&self) -> ErrorClass {
        let text = self.errors.join(" ").to_ascii_lowercase();
        let says = |phrase: &str| text.contains(phrase);
        let no_server =
            ["no provisionable", "no available servers", "available servers in that metro", "no available hardware"];
        match self.status {
            403 if !self.is_json => ErrorClass::Throttled,
            401 | 403 => ErrorClass::Auth,
            404 => ErrorClass::NotFound,
            429 => ErrorClass::Throttled,
            422 | 503 if no_server.into_iter().any(says) || says("is not provisionable") => ErrorClass::Capacity,
            422 if says("while it is provisioning")
                || says("already assigned")
                || says("has assignments")
                || says("is attached") =>
            {
                ErrorClass::Locked
            }
            422 if says("quota") || says("maximum number") || says("requires approval") => ErrorClass::Capacity,
            408 | 500.. => ErrorClass::Transient,
            _ => ErrorClass::Invalid,
        }
    }
}

impl Error {
    /// What kind of failure it is.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Exchange { source, .. } => source.class(),
            Self::Fault { fault, .. } => fault.class(),
            Self::Capacity { .. } => ErrorClass::Capacity,
            Self::Preparing { .. } => ErrorClass::Locked,
            Self::Failed { .. } => ErrorClass::Transient,
            Self::Missing { .. } => ErrorClass::NotFound,
            Self::Foreign { .. }
            | Self::State { .. }
            | Self::NoKey { .. }
            | Self::NoHome
            | Self::File { .. }
            | Self::Format { .. } => ErrorClass::Invalid,
        }
    }

    /// The error and its causes in one line.
    pub fn chain(&self) -> String {
        landfall_platform::error_chain(self)
    }

    /// Whether nothing vouches for the API's certificate.
    pub fn is_untrusted(&self) -> bool {
        use landfall_wire::Error as Wire;
        matches!(self, Self::Exchange { source, .. } if matches!(**source, Wire::Certificate { .. } | Wire::Roots(_)))
    }

    /// How long the API asks to wait before the next attempt.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Fault { fault, .. } => fault.retry_after,
            Self::Exchange { source, .. } => source.retry_after(),
            _ => None,
        }
    }

    /// Whether the API said that there is no such thing. A device that failed on demand is answered with 403, as JSON.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self, Self::Fault { fault, .. } if fault.status == 404 || (fault.status == 403 && fault.is_json))
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
        for (status, is_json, text, class) in [
            (401, true, "Invalid authentication token", ErrorClass::Auth),
            (403, true, "You are not authorized to perform this action", ErrorClass::Auth),
            (403, false, "", ErrorClass::Throttled),
            (404, true, "Not found", ErrorClass::NotFound),
            (429, true, "", ErrorClass::Throttled),
            (422, true, "There are no provisionable c3.small.x86 servers matching your criteria", ErrorClass::Capacity),
            (422, true, "There aren't available servers in that metro", ErrorClass::Capacity),
            (503, true, "There are no available hardware reservations that match", ErrorClass::Capacity),
            (422, true, "Server is not provisionable", ErrorClass::Capacity),
            (422, true, "Cannot delete a device while it is provisioning", ErrorClass::Locked),
            (422, true, "Hostname is invalid", ErrorClass::Invalid),
            (503, true, "Service Unavailable", ErrorClass::Transient),
            (500, true, "Oh snap, something went wrong!", ErrorClass::Transient),
        ] {
            let fault = Fault { status, errors: vec![text.to_owned()], is_json, retry_after: None };
            assert_eq!(fault.class(), class, "{fault}");
        }
    }
}
