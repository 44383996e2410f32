//! Calls in a loop over connections that stay open, and what they took.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

/// Where the simulator under load is, and how to get in.
#[derive(Clone)]
pub(crate) struct Target {
    authority: String,
    tls: TlsConnector,
    token: Option<String>,
}

/// An open connection to it.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    target: Target,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

impl Target {
    pub(crate) fn new(authority: &str, ca_pem: &[u8]) -> Result<Self, Error> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(ca_pem)?)?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let config = config.with_root_certificates(roots).with_no_client_auth();
        Ok(Self { authority: authority.to_owned(), tls: TlsConnector::from(Arc::new(config)), token: None })
    }

    /// The same, with a token to send along.
    pub(crate) fn with_token(self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self }
    }

    pub(crate) async fn connect(&self) -> Result<Connection, Error> {
        let stream = TcpStream::connect(&self.authority).await?;
        stream.set_nodelay(true)?;
        let stream = self.tls.connect(ServerName::try_from("localhost")?, stream).await?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Connection { sender, target: self.clone() })
    }
}

impl Connection {
    pub(crate) async fn call(&mut self, call: &Call) -> Result<Answer, Error> {
        let mut request = Request::builder().method(call.method).uri(&call.path).header("host", &self.target.authority);
        if let Some(token) = &self.target.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.header("accept", call.accept).header("content-type", call.content_type);
        let response = self.sender.send_request(request.body(Full::new(call.body.clone()))?).await?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await?.to_bytes();
        if status >= 400 {
            let text = String::from_utf8_lossy(&body);
            return Err(format!("{} {}: {status} {text}", call.method, call.path).into());
        }
        Ok(Answer { status, body })
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

/// Makes calls for `duration` on so many connections at once; `call` gets a number that no other call gets.
pub(crate) async fn measure(
    target: &Target,
    connections: usize,
    duration: Duration,
    call: impl Fn(usize) -> Call + Send + Sync + 'static,
) -> Result<Measured, Error> {
    let call = Arc::new(call);
    let began = Instant::now();
    let workers = (0..connections).map(|worker| {
        let (call, target) = (call.clone(), target.clone());
        tokio::spawn(async move {
            let mut connection = target.connect().await?;
            let (mut latencies, mut bytes) = (Vec::new(), 0);
            let begun = Instant::now();
            while begun.elapsed() < duration {
                let call = call(latencies.len() * connections + worker);
                let sent = Instant::now();
                bytes = connection.call(&call).await?.body.len();
                latencies.push(sent.elapsed());
            }
            Ok::<_, Error>((latencies, bytes))
        })
    });
    let mut all = Measured { latencies: Vec::new(), elapsed: Duration::ZERO, bytes: 0 };
    for worker in workers.collect::<Vec<_>>() {
        let (latencies, bytes) = worker.await??;
        all.latencies.extend(latencies);
        all.bytes = bytes;
    }
    all.elapsed = began.elapsed();
    all.latencies.sort_unstable();
    Ok(all)
}

impl Measured {
    fn percentile(&self, percent: usize) -> Duration {
        let last = self.latencies.len().saturating_sub(1);
        self.latencies.get(last * percent / 100).copied().unwrap_or_default()
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per_second =
            f64::from(u32::try_from(self.latencies.len()).unwrap_or(u32::MAX)) / self.elapsed.as_secs_f64();
        let ms = |duration: Duration| duration.as_secs_f64() * 1000.0;
        let (half, most, worst) = (ms(self.percentile(50)), ms(self.percentile(99)), ms(self.percentile(100)));
        write!(f, "{per_second:>9.0} {half:>9.2} {most:>9.2} {worst:>9.2} {:>10.1}", self.bytes as f64 / 1024.0)
    }
}
