//! What can go wrong with somebody else's zone.

use std::{io, path::PathBuf, time::Duration};

use landfall_platform::{ErrorClass, InfraId, StepError};

use crate::{Name, NameError, RecordSet};

/// What went wrong with a zone, or with the service that holds it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name belongs to another cluster.
    #[error(
        "{name} at {service} belongs to the cluster {owner}, so it is left alone; destroy that cluster, or choose another name"
    )]
    Foreign {
        /// Which name.
        name: Name,
        /// Where.
        service: String,
        /// Whose it is.
        owner: InfraId,
    },
    /// The name has records that no cluster made.
    #[error("{} exists at {service} and carries no mark of a cluster, so it is left alone; remove it, or choose another name", list(.records))]
    Occupied {
        /// What is there.
        records: Vec<RecordSet>,
        /// Where.
        service: String,
    },
    /// What a change relied on does not hold.
    #[error("the records of {name} at {service} are not what they were taken for: {answer}")]
    Guard {
        /// Which name.
        name: Name,
        /// Where.
        service: String,
        /// What the service said.
        answer: String,
    },
    /// The service does not have the zone.
    #[error("{service} has no zone {zone}")]
    NoZone {
        /// Which zone.
        zone: String,
        /// Where.
        service: String,
    },
    /// Several zones have the name.
    #[error("{service} has {count} zones {zone}; say which one with 'zoneId'")]
    AmbiguousZone {
        /// Which zone.
        zone: Name,
        /// Where.
        service: String,
        /// How many.
        count: usize,
    },
    /// A name server cannot be found.
    #[error("the name server {server} is not known here")]
    UnknownServer {
        /// Which one.
        server: String,
        /// Why not.
        source: io::Error,
    },
    /// The exchange with a name server failed.
    #[error("{attempt} at {server} failed")]
    Exchange {
        /// What was attempted.
        attempt: String,
        /// Which server.
        server: String,
        /// How.
        source: io::Error,
    },
    /// A name server did not answer.
    #[error("{attempt} at {server} was not answered within {} s", .limit.as_secs())]
    Silence {
        /// What was attempted.
        attempt: String,
        /// Which server.
        server: String,
        /// How long it was given.
        limit: Duration,
    },
    /// A name server answered with something that is not DNS.
    #[error("{attempt} at {server} was answered with something that is not understood: {reason}")]
    Malformed {
        /// What was attempted.
        attempt: String,
        /// Which server.
        server: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A name server refused.
    #[error("{attempt} at {server} was answered with {code}{}", advice(.code))]
    Refused {
        /// What was attempted.
        attempt: String,
        /// Which server.
        server: String,
        /// The response code, as RFCs spell it.
        code: &'static str,
    },
    /// A name server does not accept the signature.
    #[error("{server} does not accept the TSIG key {key}: {reason}")]
    Key {
        /// Which server.
        server: String,
        /// Name of the key.
        key: Name,
        /// What it said.
        reason: String,
    },
    /// The answer of a name server is not signed as it must be.
    #[error("the answer of {server} is not signed with the TSIG key {key}: {reason}")]
    Unsigned {
        /// Which server.
        server: String,
        /// Name of the key.
        key: Name,
        /// What is wrong with it.
        reason: String,
    },
    /// A file with a secret cannot be read.
    #[error("cannot read {}, which holds the {what}", path.display())]
    ReadSecret {
        /// Which file.
        path: PathBuf,
        /// What is in it.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A file does not hold the secret that it should hold.
    #[error("{} does not hold {what}: {reason}", path.display())]
    BadSecret {
        /// Which file.
        path: PathBuf,
        /// What should be in it.
        what: &'static str,
        /// Why it is not one.
        reason: &'static str,
    },
    /// There are no credentials.
    #[error("there are no AWS credentials: {reason}")]
    NoCredentials {
        /// Where they were looked for.
        reason: String,
    },
    /// The account at IBM Cloud cannot be used.
    #[error("the account at IBM Cloud cannot be used")]
    Account(#[source] Box<landfall_wire::ibm_cloud::Error>),
    /// The exchange with an API failed.
    #[error("{attempt} at {service} failed")]
    Http {
        /// What was attempted.
        attempt: String,
        /// Which service.
        service: String,
        /// How.
        source: Box<landfall_wire::Error>,
    },
    /// An API refused.
    #[error("{attempt} at {service} was answered with {code}: {message}")]
    Api {
        /// What was attempted.
        attempt: String,
        /// Which service.
        service: String,
        /// The code of the error.
        code: String,
        /// What the service said about it.
        message: String,
        /// What kind of trouble it is.
        class: ErrorClass,
        /// How long the service asks to wait.
        retry_after: Option<Duration>,
    },
    /// A record cannot be seen where it should be.
    #[error("{what} after {} s: {seen}", .waited.as_secs())]
    Invisible {
        /// What was waited for.
        what: String,
        /// For how long.
        waited: Duration,
        /// What was seen instead.
        seen: String,
    },
    /// A text is not a name.
    #[error(transparent)]
    Name(#[from] NameError),
}

fn list(records: &[RecordSet]) -> String {
    if records.is_empty() {
        return "a record".to_owned();
    }
    records.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn advice(code: &str) -> &'static str {
    match code {
        "REFUSED" => "; does the server let this key read and update the zone?",
        "NOTAUTH" => "; is it the primary name server of the zone?",
        "NOTZONE" => "; do the records lie in the zone?",
        _ => "",
    }
}

impl Error {
    /// What kind of failure it is.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Guard { .. } => ErrorClass::Locked,
            Self::NoZone { .. } => ErrorClass::NotFound,
            Self::UnknownServer { .. } | Self::Exchange { .. } | Self::Silence { .. } => ErrorClass::Transient,
            Self::Refused { code, .. } => match *code {
                "SERVFAIL" => ErrorClass::Transient,
                "REFUSED" => ErrorClass::Auth,
                "NOTAUTH" => ErrorClass::NotFound,
                _ => ErrorClass::Invalid,
            },
            Self::Key { .. } | Self::ReadSecret { .. } | Self::BadSecret { .. } | Self::NoCredentials { .. } => {
                ErrorClass::Auth
            }
            Self::Http { source, .. } => source.class(),
            Self::Account(source) => source.class(),
            Self::Api { class, .. } => *class,
            Self::Invisible { .. } => ErrorClass::Timeout,
            Self::Foreign { .. }
            | Self::Occupied { .. }
            | Self::AmbiguousZone { .. }
            | Self::Malformed { .. }
            | Self::Unsigned { .. }
            | Self::Name(_) => ErrorClass::Invalid,
        }
    }

    /// How long the service asks to wait before the next attempt.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Http { source, .. } => source.retry_after(),
            Self::Account(source) => source.retry_after(),
            Self::Api { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The error with its causes on one line.
    pub fn chain(&self) -> String {
        landfall_platform::error_chain(self)
    }
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        let (class, wait) = (error.class(), error.retry_after());
        StepError::new(class, error).retry_after(wait)
    }
}
