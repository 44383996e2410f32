//! What can go wrong on the wire.

use std::{error::Error as StdError, io, num::NonZeroU32, time::Duration};

use landfall_platform::ErrorClass;
use reqwest::{Method, StatusCode};
use url::Url;

use crate::Limits;

/// What went wrong on the wire. No variant holds request contents or header values, so no secrets.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The CA certificates are not readable.
    #[error("the CA certificates cannot be used")]
    Roots(#[source] reqwest::Error),
    /// The client certificate and key are not usable.
    #[error("the client certificate and key cannot be used")]
    Identity(#[source] reqwest::Error),
    /// The PEM text holds no certificate.
    #[error("the PEM text for the CA holds no certificate")]
    NoRoots,
    /// No connection came about: name unknown, refused, unreachable.
    #[error("no connection to {url}")]
    Connect {
        /// What was to be reached.
        url: Url,
        /// Why not.
        source: reqwest::Error,
    },
    /// The server's certificate is not accepted.
    #[error("the certificate of {url} is not trusted")]
    Certificate {
        /// What was to be reached.
        url: Url,
        /// Why not.
        source: Box<rustls::Error>,
    },
    /// It took too long.
    #[error("{url} did not answer within {} s", .limit.as_secs())]
    Timeout {
        /// What was asked.
        url: Url,
        /// How long it was given.
        limit: Duration,
    },
    /// The exchange broke off.
    #[error("the exchange with {url} broke off")]
    Broken {
        /// What was asked.
        url: Url,
        /// How.
        source: reqwest::Error,
    },
    /// The answer is larger than any answer should be.
    #[error("the answer of {url} is larger than {limit} bytes")]
    TooLarge {
        /// What was asked.
        url: Url,
        /// The limit.
        limit: usize,
    },
    /// The server refused or failed.
    #[error("{method} {url} was answered with {status}")]
    Status {
        /// What was attempted.
        method: Method,
        /// On what.
        url: Url,
        /// What was answered.
        status: StatusCode,
        /// How many seconds the server asks to wait before the next attempt.
        retry_after_secs: Option<NonZeroU32>,
    },
    /// The server sends the client elsewhere, which no API spoken here does.
    #[error("{url} redirects to {target}; is the address right?")]
    Redirect {
        /// What was asked.
        url: Url,
        /// Where it points.
        target: String,
    },
    /// Something for people answered instead of an API.
    #[error("{url} answered with a web page ({title}, status {status}) instead of data; is the address right?")]
    WebPage {
        /// What was asked.
        url: Url,
        /// The page's title.
        title: String,
        /// The status.
        status: u16,
    },
    /// The answer is not what the API promises.
    #[error("the answer of {url} is not understood")]
    Decode {
        /// What was asked.
        url: Url,
        /// Where in the answer, and why.
        source: Box<serde_path_to_error::Error<serde_json::Error>>,
    },
}

impl Error {
    /// What kind of failure it is.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Connect { .. } | Self::Timeout { .. } | Self::Broken { .. } => ErrorClass::Transient,
            Self::Status { status, .. } => class_of(*status),
            Self::Roots(_)
            | Self::Identity(_)
            | Self::NoRoots
            | Self::Certificate { .. }
            | Self::TooLarge { .. }
            | Self::Redirect { .. }
            | Self::WebPage { .. }
            | Self::Decode { .. } => ErrorClass::Invalid,
        }
    }

    /// How long the server asks to wait before the next attempt.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after_secs, .. } => {
                retry_after_secs.map(|secs| Duration::from_secs(secs.get().into()))
            }
            _ => None,
        }
    }

    /// The status of an answer that is a refusal.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Status { status, .. } => Some(status.as_u16()),
            Self::WebPage { status, .. } => Some(*status),
            _ => None,
        }
    }

    pub(crate) fn from_exchange(url: &Url, limits: Limits, error: reqwest::Error) -> Self {
        let url = url.clone();
        let error = error.without_url();
        if let Some(source) = tls_error(&error)
            && matches!(source, rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented)
        {
            return Self::Certificate { url, source: Box::new(source.clone()) };
        }
        if error.is_timeout() {
            let limit = if error.is_connect() { limits.connect } else { limits.exchange };
            return Self::Timeout { url, limit };
        }
        if error.is_connect() { Self::Connect { url, source: error } } else { Self::Broken { url, source: error } }
    }
}

fn class_of(status: StatusCode) -> ErrorClass {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ErrorClass::Auth,
        StatusCode::NOT_FOUND | StatusCode::GONE => ErrorClass::NotFound,
        StatusCode::CONFLICT | StatusCode::LOCKED => ErrorClass::Locked,
        StatusCode::TOO_MANY_REQUESTS => ErrorClass::Throttled,
        StatusCode::REQUEST_TIMEOUT => ErrorClass::Transient,
        StatusCode::INSUFFICIENT_STORAGE => ErrorClass::Capacity,
        status if status.is_server_error() => ErrorClass::Transient,
        _ => ErrorClass::Invalid,
    }
}

/// The TLS error in a chain. It hides inside I/O errors, which do not name what they wrap as their source.
fn tls_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a rustls::Error> {
    let mut link = Some(error);
    while let Some(error) = link {
        if let Some(found) = error.downcast_ref::<rustls::Error>() {
            return Some(found);
        }
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        link = match wrapped {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_class() {
        for (status, class) in [
            (400, ErrorClass::Invalid),
            (401, ErrorClass::Auth),
            (403, ErrorClass::Auth),
            (404, ErrorClass::NotFound),
            (409, ErrorClass::Locked),
            (429, ErrorClass::Throttled),
            (500, ErrorClass::Transient),
            (503, ErrorClass::Transient),
            (507, ErrorClass::Capacity),
        ] {
            assert_eq!(class_of(StatusCode::from_u16(status).unwrap()), class, "{status}");
        }
    }
}
