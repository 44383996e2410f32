//! The server.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Method, Request, Response, StatusCode, body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
use tokio::{
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{Identity, IdentityError};

/// The first byte of a TLS connection.
const HANDSHAKE: u8 = 0x16;
/// How long one connection may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// What is served, by name.
#[derive(Clone, Debug, Default)]
pub struct Assets {
    /// For everybody, over plain HTTP too.
    pub public: BTreeMap<String, Bytes>,
    /// Over TLS alone.
    pub private: BTreeMap<String, Bytes>,
}

/// A running host. It ends when it is dropped.
#[derive(Debug)]
pub struct AssetHost {
    address: SocketAddr,
    shelf: Arc<Shelf>,
    stop: CancellationToken,
}

impl AssetHost {
    /// Begins to serve. `host` is the name or address under which machines know it.
    pub async fn start(listen: &str, host: &str, identity: &Identity, assets: Assets) -> Result<Self, StartError> {
        let listener = TcpListener::bind(listen)
            .await
            .map_err(|source| StartError::Listen { address: listen.to_owned(), source })?;
        let address =
            listener.local_addr().map_err(|source| StartError::Listen { address: listen.to_owned(), source })?;
        let (certificate, key) = identity.certificate(host)?;
        let unusable = |_| StartError::Tls;
        let chain = CertificateDer::from_pem_slice(certificate.as_bytes()).map_err(unusable)?;
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(unusable)?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![chain], key))
            .map_err(|_| StartError::Tls)?;
        let shelf = Arc::new(Shelf { token: identity.token.clone(), assets, is_closed: AtomicBool::new(false) });
        let stop = CancellationToken::new();
        tokio::spawn(accept(listener, TlsAcceptor::from(Arc::new(config)), shelf.clone(), stop.clone()));
        Ok(Self { address, shelf, stop })
    }

    /// Serves no secrets from now on: nobody needs them any more.
    pub fn forget_private(&self) {
        self.shelf.is_closed.store(true, Ordering::Relaxed);
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for AssetHost {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Why it does not serve.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address} for machines that fetch what they boot with")]
    Listen {
        /// The address.
        address: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// There is no certificate.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The certificate cannot be used.
    #[error("the certificate of the asset host cannot be used")]
    Tls,
}

#[derive(Debug)]
struct Shelf {
    token: String,
    assets: Assets,
    is_closed: AtomicBool,
}

impl Shelf {
    /// What is at a path. Whoever has the token only by half gets what everybody gets.
    fn take(&self, path: &str, is_private: bool) -> Option<&Bytes> {
        let name = path.strip_prefix('/')?.strip_prefix(self.token.as_str())?.strip_prefix('/')?;
        let is_private = is_private && !self.is_closed.load(Ordering::Relaxed);
        let private = is_private.then(|| self.assets.private.get(name)).flatten();
        private.or_else(|| self.assets.public.get(name))
    }
}

async fn accept(listener: TcpListener, tls: TlsAcceptor, shelf: Arc<Shelf>, stop: CancellationToken) {
    let tasks = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                let (tls, shelf) = (tls.clone(), shelf.clone());
                tasks.spawn(stop.clone().run_until_cancelled_owned(timeout(PATIENCE, async move {
                    if let Err(error) = serve(stream, tls, shelf).await {
                        tracing::debug!(%peer, %error, "a machine was not served");
                    }
                })));
            }
            // Too many open files, for example: others may end meanwhile.
            Err(error) => {
                tracing::warn!(%error, "cannot take a connection of a machine");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn serve(stream: TcpStream, tls: TlsAcceptor, shelf: Arc<Shelf>) -> io::Result<()> {
    let mut first = [0];
    stream.peek(&mut first).await?;
    if first[0] == HANDSHAKE {
        exchange(TokioIo::new(tls.accept(stream).await?), shelf, true).await
    } else {
        exchange(TokioIo::new(stream), shelf, false).await
    }
}

async fn exchange<I>(stream: I, shelf: Arc<Shelf>, is_private: bool) -> io::Result<()>
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let found = matches!(*request.method(), Method::GET | Method::HEAD)
            .then(|| shelf.take(request.uri().path(), is_private).cloned())
            .flatten();
        let mut response = Response::new(Full::new(found.clone().unwrap_or_default()));
        if found.is_none() {
            *response.status_mut() = StatusCode::NOT_FOUND;
        }
        async move { Ok::<_, Infallible>(response) }
    });
    hyper::server::conn::http1::Builder::new().serve_connection(stream, service).await.map_err(io::Error::other)
}
