//! What can go wrong with an engine or its credentials.

use std::{io, path::PathBuf};

use landfall_platform::ErrorClass;

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
    #[error("{attempt} at {engine} failed")]
    Exchange {
        /// What was attempted.
        attempt: String,
        /// Which engine.
        engine: String,
        /// How.
        source: Box<landfall_wire::Error>,
    },
    /// The engine answered with a fault.
    #[error("{attempt} at {engine} was answered with status {status}: {reason}: {detail}")]
    Fault {
        /// What was attempted.
        attempt: String,
        /// Which engine.
        engine: String,
        /// The status.
        status: u16,
        /// The fault's reason.
        reason: String,
        /// The fault's detail.
        detail: String,
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

/// What kind of trouble a fault is.
///
/// The engine has one status, 409, for everything that is in the way: an operation under way, a name that is taken, hosts
/// and storage that are full. Its texts are all there is to tell them apart; they come from its message catalogue
/// (`AppErrors.properties`) and have not changed in years. What is not recognised counts as an operation under way, because
/// that is what passes.
fn fault_class(status: u16, detail: &str) -> ErrorClass {
    let says = |phrase: &str| detail.to_ascii_lowercase().contains(phrase);
    match status {
        401 | 403 => ErrorClass::Auth,
        404 => ErrorClass::NotFound,
        409 if says("no host that satisfies") || says("low disk space") || says("quota") => ErrorClass::Capacity,
        409 if says("name is already in use") || says("already exists") => ErrorClass::Invalid,
        409 => ErrorClass::Locked,
        500.. => ErrorClass::Transient,
        _ => ErrorClass::Invalid,
    }
}

impl Error {
    /// What kind of failure it is.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Exchange { source, .. } => source.class(),
            Self::Fault { status, detail, .. } => fault_class(*status, detail),
            Self::Login { .. } => ErrorClass::Auth,
            Self::Missing { .. } => ErrorClass::NotFound,
            Self::State { state, .. } if state == "locked" => ErrorClass::Locked,
            Self::State { .. } => ErrorClass::Invalid,
            Self::Address { .. }
            | Self::Authority { .. }
            | Self::Foreign { .. }
            | Self::NoHome
            | Self::File { .. }
            | Self::Format { .. }
            | Self::Incomplete { .. } => ErrorClass::Invalid,
        }
    }

    pub(crate) fn exchange(attempt: impl Into<String>, engine: &EngineUrl, source: landfall_wire::Error) -> Self {
        Self::Exchange { attempt: attempt.into(), engine: engine.host(), source: Box::new(source) }
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
        matches!(self, Self::Fault { status: 409, .. }) && self.class() == ErrorClass::Invalid
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
