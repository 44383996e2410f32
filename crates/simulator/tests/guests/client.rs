//! The administrator's client, with the certificate of the kubeconfig.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::rt::TokioIo;
use landfall_assets::PrivateKey;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::cluster::Assets;

/// A client of the API at one address.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) server: SocketAddr,
    tls: Arc<ClientConfig>,
    token: Option<String>,
}

impl Client {
    /// With the administrator's certificate, at the virtual address.
    pub(crate) fn admin(assets: &Assets) -> Self {
        Self::with_certificate(assets, &assets.certificates.admin.pem, assets.secrets.admin_key())
    }

    /// With a certificate of another cluster's administrator.
    pub(crate) fn stranger(assets: &Assets, other: &Assets) -> Self {
        Self::with_certificate(assets, &other.certificates.admin.pem, other.secrets.admin_key())
    }

    fn with_certificate(assets: &Assets, certificate: &str, key: &PrivateKey) -> Self {
        let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(key.to_pem().as_bytes()).unwrap();
        let tls = builder(assets).with_client_auth_cert(vec![certificate], key).unwrap();
        Self { server: (assets.vip, 6443).into(), tls: Arc::new(tls), token: None }
    }

    /// Without a certificate, and with this token if there is one.
    pub(crate) fn anonymous(assets: &Assets, token: Option<&str>) -> Self {
        let tls = builder(assets).with_no_client_auth();
        Self { server: (assets.vip, 6443).into(), tls: Arc::new(tls), token: token.map(str::to_owned) }
    }

    pub(crate) fn at(&self, port: u16) -> Self {
        Self { server: SocketAddr::new(self.server.ip(), port), ..self.clone() }
    }

    pub(crate) async fn get(&self, path: &str) -> Result<(u16, Value), String> {
        self.send("GET", path, &Value::Null).await
    }

    /// One exchange; bodies that are not JSON come as text.
    pub(crate) async fn send(&self, method: &str, path: &str, body: &Value) -> Result<(u16, Value), String> {
        let exchange = self.exchange(method, path, body);
        let done = tokio::time::timeout(Duration::from_secs(10), exchange).await.map_err(|_| "timed out".to_owned())?;
        done.map_err(|error| error.to_string())
    }

    async fn exchange(
        &self,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<(u16, Value), Box<dyn std::error::Error + Send + Sync>> {
        let stream = TcpStream::connect(self.server).await?;
        let stream = TlsConnector::from(self.tls.clone()).connect(ServerName::from(self.server.ip()), stream).await?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let mut request = Request::builder().method(method).uri(path).header("host", self.server.to_string());
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        request = request.header("content-type", kind);
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let response = sender.send_request(request.body(Full::new(Bytes::from(body)))?).await?;
        let status = response.status().as_u16();
        let bytes = response.into_body().collect().await?.to_bytes();
        let value = serde_json::from_slice(&bytes).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into());
        Ok((status, value))
    }

    /// Names of ready nodes, and the evidence if they cannot be listed.
    pub(crate) async fn ready_nodes(&self) -> Result<Vec<String>, String> {
        let (status, list) = self.get("/api/v1/nodes").await?;
        if status != 200 {
            return Err(format!("{status}: {list}"));
        }
        let is_ready = |node: &&Value| {
            let conditions = node["status"]["conditions"].as_array().into_iter().flatten();
            conditions.into_iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
        };
        let nodes = list["items"].as_array().unwrap().iter().filter(is_ready);
        Ok(nodes.map(|node| node["metadata"]["name"].as_str().unwrap().to_owned()).collect())
    }
}

fn builder(assets: &Assets) -> rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert> {
    let mut roots = RootCertStore::empty();
    let ca = assets.secrets.cluster_ca().certificate();
    roots.add(CertificateDer::from_pem_slice(ca.as_bytes()).unwrap()).unwrap();
    ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
}
