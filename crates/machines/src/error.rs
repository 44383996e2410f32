//! What can go wrong with the controllers.

use landfall_platform::{ErrorClass, StepError};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The cluster's API refused or failed.
    #[error("{attempt} failed")]
    Api {
        /// What was attempted.
        attempt: String,
        /// How.
        #[source]
        source: Box<ApiFailure>,
    },
    /// It is not known how to reach the cluster's API.
    #[error("cannot tell how to reach the cluster: {0}")]
    Access(String),
    /// The platform refused or failed.
    #[error("{attempt} failed")]
    Platform {
        /// What was attempted.
        attempt: String,
        /// How.
        #[source]
        source: StepError,
    },
    /// A Secret that a machine needs is not there or not complete.
    #[error("the Secret {name} {problem}")]
    Secret {
        /// Its name.
        name: String,
        /// What is the matter with it.
        problem: &'static str,
    },
    /// A provider spec is of no platform that is known.
    #[error("no platform has provider specs of kind '{0}'")]
    Kind(String),
    /// A provider spec is not one.
    #[error("the provider spec is not understood: {0}")]
    ProviderSpec(String),
    /// Another controller leads now.
    #[error("the lease {0} could not be renewed in time; another controller may lead now")]
    LeaseLost(String),
    /// A reconciler met a defect.
    #[error("the controller panicked: {0}")]
    Panicked(String),
    /// The address for metrics cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// How the cluster's API refused or failed: what it answered, for people.
#[derive(Debug)]
pub struct ApiFailure(kube::Error);

impl std::fmt::Display for ApiFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            kube::Error::Api(status) if !status.message.is_empty() => write!(f, "{} ({})", status.message, status.code),
            error => error.fmt(f),
        }
    }
}

impl std::error::Error for ApiFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            kube::Error::Api(_) => None,
            error => error.source(),
        }
    }
}

impl Error {
    /// For `map_err` on calls to the cluster's API.
    pub(crate) fn api(attempt: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let attempt = attempt.into();
        move |source| Self::Api { attempt, source: Box::new(ApiFailure(source)) }
    }

    /// What kind of trouble it is.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Api { source, .. } => match status_code(&source.0) {
                Some(404) => ErrorClass::NotFound,
                Some(409) => ErrorClass::Locked,
                Some(401 | 403) => ErrorClass::Auth,
                Some(400 | 422) => ErrorClass::Invalid,
                Some(429) => ErrorClass::Throttled,
                _ => ErrorClass::Transient,
            },
            Self::Platform { source, .. } => source.class(),
            Self::Secret { .. } => ErrorClass::Auth,
            Self::Access(_) | Self::Kind(_) | Self::ProviderSpec(_) | Self::Listen { .. } => ErrorClass::Invalid,
            Self::LeaseLost(_) => ErrorClass::Transient,
            Self::Panicked(_) => ErrorClass::Bug,
        }
    }

    /// Whether somebody else has changed the object meanwhile: what is known of it is old, and newer is on its way.
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Api { source, .. } if status_code(&source.0) == Some(409))
    }

    /// Whether the object is not there.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Api { source, .. } if status_code(&source.0) == Some(404))
    }
}

/// The status code with which the API server answered.
pub(crate) fn status_code(error: &kube::Error) -> Option<u16> {
    match error {
        kube::Error::Api(status) => Some(status.code),
        _ => None,
    }
}
