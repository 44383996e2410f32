//! What can go wrong with IBM Cloud, whichever service.

use std::{fmt, io, path::PathBuf, time::Duration};

use landfall_platform::ErrorClass;
use serde_json::Value;

use crate::Reply;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No answer, or one that is not understood.
    #[error("the exchange failed")]
    Exchange(#[from] crate::Error),
    /// The API key is not accepted.
    #[error("the API key is not accepted: {0}")]
    Key(Fault),
    /// A token lacks what it should say.
    #[error("the token names no account")]
    NoAccount,
    /// There is no API key.
    #[error("there is no API key: IBMCLOUD_API_KEY is not set, and {} has none", .path.display())]
    NoKey {
        /// The file that could hold it.
        path: PathBuf,
    },
    /// There is no place for the credentials.
    #[error("the credentials file cannot be found because neither POWERVS_AUTH_FILEPATH nor HOME is set")]
    NoHome,
    /// A file could not be read or written.
    #[error("the credentials file {} cannot be used", .path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The credentials file is not understood. Its contents are secret, so nothing of it is told.
    #[error("the credentials file {} is not understood: it must be JSON with apikey", .path.display())]
    Format {
        /// Which file.
        path: PathBuf,
    },
}

impl Error {
    /// What kind of trouble it is.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Exchange(source) => source.class(),
            // A key that IAM does not know is answered with 400.
            Self::Key(fault) => match fault.class() {
                ErrorClass::Invalid | ErrorClass::NotFound => ErrorClass::Auth,
                class => class,
            },
            Self::NoAccount => ErrorClass::Auth,
            Self::NoKey { .. } | Self::NoHome | Self::File { .. } | Self::Format { .. } => ErrorClass::Invalid,
        }
    }

    /// How long the service asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Exchange(source) => source.retry_after(),
            Self::Key(fault) => fault.retry_after,
            _ => None,
        }
    }
}

/// What a service says when it refuses. Each service has a form of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The status.
    pub status: u16,
    /// A word or number for programs, if there is one.
    pub code: Option<String>,
    /// What it said.
    pub message: String,
    /// How long it asks to wait.
    pub retry_after: Option<Duration>,
}

impl Fault {
    /// Reads a reply that is a refusal.
    pub fn of(reply: &Reply) -> Self {
        let document: Value = reply.json().unwrap_or_default();
        let first = &document["errors"][0];
        let text = |value: &Value| match value {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let code = [&first["code"], &document["errorCode"], &document["error_code"], &document["code"]];
        // Power says a class and a detail; of both the detail is what helps.
        let said = [
            &first["message"],
            &document["description"],
            &document["errorMessage"],
            &document["message"],
            &document["error"],
        ];
        Self {
            status: reply.status(),
            code: code.into_iter().find_map(text),
            message: said.into_iter().find_map(text).unwrap_or_default(),
            retry_after: reply.retry_after(),
        }
    }

    /// What kind of trouble it is.
    pub fn class(&self) -> ErrorClass {
        // How gateways and VPC say that a quota is used up.
        let is_used_up = |code: &str| code.contains("quota") || code == "precondition_failed";
        if self.code.as_deref().is_some_and(is_used_up) {
            return ErrorClass::Capacity;
        }
        match self.status {
            401 | 403 => ErrorClass::Auth,
            404 | 410 => ErrorClass::NotFound,
            409 | 423 => ErrorClass::Locked,
            429 => ErrorClass::Throttled,
            408 | 500.. => ErrorClass::Transient,
            _ => ErrorClass::Invalid,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}", self.status)?;
        if let Some(code) = &self.code {
            write!(f, " ({code})")?;
        }
        if self.message.is_empty() { Ok(()) } else { write!(f, ": {}", self.message) }
    }
}
