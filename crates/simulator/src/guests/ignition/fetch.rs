//! Fetching the configs that a config refers to, as persistently as Ignition does.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use hyper::Request;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::Instant;
use url::Url;

use super::IgnitionError;
use super::config::Resource;
use super::document::{Document, Library};
use super::resource::{decode, unpack};
use crate::guests::console::{Console, chain};
use crate::guests::network::{Link, Reply};
use crate::guests::times::Times;

/// What Ignition says it reads, and who it is.
const ACCEPT: &str = "application/vnd.coreos.ignition+json;version=3.3.0, */*;q=0.1";
const USER_AGENT: &str = "Ignition/2.14.0";

/// The first wait after a failure; each next one is twice as long, up to the last.
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Configs that may refer to each other in a row; a circle would never end.
const DEPTH: usize = 10;

/// Ignition on one machine.
pub(in crate::guests) struct Provisioner<'a> {
    pub(in crate::guests) link: &'a Link,
    pub(in crate::guests) console: &'a Console,
    pub(in crate::guests) times: Times,
    pub(in crate::guests) library: &'a Library,
    /// Authorities of the operating system.
    pub(in crate::guests) trusted: &'a [CertificateDer<'static>],
}

impl Provisioner<'_> {
    /// Everything that a config consists of: itself and what it refers to, in the order in which later ones win.
    pub(in crate::guests) async fn resolve(&self, config: Arc<Document>) -> Result<Vec<Arc<Document>>, IgnitionError> {
        self.expand(config, self.trusted.to_vec(), 0).await
    }

    fn expand(
        &self,
        config: Arc<Document>,
        mut trusted: Vec<CertificateDer<'static>>,
        depth: usize,
    ) -> BoxFuture<'_, Result<Vec<Arc<Document>>, IgnitionError>> {
        Box::pin(async move {
            if depth == DEPTH {
                return Err(IgnitionError::Depth { limit: DEPTH });
            }
            trusted.extend(authorities(&config)?);
            let references = &config.ignition.config;
            if references.replace.source.is_some() {
                let replacement = self.config(&config, &references.replace, &trusted).await?;
                return self.expand(replacement, trusted, depth + 1).await;
            }
            let mut all = vec![config.clone()];
            for reference in &references.merge {
                let child = self.config(&config, reference, &trusted).await?;
                all.extend(self.expand(child, trusted.clone(), depth + 1).await?);
            }
            Ok(all)
        })
    }

    async fn config(
        &self,
        parent: &Document,
        reference: &Resource,
        trusted: &[CertificateDer<'static>],
    ) -> Result<Arc<Document>, IgnitionError> {
        let bytes = match decode(reference)? {
            Some(bytes) => bytes,
            None => self.fetch(reference, trusted, parent.ignition.timeouts.http_total).await?,
        };
        let url = || reference.source.clone().unwrap_or_default();
        let text = String::from_utf8(bytes)
            .map_err(|_| IgnitionError::Source { url: url(), reason: "it is not text".to_owned() })?;
        self.library.read(&text)
    }

    /// Fetches a resource: 5xx and everything below HTTP is tried again for ever, or for as long as the config allows; any
    /// other failure is final.
    async fn fetch(
        &self,
        resource: &Resource,
        trusted: &[CertificateDer<'static>],
        total_seconds: Option<u64>,
    ) -> Result<Vec<u8>, IgnitionError> {
        let source = resource.source.clone().unwrap_or_default();
        let unusable = |reason: String| IgnitionError::Source { url: source.clone(), reason };
        let url = Url::parse(&source).map_err(|error| unusable(error.to_string()))?;
        let tls = match url.scheme() {
            "http" => None,
            "https" => Some(client(trusted)?),
            other => return Err(unusable(format!("scheme '{other}' is not fetched here"))),
        };
        let deadline =
            total_seconds.map(|seconds| (seconds, Instant::now() + self.times.scaled(Duration::from_secs(seconds))));
        let mut wait = FIRST_WAIT;
        loop {
            let evidence = match self.get(&url, tls.clone(), resource).await {
                Ok(Reply { status: 200, body, server }) => {
                    self.console.print(format!("ignition: GET {url}: {} bytes from {server}", body.len()));
                    return unpack(resource, body.into());
                }
                Ok(Reply { status: 204, .. }) => {
                    self.console.print(format!("ignition: GET {url}: no content, taken for an empty config"));
                    return Ok(br#"{"ignition":{"version":"3.0.0"}}"#.to_vec());
                }
                Ok(Reply { status: status @ 500.., .. }) => format!("GET {url}: {status}"),
                Ok(Reply { status, body, .. }) => {
                    let text = String::from_utf8_lossy(&body).trim().chars().take(200).collect();
                    return Err(IgnitionError::Answer { url: source, status, text });
                }
                Err(error) => format!("GET {url}: {}", chain(&error)),
            };
            self.console.print(format!("ignition: {evidence}"));
            if let Some((seconds, deadline)) = deadline
                && Instant::now() >= deadline
            {
                return Err(IgnitionError::TotalTime { url: source, seconds, evidence });
            }
            tokio::time::sleep(self.times.scaled(wait)).await;
            wait = (wait * 2).min(LAST_WAIT);
        }
    }

    async fn get(
        &self,
        url: &Url,
        tls: Option<Arc<ClientConfig>>,
        resource: &Resource,
    ) -> Result<Reply, crate::guests::network::NetworkError> {
        let mut request = Request::builder()
            .method("GET")
            .header("accept", ACCEPT)
            .header("accept-encoding", "identity")
            .header("user-agent", USER_AGENT);
        for header in &resource.http_headers {
            if let Some(value) = &header.value {
                request = request.header(&header.name, value);
            }
        }
        self.link.exchange(url, tls, request, Vec::new()).await
    }
}

/// The authorities that a config pins.
fn authorities(config: &Document) -> Result<Vec<CertificateDer<'static>>, IgnitionError> {
    let mut found = Vec::new();
    for resource in &config.ignition.security.tls.certificate_authorities {
        let Some(pem) = decode(resource)? else {
            let url = resource.source.clone().unwrap_or_default();
            return Err(IgnitionError::Source { url, reason: "an authority must be given inline".to_owned() });
        };
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            let broken = |_| IgnitionError::Trust(rustls::Error::General("it is not PEM".to_owned()));
            found.push(certificate.map_err(broken)?);
        }
    }
    Ok(found)
}

/// A TLS client that trusts these authorities and no others.
pub(in crate::guests) fn client(trusted: &[CertificateDer<'static>]) -> Result<Arc<ClientConfig>, IgnitionError> {
    let mut roots = RootCertStore::empty();
    for authority in trusted {
        roots.add(authority.clone()).map_err(IgnitionError::Trust)?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(Arc::new(builder.map_err(IgnitionError::Trust)?.with_root_certificates(roots).with_no_client_auth()))
}

#[cfg(test)]
mod tests;
