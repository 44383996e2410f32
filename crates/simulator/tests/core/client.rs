//! A client that shows what is on the wire: one connection per call, errors as they come.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Body;
use hyper::header::HeaderMap;
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::{TokioExecutor, TokioIo};
use landfall_simulator::core::{Running, Simulation};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// What no step of a test may take longer than.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {:?}", self.text()))
    }
}

/// Calls one simulator.
#[derive(Clone)]
pub(crate) struct Client {
    base: String,
    tls: Option<TlsConnector>,
    http2: bool,
}

impl Client {
    pub(crate) fn new<S: Simulation>(running: &Running<S>) -> Self {
        Self::with_ca(running.url(), running.ca_pem())
    }

    pub(crate) fn with_ca(base: &str, ca_pem: Option<&str>) -> Self {
        Self { base: base.to_owned(), tls: ca_pem.map(|pem| connector(pem, b"http/1.1")), http2: false }
    }

    pub(crate) fn http2<S: Simulation>(running: &Running<S>) -> Self {
        let pem = running.ca_pem().unwrap();
        Self { base: running.url().to_owned(), tls: Some(connector(pem, b"h2")), http2: true }
    }

    pub(crate) fn admin<S: Simulation>(running: &Running<S>) -> Self {
        Self { base: running.admin_url().to_owned(), tls: None, http2: false }
    }

    /// A connection with nothing sent on it yet.
    pub(crate) async fn connect(&self) -> Result<Box<dyn Stream>, Error> {
        let uri: Uri = self.base.parse()?;
        let stream = TcpStream::connect(uri.authority().unwrap().as_str()).await?;
        match &self.tls {
            None => Ok(Box::new(stream)),
            Some(tls) => Ok(Box::new(tls.connect(ServerName::try_from("localhost")?, stream).await?)),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Answer, Error> {
        self.call("GET", path, "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Result<Answer, Error> {
        self.call("POST", path, body).await
    }

    pub(crate) async fn call(&self, method: &str, path: &str, body: &str) -> Result<Answer, Error> {
        let request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        let request =
            request.header("content-type", "application/json").body(Full::new(Bytes::from(body.to_owned())))?;
        self.send(request).await
    }

    /// Sends a request on a connection of its own and reads the whole answer.
    pub(crate) async fn send<B>(&self, mut request: Request<B>) -> Result<Answer, Error>
    where
        B: Body<Data: Send, Error: Into<Error>> + Send + Unpin + 'static,
    {
        let exchange = async {
            let io = TokioIo::new(self.connect().await?);
            let response = if self.http2 {
                let (mut sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await?;
                tokio::spawn(connection);
                sender.send_request(request).await?
            } else {
                let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await?;
                tokio::spawn(connection);
                let host = request.uri().authority().unwrap().as_str().parse()?;
                request.headers_mut().entry("host").or_insert(host);
                *request.uri_mut() = request.uri().path_and_query().unwrap().as_str().parse()?;
                sender.send_request(request).await?
            };
            let (head, body) = response.into_parts();
            let body = body.collect().await?.to_bytes();
            Ok(Answer { status: head.status, headers: head.headers, body })
        };
        tokio::time::timeout(DEADLINE, exchange).await?
    }
}

fn connector(ca_pem: &str, protocol: &[u8]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca_pem.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    TlsConnector::from(Arc::new(config))
}

/// The I/O error somewhere under a client's error.
pub(crate) fn io_kind(error: &Error) -> Option<std::io::ErrorKind> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error.as_ref());
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return Some(io.kind());
        }
        cause = error.source();
    }
    None
}

/// Polls until something is the case.
pub(crate) async fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = std::time::Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < DEADLINE, "waited too long until {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
