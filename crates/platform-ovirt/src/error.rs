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

impl Error {
    /// What kind of failure it is.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Exchange { source, .. } => source.class(),
            Self::Fault { status: 404, .. } => ErrorClass::NotFound,
            Self::Fault { status: 409, .. } => ErrorClass::Locked,
            Self::Fault { status: 401 | 403, .. } | Self::Login { .. } => ErrorClass::Auth,
            Self::Fault { status: 500.., .. } => ErrorClass::Transient,
            Self::Fault { .. }
            | Self::Address { .. }
            | Self::Authority { .. }
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

    /// Whether the engine's certificate is what failed.
    pub fn is_untrusted(&self) -> bool {
        use landfall_wire::Error as Wire;
        match self {
            Self::Exchange { source, .. } => matches!(**source, Wire::Certificate { .. } | Wire::Roots(_)),
            _ => false,
        }
    }
}
