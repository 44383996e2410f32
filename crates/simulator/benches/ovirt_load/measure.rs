//! Calls in a loop over connections that stay open, and what they took.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

/// Where a listener of the simulator is, and how to get in.
#[derive(Clone)]
pub(crate) struct Target {
    authority: String,
    tls: Option<TlsConnector>,
    token: Option<String>,
}

/// An open connection to it.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    target: Target,
}

impl Target {
    /// A listener with TLS.
    pub(crate) fn tls(authority: &str, ca_pem: &[u8]) -> Result<Self, Error> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(ca_pem)?)?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let config = config.with_root_certificates(roots).with_no_client_auth();
        Ok(Self { tls: Some(TlsConnector::from(Arc::new(config))), ..Self::plain(authority) })
    }

    /// A listener without TLS.
    pub(crate) fn plain(authority: &str) -> Self {
        Self { authority: authority.to_owned(), tls: None, token: None }
    }

    /// The same, with a token to send along.
    pub(crate) fn with_token(self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self }
    }

    pub(crate) async fn connect(&self) -> Result<Connection, Error> {
        let stream = TcpStream::connect(&self.authority).await?;
        stream.set_nodelay(true)?;
        let sender = match &self.tls {
            Some(tls) => open(tls.connect(ServerName::try_from("localhost")?, stream).await?).await?,
            None => open(stream).await?,
        };
        Ok(Connection { sender, target: self.clone() })
    }
}

async fn open<S>(stream: S) -> Result<SendRequest<Full<Bytes>>, Error>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

impl Connection {
    /// Makes a call and reads the whole answer, which must not be an error.
    pub(crate) async fn call(&mut self, call: &Call) -> Result<Bytes, Error> {
        let mut request = Request::builder().method(call.method).uri(&call.path).header("host", &self.target.authority);
        if let Some(token) = &self.target.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.header("accept", call.accept).header("content-type", call.content_type);
        let response = self.sender.send_request(request.body(Full::new(call.body.clone()))?).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        if status.is_success() {
            Ok(body)
        } else {
            let text = String::from_utf8_lossy(&body);
            Err(format!("{} {}: {status} {text}", call.method, call.path).into())
        }
    }
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) accept: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
}

impl Call {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self { method: "GET", ..Self::post(path, "") }
    }

    pub(crate) fn post(path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        let xml = "application/xml";
        Self { method: "POST", path: path.into(), accept: xml, content_type: xml, body: body.into() }
    }

    pub(crate) fn delete(path: impl Into<String>) -> Self {
        Self { method: "DELETE", ..Self::post(path, "") }
    }
}

/// How long calls of one kind took.
pub(crate) struct Measured {
    latencies: Vec<Duration>,
    elapsed: Duration,
    bytes: usize,
}

/// Makes calls for `duration` on so many connections at once; `call` gets the number of the call.
pub(crate) async fn measure(
    target: &Target,
    connections: usize,
    duration: Duration,
    call: impl Fn(usize) -> Call + Send + Sync + 'static,
) -> Result<Measured, Error> {
    run(target, connections, Some(duration), usize::MAX, call).await
}

/// Makes so many calls, one after the other.
pub(crate) async fn count(
    target: &Target,
    calls: usize,
    call: impl Fn(usize) -> Call + Send + Sync + 'static,
) -> Result<Measured, Error> {
    run(target, 1, None, calls, call).await
}

async fn run(
    target: &Target,
    connections: usize,
    duration: Option<Duration>,
    calls: usize,
    call: impl Fn(usize) -> Call + Send + Sync + 'static,
) -> Result<Measured, Error> {
    let (call, made) = (Arc::new(call), Arc::new(AtomicUsize::new(0)));
    let mut open = Vec::new();
    for _ in 0..connections {
        open.push(target.connect().await?);
    }
    let began = Instant::now();
    let workers = open.into_iter().map(|mut connection| {
        let (call, made) = (call.clone(), made.clone());
        tokio::spawn(async move {
            let (mut latencies, mut bytes) = (Vec::new(), 0);
            while duration.is_none_or(|duration| began.elapsed() < duration) {
                let number = made.fetch_add(1, Ordering::Relaxed);
                if number >= calls {
                    break;
                }
                let call = call(number);
                let sent = Instant::now();
                bytes = connection.call(&call).await?.len();
                latencies.push(sent.elapsed());
            }
            Ok::<_, Error>((latencies, bytes))
        })
    });
    let mut all = Measured { latencies: Vec::new(), elapsed: Duration::ZERO, bytes: 0 };
    for worker in workers.collect::<Vec<_>>() {
        let (latencies, bytes) = worker.await??;
        all.latencies.extend(latencies);
        all.bytes = all.bytes.max(bytes);
    }
    all.elapsed = began.elapsed();
    all.latencies.sort_unstable();
    Ok(all)
}

impl Measured {
    pub(crate) fn per_second(&self) -> f64 {
        f64::from(u32::try_from(self.latencies.len()).unwrap_or(u32::MAX)) / self.elapsed.as_secs_f64()
    }

    /// The size of an answer.
    pub(crate) fn kib(&self) -> f64 {
        f64::from(u32::try_from(self.bytes).unwrap_or(u32::MAX)) / 1024.0
    }

    fn percentile_ms(&self, percent: usize) -> f64 {
        let last = self.latencies.len().saturating_sub(1);
        self.latencies.get(last * percent / 100).copied().unwrap_or_default().as_secs_f64() * 1000.0
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>9.2} {:>9.2} {:>9.2}", self.percentile_ms(50), self.percentile_ms(99), self.percentile_ms(100))
    }
}
