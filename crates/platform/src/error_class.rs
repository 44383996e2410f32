//! What kind of trouble an error is. Retry, exit code and advice follow from the class, never from the text.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of trouble an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorClass {
    /// The network or the platform had a bad moment; whether the call took effect is unknown.
    Transient,
    /// The platform asks to slow down.
    Throttled,
    /// Another operation holds the object.
    Locked,
    /// Credentials are wrong, expired or lack a permission.
    Auth,
    /// The object, or one that it refers to, does not exist.
    NotFound,
    /// The platform refuses the request as it is.
    Invalid,
    /// Quota, storage, hosts or another resource is exhausted.
    Capacity,
    /// It took longer than it may.
    Timeout,
    /// A promise of the program itself is broken.
    Bug,
}

impl ErrorClass {
    /// Whether trying again, with nothing changed, can help.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::Transient | Self::Throttled | Self::Locked)
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Transient => "transient",
            Self::Throttled => "throttled",
            Self::Locked => "locked",
            Self::Auth => "auth",
            Self::NotFound => "not found",
            Self::Invalid => "invalid",
            Self::Capacity => "capacity",
            Self::Timeout => "timeout",
            Self::Bug => "bug",
        })
    }
}
