//! The config server on the network.

use std::{net::IpAddr, path::PathBuf, sync::Arc, time::Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, header};
use rustls::{
    server::ResolvesServerCert,
    sign::{CertifiedKey, SingleCertAndKey},
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::{ConfigServer, Query};
use crate::listener;

/// The server's identity.
pub struct Tls {
    /// Certificate chain in PEM form.
    pub certificates: Vec<u8>,
    /// Private key in PEM form.
    pub key: Vec<u8>,
}

/// Why the server cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The certificate or key cannot be read.
    #[error("cannot read the config server's {0}")]
    Pem(&'static str, #[source] rustls_pki_types::pem::Error),
    /// A file of the identity cannot be read.
    #[error("cannot read {}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system answered.
        #[source]
        source: std::io::Error,
    },
    /// The certificate and the key do not make an identity.
    #[error("cannot use the config server's certificate and key")]
    Identity(#[from] rustls::Error),
}

/// Serves until `stop` is cancelled.
pub async fn serve(
    listener: TcpListener,
    tls: &Tls,
    server: Arc<ConfigServer>,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let identity = SingleCertAndKey::from(certified_key(tls)?);
    serve_with_identity(listener, Arc::new(identity), server, stop).await
}

/// Serves until `stop` is cancelled, with an identity that may change.
pub async fn serve_with_identity(
    listener: TcpListener,
    identity: Arc<dyn ResolvesServerCert>,
    server: Arc<ConfigServer>,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(identity);
    let acceptor = TlsAcceptor::from(Arc::new(config));
    listener::serve(listener, acceptor, stop, move |request, peer| {
        let server = Arc::clone(&server);
        async move { respond(&server, &request, peer.address.ip()).await }
    })
    .await;
    Ok(())
}

async fn respond(server: &ConfigServer, request: &Request<Incoming>, peer: IpAddr) -> Response<Full<Bytes>> {
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    let query = Query {
        method: request.method().as_str(),
        path: request.uri().path(),
        accept: text(header::ACCEPT),
        authorization: text(header::AUTHORIZATION),
        peer,
    };
    let answer = server.answer(&query, Instant::now()).await;
    let kind = if answer.status == 200 && query.path != "/healthz" { "application/json" } else { "text/plain" };
    let mut response = Response::builder().status(answer.status).header(header::CONTENT_TYPE, kind);
    if answer.status == 503 {
        // Where a name leads to many machines, the next attempt may reach another; over this connection it would not.
        response = response.header(header::RETRY_AFTER, "5").header(header::CONNECTION, "close");
    }
    response.body(Full::new(answer.body)).expect("status and headers are well formed")
}

/// A certificate and a key that belong together.
pub(super) fn certified_key(tls: &Tls) -> Result<Arc<CertifiedKey>, ServeError> {
    let certificates = CertificateDer::pem_slice_iter(&tls.certificates)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| ServeError::Pem("certificate", error))?;
    let key = PrivateKeyDer::from_pem_slice(&tls.key).map_err(|error| ServeError::Pem("private key", error))?;
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    Ok(Arc::new(CertifiedKey::from_der(certificates, key, &provider)?))
}

#[cfg(test)]
mod tests;
