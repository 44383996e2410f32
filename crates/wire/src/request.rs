//! A request, before it is sent.

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderName, HeaderValue};
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
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("None"),
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
