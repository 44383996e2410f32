//! A web server with TLS on a loopback address, for answers that a test writes itself.

use std::{net::SocketAddr, sync::Arc};

use axum::Router;
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
    service::TowerToHyperService,
};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls_pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_rustls::TlsAcceptor;

/// A web server with TLS on a loopback address. It stops when it is dropped.
#[derive(Debug)]
pub struct HttpsServer {
    address: SocketAddr,
    authority: String,
    task: JoinHandle<()>,
}

/// The CA of one server, made before the server so that its routes can hand it out.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    /// A new CA with this common name.
    pub fn new(common_name: &str) -> Self {
        let key = KeyPair::generate().expect("a key can be generated");
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::OrganizationName, "Test");
        params.distinguished_name.push(DnType::CommonName, common_name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let pem = params.self_signed(&key).expect("a CA can be signed").pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// The CA certificate in PEM form.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// A certificate for 127.0.0.1 and `localhost`, for either side, and its key, in PEM form.
    pub fn identity(&self) -> (String, String) {
        let (certificate, key) = self.certificate();
        (certificate.pem(), key.serialize_pem())
    }

    /// A certificate for servers on 127.0.0.1 and `localhost`, and its key.
    pub(crate) fn certificate(&self) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().expect("a key can be generated");
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let mut params = CertificateParams::new(names).expect("the names are well formed");
        params.distinguished_name.push(DnType::CommonName, "localhost");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate can be signed");
        (certificate, key)
    }
}

impl HttpsServer {
    /// Serves on a free port of 127.0.0.1, with a certificate of this CA for that address and for `localhost`.
    pub async fn start(authority: &Authority, routes: Router) -> Self {
        let (certificate, key) = authority.certificate();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has protocol versions")
            .with_no_client_auth()
            .with_single_cert(
                vec![CertificateDer::from(certificate)],
                PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
            )
            .expect("key and certificate belong together");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
        let address = listener.local_addr().expect("a bound socket has an address");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, routes) = (acceptor.clone(), routes.clone());
                tokio::spawn(async move {
                    // A client that refuses the certificate is part of some tests.
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let service = TowerToHyperService::new(routes);
                    let _ =
                        auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { address, authority: authority.pem.clone(), task }
    }

    /// Serves whatever `find` has for a path; nothing is answered with 404.
    pub async fn serving(
        authority: &Authority,
        find: impl Fn(&str) -> Option<Vec<u8>> + Clone + Send + Sync + 'static,
    ) -> Self {
        let routes = Router::new().fallback(move |request: axum::extract::Request| {
            std::future::ready(find(request.uri().path()).ok_or(axum::http::StatusCode::NOT_FOUND))
        });
        Self::start(authority, routes).await
    }

    /// Host and port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The CA certificate in PEM form.
    pub fn authority(&self) -> &str {
        &self.authority
    }
}

impl Drop for HttpsServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}
