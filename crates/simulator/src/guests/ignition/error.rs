//! Why a machine ends in the emergency shell.

/// Why a machine ends in the emergency shell.
#[derive(Debug, thiserror::Error)]
pub(in crate::guests) enum IgnitionError {
    #[error("the user data is for cloud-init, which this system does not have")]
    CloudInit,
    #[error("the config is not JSON of the expected form")]
    Json(#[source] serde_json::Error),
    #[error("the config has spec version '{version}'; this Ignition reads 3.0.0 to 3.3.0")]
    Version { version: String },
    #[error("the path '{path}' is not absolute")]
    Path { path: String },
    #[error("'{name}' is in the config twice")]
    Twice { name: String },
    #[error("the source '{url}' cannot be used: {reason}")]
    Source { url: String, reason: String },
    #[error("what came from '{url}' does not have the digest {expected}")]
    Digest { url: String, expected: String },
    #[error("GET {url} was answered with {status}: {text}")]
    Answer { url: String, status: u16, text: String },
    #[error("GET {url} did not succeed within the {seconds} s that the config allows; at the end: {evidence}")]
    TotalTime { url: String, seconds: u64, evidence: String },
    #[error("the certificate authorities that the config pins cannot be read")]
    Trust(#[source] rustls::Error),
    #[error("configs point to each other more than {limit} times")]
    Depth { limit: usize },
}
