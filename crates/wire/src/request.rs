//! A request, before it is sent.

use std::io;

use bytes::Bytes;
use futures::Stream;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

pub use reqwest::Method;

/// A request, before it is sent.
#[derive(Debug)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Body,
}

/// Forms may carry passwords, so they are not shown.
pub(crate) enum Body {
    None,
    Form(Vec<(&'static str, SecretString)>),
    Json(Bytes),
    Raw(Bytes),
    Stream(reqwest::Body),
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Stream(_) => f.write_str("a stream"),
            Self::Json(contents) | Self::Raw(contents) => write!(f, "{} bytes", contents.len()),
            Self::Form(fields) => f.debug_set().entries(fields.iter().map(|(name, _)| name)).finish(),
        }
    }
}

impl Request {
    /// A `GET`.
    pub fn get(url: Url) -> Self {
        Self { method: Method::GET, url, headers: Vec::new(), body: Body::None }
    }

    /// A `POST` of form fields.
    pub fn post_form(url: Url, fields: Vec<(&'static str, SecretString)>) -> Self {
        Self { method: Method::POST, url, headers: Vec::new(), body: Body::Form(fields) }
    }

    /// A request with a JSON document.
    pub fn json(method: Method, url: Url, document: &serde_json::Value) -> Self {
        Self { method, url, headers: Vec::new(), body: Body::Json(document.to_string().into()) }
    }

    /// A `PATCH` of a content type, which says how the contents are to be merged.
    pub fn patch(url: Url, content_type: &'static str, contents: Bytes) -> Self {
        let headers = vec![(CONTENT_TYPE, HeaderValue::from_static(content_type))];
        Self { method: Method::PATCH, url, headers, body: Body::Raw(contents) }
    }

    /// A `PUT` of bytes as they are.
    pub fn put(url: Url, contents: Bytes) -> Self {
        Self { method: Method::PUT, url, headers: Vec::new(), body: Body::Raw(contents) }
    }

    /// A `PUT` of something large, piece by piece. It may take any time as long as it does not stall.
    pub fn put_stream(url: Url, pieces: impl Stream<Item = io::Result<Bytes>> + Send + 'static) -> Self {
        let body = Body::Stream(reqwest::Body::wrap_stream(pieces));
        Self { method: Method::PUT, url, headers: Vec::new(), body }
    }

    /// A `POST` of bytes as they are.
    pub fn post(url: Url, contents: Bytes) -> Self {
        Self { method: Method::POST, ..Self::put(url, contents) }
    }

    /// A `DELETE`.
    pub fn delete(url: Url) -> Self {
        Self { method: Method::DELETE, url, headers: Vec::new(), body: Body::None }
    }

    /// A request without a body.
    pub fn bare(method: Method, url: Url) -> Self {
        Self { method, url, headers: Vec::new(), body: Body::None }
    }

    /// Its method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Carries a header whose value is no secret. A value that cannot stand in a header is left out.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((HeaderName::from_static(name), value));
        }
        self
    }

    /// Carries a header whose value is a secret, or contains one. A value that cannot stand in a header is left out.
    #[must_use]
    pub fn secret_header(mut self, name: &'static str, value: &SecretString) -> Self {
        if let Ok(mut value) = HeaderValue::from_str(value.expose_secret()) {
            value.set_sensitive(true);
            self.headers.push((HeaderName::from_static(name), value));
        }
        self
    }

    /// Asks for a JSON answer.
    #[must_use]
    pub fn accept_json(mut self) -> Self {
        self.headers.push((ACCEPT, HeaderValue::from_static("application/json")));
        self
    }

    /// Carries a bearer token. A token that cannot stand in a header is left out, which the server then refuses.
    #[must_use]
    pub fn bearer(mut self, token: &SecretString) -> Self {
        if let Ok(mut value) = HeaderValue::try_from(format!("Bearer {}", token.expose_secret())) {
            value.set_sensitive(true);
            self.headers.push((AUTHORIZATION, value));
        }
        self
    }

    /// Adds a query parameter.
    #[must_use]
    pub fn query(mut self, name: &str, value: &str) -> Self {
        self.url.query_pairs_mut().append_pair(name, value);
        self
    }
}
