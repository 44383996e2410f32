//! The HTTP client.

use std::{net::SocketAddr, time::Duration};

use bytes::{Bytes, BytesMut};
use reqwest::{Certificate, header::CONTENT_TYPE, redirect::Policy};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::{Error, Reply, Request, Trust, request::Body};

/// What takes longer than a day is not going to end.
const LONGEST_TRANSFER: Duration = Duration::from_hours(24);
/// Mirrors redirect once or twice.
const REDIRECTS: usize = 5;

/// How long and how much.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For a connection to come about, TLS included.
    pub connect: Duration,
    /// For a whole exchange.
    pub exchange: Duration,
    /// For the size of an answer in bytes. Answers are read into memory.
    pub answer: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), exchange: Duration::from_secs(30), answer: 64 << 20 }
    }
}

/// Sends requests. Cheap to clone; clones share their connections.
///
/// Redirects are not followed: the APIs spoken here never redirect, so one is a sign of a wrong address, and following it
/// could carry credentials elsewhere. Proxies are taken from the customary environment variables.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    limits: Limits,
}

impl Client {
    /// A client that trusts as told.
    pub fn new(trust: &Trust, limits: Limits) -> Result<Self, Error> {
        Self::builder(trust, limits)?.build()
    }

    /// A client that trusts as told, to be made more particular.
    pub fn builder(trust: &Trust, limits: Limits) -> Result<ClientBuilder, Error> {
        let builder = reqwest::Client::builder()
            .user_agent(concat!("landfall/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(limits.connect)
            .timeout(limits.exchange)
            .read_timeout(limits.exchange)
            .redirect(Policy::none());
        let builder = match trust {
            Trust::System => builder,
            Trust::Only(pem) => {
                let certificates = Certificate::from_pem_bundle(pem.as_bytes()).map_err(Error::Roots)?;
                if certificates.is_empty() {
                    return Err(Error::NoRoots);
                }
                builder.tls_certs_only(certificates)
            }
            Trust::Unverified => builder.tls_danger_accept_invalid_certs(true),
        };
        Ok(ClientBuilder { builder, limits })
    }

    /// Sends a request and reads the whole answer, whatever its status.
    pub async fn send(&self, request: Request) -> Result<Reply, Error> {
        let (method, url) = (request.method.clone(), request.url.clone());
        let failed = |error| Error::from_exchange(&url, self.limits, error);
        let mut response = self.prepare(request).send().await.map_err(failed)?;
        let mut contents = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if contents.len() + chunk.len() > self.limits.answer {
                return Err(Error::TooLarge { url: url.clone(), limit: self.limits.answer });
            }
            contents.extend_from_slice(&chunk);
        }
        Ok(Reply {
            method,
            url: url.clone(),
            status: response.status(),
            headers: response.headers().clone(),
            contents: contents.freeze(),
        })
    }

    /// Asks for something large, which is then read piece by piece. It may take any time as long as it does not stall.
    pub async fn download(&self, request: Request) -> Result<Download, Error> {
        let (method, url) = (request.method.clone(), request.url.clone());
        let response = self.prepare(request).timeout(LONGEST_TRANSFER).send().await;
        let response = response.map_err(|error| Error::from_exchange(&url, self.limits, error))?;
        if response.status().is_success() {
            return Ok(Download { response, url, limits: self.limits });
        }
        let (status, headers) = (response.status(), response.headers().clone());
        Err(Reply { method, url, status, headers, contents: Bytes::new() }.refusal())
    }

    fn prepare(&self, request: Request) -> reqwest::RequestBuilder {
        let Request { method, url, headers, body } = request;
        let mut builder = self.http.request(method, url);
        for (name, value) in headers {
            builder = builder.header(name, value);
        }
        match body {
            Body::None => builder,
            Body::Json(document) => builder.header(CONTENT_TYPE, "application/json").body(document),
            Body::Raw(contents) => builder.body(contents),
            Body::Stream(pieces) => builder.timeout(LONGEST_TRANSFER).body(pieces),
            Body::Form(fields) => {
                let fields: Vec<(&str, &str)> =
                    fields.iter().map(|(name, value)| (*name, value.expose_secret())).collect();
                builder.form(&fields)
            }
        }
    }
}

/// An answer that is read piece by piece.
#[derive(Debug)]
pub struct Download {
    response: reqwest::Response,
    url: Url,
    limits: Limits,
}

impl Download {
    /// How many bytes there are in all, if the server said.
    pub fn length(&self) -> Option<u64> {
        self.response.content_length()
    }

    /// The next piece, or none at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        self.response.chunk().await.map_err(|error| Error::from_exchange(&self.url, self.limits, error))
    }
}

/// A client in the making.
#[derive(Debug)]
pub struct ClientBuilder {
    builder: reqwest::ClientBuilder,
    limits: Limits,
}

/// What a client shows a server that asks who it is.
pub struct Identity<'a> {
    /// Certificate in PEM form.
    pub certificate: &'a str,
    /// Private key in PEM form.
    pub key: &'a SecretString,
}

impl ClientBuilder {
    /// With an identity.
    pub fn identity(self, identity: &Identity<'_>) -> Result<Self, Error> {
        let pem = format!("{}\n{}", identity.certificate, identity.key.expose_secret());
        let identity = reqwest::Identity::from_pem(pem.as_bytes()).map_err(Error::Identity)?;
        Ok(Self { builder: self.builder.identity(identity), ..self })
    }

    /// With an address for a name, instead of what DNS says.
    #[must_use]
    pub fn resolve(self, name: &str, address: SocketAddr) -> Self {
        Self { builder: self.builder.resolve(name, address), ..self }
    }

    /// Without a proxy, whatever the environment says: for looking at one very socket.
    #[must_use]
    pub fn direct(self) -> Self {
        Self { builder: self.builder.no_proxy(), ..self }
    }

    /// Following a few redirects. For public downloads, which carry no credentials and are kept on mirrors.
    #[must_use]
    pub fn follow_redirects(self) -> Self {
        Self { builder: self.builder.redirect(Policy::limited(REDIRECTS)), ..self }
    }

    /// The client.
    pub fn build(self) -> Result<Client, Error> {
        Ok(Client { http: self.builder.build().map_err(Error::Roots)?, limits: self.limits })
    }
}
