//! The API on the network.

use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::{Request, Response, header};
use landfall_node::listener::{self, Peer};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, RootCertStore, ServerConfig, SignatureScheme};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::api::{self, Answer};
use super::auth::User;
use super::status::Problem;
use super::store::Store;

/// The largest object that is read; etcd takes less.
const BODY_LIMIT: usize = 3 * 1024 * 1024;

type Body = UnsyncBoxBody<Bytes, std::convert::Infallible>;

/// An API server: objects, its own identity, and the authority whose clients it knows.
#[derive(Clone, Debug)]
pub(in crate::guests) struct ApiServer {
    store: Arc<Store>,
    tls: Arc<ServerConfig>,
    clients: Arc<dyn ClientCertVerifier>,
}

/// Why an API server cannot start.
#[derive(Debug, thiserror::Error)]
pub(in crate::guests) enum ApiServerError {
    #[error("the cluster CA cannot be used to recognise clients")]
    Clients(#[from] VerifierBuilderError),
    #[error("the serving certificate cannot be used")]
    Identity(#[from] rustls::Error),
}

impl ApiServer {
    /// A server with this certificate, for clients of this authority.
    pub(in crate::guests) fn new(
        store: Arc<Store>,
        authority: CertificateDer<'static>,
        certificate: CertificateDer<'static>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Self, ApiServerError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(authority)?;
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build()?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(Arc::new(AskOnly(clients.clone())))
            .with_single_cert(vec![certificate], key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { store, tls: Arc::new(config), clients })
    }

    /// Serves until `stop` is cancelled.
    pub(in crate::guests) async fn serve(self, listener: TcpListener, stop: CancellationToken) {
        let acceptor = TlsAcceptor::from(self.tls.clone());
        let handler = move |request: Request<Incoming>, peer: Arc<Peer>| {
            let server = self.clone();
            async move { server.respond(request, &peer).await }
        };
        listener::serve(listener, acceptor, stop, handler).await;
    }

    async fn respond(&self, request: Request<Incoming>, peer: &Peer) -> Response<Body> {
        let (head, body) = request.into_parts();
        let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        let user = match self.authenticate(peer, text(header::AUTHORIZATION)) {
            Ok(user) => user,
            Err(problem) => return json(problem.code, problem.to_json().to_string()),
        };
        let Ok(body) = Limited::new(body, BODY_LIMIT).collect().await else {
            let problem = Problem::bad_request("the body is too large or was cut off");
            return json(problem.code, problem.to_json().to_string());
        };
        let body = body.to_bytes();
        let request = api::Request {
            method: head.method.as_str(),
            path: head.uri.path(),
            query: head.uri.query().unwrap_or_default(),
            accept: text(header::ACCEPT).unwrap_or_default(),
            content_type: text(header::CONTENT_TYPE).unwrap_or("application/json"),
            body: &body,
        };
        match api::answer(&self.store, &user, &request) {
            Answer::Json(status, value) => json(status, value.to_string()),
            Answer::Text(text) => response(200, "text/plain", full(text)),
            Answer::Stream(lines) => {
                let frames = lines.map(|line| Ok(Frame::data(line)));
                response(200, "application/json", StreamBody::new(frames).boxed_unsync())
            }
        }
    }

    /// A certificate counts before a token, as in the real API server; one of another authority is worse than none.
    fn authenticate(&self, peer: &Peer, authorization: Option<&str>) -> Result<User, Problem> {
        let Some((own, others)) = peer.certificates.split_first() else {
            return User::of_header(&self.store, authorization);
        };
        let verified = self.clients.verify_client_cert(own, others, UnixTime::now());
        let user = verified.ok().and_then(|_| User::of_certificate(own));
        user.ok_or_else(Problem::unauthorized)
    }
}

fn json(status: u16, text: String) -> Response<Body> {
    response(status, "application/json", full(text))
}

fn full(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).boxed_unsync()
}

fn response(status: u16, kind: &str, body: Body) -> Response<Body> {
    let response = Response::builder().status(status).header(header::CONTENT_TYPE, kind);
    response.body(body).expect("status and headers are well formed")
}

/// Asks clients for a certificate and leaves it to the request to judge it, so that a stranger gets 401 and not the end of
/// the connection.
#[derive(Debug)]
struct AskOnly(Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for AskOnly {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
