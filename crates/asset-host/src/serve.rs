//! The server.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
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

use crate::{
    Identity, IdentityError,
    private::{Opened, Private, Reader},
};

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
        let private = Private::new(identity.private_token.as_deref(), assets.private);
        let shelf = Arc::new(Shelf { token: identity.token.clone(), public: assets.public, private });
        let stop = CancellationToken::new();
        tokio::spawn(accept(listener, TlsAcceptor::from(Arc::new(config)), shelf.clone(), stop.clone()));
        Ok(Self { address, shelf, stop })
    }

    /// Serves private files to this reader. Until then they are not served at all.
    pub fn admit(&self, reader: Reader) {
        self.shelf.private.admit(reader);
    }

    /// Serves no private files from now on: they have done their work.
    pub fn forget_private(&self) {
        self.shelf.private.close();
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
    public: BTreeMap<String, Bytes>,
    private: Private,
}

impl Shelf {
    /// Answers a request. `peer` is the machine at the other end of TLS; requests in plain have none.
    async fn take(&self, path: &str, peer: Option<IpAddr>) -> Result<Bytes, StatusCode> {
        if let Some(public) = self.public(path) {
            return Ok(public.clone());
        }
        let Some(peer) = peer else { return Err(StatusCode::NOT_FOUND) };
        match self.private.open(path, peer, Instant::now()).await {
            Opened::File(file) => Ok(file),
            Opened::Closed => Err(StatusCode::NOT_FOUND),
            // Ignition repeats the request.
            Opened::NotYet => Err(StatusCode::SERVICE_UNAVAILABLE),
        }
    }

    fn public(&self, path: &str) -> Option<&Bytes> {
        let name = path.strip_prefix('/')?.strip_prefix(self.token.as_str())?.strip_prefix('/')?;
        self.public.get(name)
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
                    if let Err(error) = serve(stream, peer.ip(), tls, shelf).await {
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

async fn serve(stream: TcpStream, peer: IpAddr, tls: TlsAcceptor, shelf: Arc<Shelf>) -> io::Result<()> {
    let mut first = [0];
    stream.peek(&mut first).await?;
    if first[0] == HANDSHAKE {
        exchange(TokioIo::new(tls.accept(stream).await?), shelf, Some(peer)).await
    } else {
        exchange(TokioIo::new(stream), shelf, None).await
    }
}

async fn exchange<I>(stream: I, shelf: Arc<Shelf>, peer: Option<IpAddr>) -> io::Result<()>
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let shelf = shelf.clone();
        async move { Ok::<_, Infallible>(answer(&shelf, &request, peer).await) }
    });
    hyper::server::conn::http1::Builder::new().serve_connection(stream, service).await.map_err(io::Error::other)
}

async fn answer(shelf: &Shelf, request: &Request<Incoming>, peer: Option<IpAddr>) -> Response<Full<Bytes>> {
    let taken = match *request.method() {
        Method::GET | Method::HEAD => shelf.take(request.uri().path(), peer).await,
        _ => Err(StatusCode::NOT_FOUND),
    };
    let mut response = Response::new(Full::default());
    match taken {
        Ok(contents) => *response.body_mut() = Full::new(contents),
        Err(status) => *response.status_mut() = status,
    }
    response
}
