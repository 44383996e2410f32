//! The listener: TLS, time limits, and a clean end.

use std::{convert::Infallible, sync::Arc, time::Duration, time::Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, header, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use tokio::{net::TcpListener, sync::Semaphore, time::timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{ConfigServer, Query};

/// Connections at once. More than a thousand machines that boot together; the others wait in the kernel's queue.
const CONNECTIONS: usize = 2048;
/// A client that takes longer for its handshake or its request is not a machine that boots.
const PATIENCE: Duration = Duration::from_secs(10);
/// What connections get to finish when the server stops.
const GRACE: Duration = Duration::from_secs(5);

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
    let acceptor = acceptor(tls)?;
    let connections = TaskTracker::new();
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let place = tokio::select! {
            () = stop.cancelled() => break,
            place = Arc::clone(&places).acquire_owned() => place.expect("the semaphore is never closed"),
        };
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let (acceptor, server, stop) = (acceptor.clone(), Arc::clone(&server), stop.clone());
                connections.spawn(async move {
                    let _place = place;
                    let Ok(Ok(stream)) = timeout(PATIENCE, acceptor.accept(stream)).await else { return };
                    connection(TokioIo::new(stream), peer.ip(), &server, &stop).await;
                });
            }
            // Out of file descriptors and the like: wait for connections to end rather than spin.
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    connections.close();
    let _ = timeout(GRACE, connections.wait()).await;
    Ok(())
}

async fn connection(
    stream: TokioIo<tokio_rustls::server::TlsStream<tokio::net::TcpStream>>,
    peer: std::net::IpAddr,
    server: &ConfigServer,
    stop: &CancellationToken,
) {
    let service =
        service_fn(|request: Request<Incoming>| async move { Ok::<_, Infallible>(respond(server, &request, peer)) });
    let connection =
        http1::Builder::new().timer(TokioTimer::new()).header_read_timeout(PATIENCE).serve_connection(stream, service);
    tokio::pin!(connection);
    tokio::select! {
        // Machines hang up as they please; what they got is in the log already.
        _ = connection.as_mut() => {}
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

fn respond(server: &ConfigServer, request: &Request<Incoming>, peer: std::net::IpAddr) -> Response<Full<Bytes>> {
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    let query = Query {
        method: request.method().as_str(),
        path: request.uri().path(),
        accept: text(header::ACCEPT),
        authorization: text(header::AUTHORIZATION),
        peer,
    };
    let answer = server.answer(&query, Instant::now());
    let kind = if answer.status == 200 && query.path != "/healthz" { "application/json" } else { "text/plain" };
    let mut response = Response::builder().status(answer.status).header(header::CONTENT_TYPE, kind);
    if answer.status == 503 {
        response = response.header(header::RETRY_AFTER, "5");
    }
    response.body(Full::new(answer.body)).expect("status and headers are well formed")
}

fn acceptor(tls: &Tls) -> Result<TlsAcceptor, ServeError> {
    let certificates = CertificateDer::pem_slice_iter(&tls.certificates)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| ServeError::Pem("certificate", error))?;
    let key = PrivateKeyDer::from_pem_slice(&tls.key).map_err(|error| ServeError::Pem("private key", error))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(certificates, key)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

#[cfg(test)]
mod tests;
