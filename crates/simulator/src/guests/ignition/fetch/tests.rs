//! Ignition against a server that answers as told.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Request, Response};
use landfall_node::listener::{self, Peer};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::*;
use crate::guests::network::Wires;

const CHILD: &str =
    r#"{"ignition":{"version":"3.3.0"},"storage":{"files":[{"path":"/a","contents":{"source":"data:,a"}}]}}"#;

/// A server with a CA of its own; the last answer repeats.
struct Server {
    url: String,
    ca: String,
    seen: Arc<Mutex<Vec<Request<()>>>>,
    _task: AbortOnDropHandle<()>,
}

async fn server(answers: &[(u16, &'static str)]) -> Server {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("https://{}/config/worker", listener.local_addr().unwrap());
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let ca = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let script = Arc::new(Mutex::new(answers.iter().copied().collect::<VecDeque<_>>()));
    let requests = seen.clone();
    let handler = move |request: Request<Incoming>, _: Arc<Peer>| {
        requests.lock().unwrap().push(request.map(drop));
        let mut script = script.lock().unwrap();
        let (status, body) = if script.len() > 1 { script.pop_front().unwrap() } else { script[0] };
        std::future::ready(
            Response::builder().status(status).body(Full::new(Bytes::from_static(body.as_bytes()))).unwrap(),
        )
    };
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let task = tokio::spawn(listener::serve(listener, acceptor, CancellationToken::new(), handler));
    Server { url, ca, seen, _task: AbortOnDropHandle::new(task) }
}

fn pointer(url: &str, ca: &str, timeouts: &Value) -> String {
    json!({
        "ignition": {
            "version": "3.3.0",
            "config": { "merge": [{
                "source": url,
                "httpHeaders": [{ "name": "Authorization", "value": "Bearer secret" }],
            }] },
            "security": { "tls": { "certificateAuthorities": [{ "source": format!("data:,{}", ca.replace('\n', "%0A")) }] } },
            "timeouts": timeouts,
        },
    })
    .to_string()
}

/// Resolves a config, and returns what it consists of and what stood on the console.
async fn resolve(config: &str) -> (Result<Vec<Arc<Document>>, IgnitionError>, Vec<String>) {
    let (console, library) = (Console::default(), Library::default());
    let link = Link::new(Wires::default(), &[IpAddr::from([127, 0, 0, 9])]);
    let times = Times { speed: 1000.0, ..Times::default() };
    let provisioner = Provisioner { link: &link, console: &console, times, library: &library, trusted: &[] };
    let config = library.read(config).unwrap();
    (provisioner.resolve(config).await, console.lines())
}

#[tokio::test]
async fn asks_as_ignition_asks() {
    let server = server(&[(200, CHILD)]).await;
    let (resolved, _) = resolve(&pointer(&server.url, &server.ca, &json!({}))).await;
    assert_eq!(resolved.unwrap().iter().map(|document| document.files.len()).collect::<Vec<_>>(), [0, 1]);
    let seen = server.seen.lock().unwrap();
    let header = |name: &str| seen[0].headers().get(name).unwrap().to_str().unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].method().as_str(), seen[0].uri().path()), ("GET", "/config/worker"));
    assert_eq!(header("authorization"), "Bearer secret");
    assert_eq!(header("accept"), "application/vnd.coreos.ignition+json;version=3.3.0, */*;q=0.1");
    assert_eq!(header("user-agent"), "Ignition/2.14.0");
}

#[tokio::test]
async fn server_errors_are_tried_again() {
    let server = server(&[(500, ""), (503, ""), (502, ""), (200, CHILD)]).await;
    let (resolved, console) = resolve(&pointer(&server.url, &server.ca, &json!({}))).await;
    assert_eq!(resolved.unwrap().len(), 2);
    assert_eq!(server.seen.lock().unwrap().len(), 4);
    assert!(console.iter().any(|line| line.ends_with(": 503")), "{console:?}");
}

#[tokio::test]
async fn client_errors_are_final() {
    for status in [400, 401, 403, 404, 429] {
        let server = server(&[(status, "no"), (200, CHILD)]).await;
        let (resolved, _) = resolve(&pointer(&server.url, &server.ca, &json!({}))).await;
        assert!(
            matches!(resolved, Err(IgnitionError::Answer { status: found, .. }) if found == status),
            "{resolved:?}"
        );
        assert_eq!(server.seen.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn no_content_is_an_empty_config() {
    let server = server(&[(204, "")]).await;
    let (resolved, _) = resolve(&pointer(&server.url, &server.ca, &json!({}))).await;
    assert!(resolved.unwrap()[1].files.is_empty());
}

#[tokio::test]
async fn only_the_pinned_authority_counts() {
    let (server, stranger) = (server(&[(200, CHILD)]).await, server(&[(200, CHILD)]).await);
    for ca in [stranger.ca.as_str(), ""] {
        let (resolved, console) = resolve(&pointer(&server.url, ca, &json!({ "httpTotal": 1 }))).await;
        let Err(IgnitionError::TotalTime { evidence, .. }) = resolved else { panic!("{resolved:?}") };
        assert!(evidence.contains("TLS"), "{evidence}");
        assert!(!console.is_empty());
    }
    assert!(server.seen.lock().unwrap().is_empty(), "no request, and no token, went to a stranger");
}

#[tokio::test]
async fn what_is_fetched_is_verified() {
    for body in ["", "{}", r#"{"ignition":{"version":"2.2.0"}}"#] {
        let server = server(&[(200, body)]).await;
        let (resolved, _) = resolve(&pointer(&server.url, &server.ca, &json!({}))).await;
        assert!(
            matches!(resolved, Err(IgnitionError::Json(_) | IgnitionError::Version { .. })),
            "{body}: {resolved:?}"
        );
    }
}

/// A pointer that pins a digest, as the bootstrap machine of a platform with little room for user data has it.
#[tokio::test]
async fn what_a_pointer_pins_is_verified_when_it_is_fetched() {
    let server = server(&[(200, CHILD)]).await;
    let pinned = |contents: &str| {
        let hash = format!("sha256-{:x}", Sha256::digest(contents));
        let ca = server.ca.replace('\n', "%0A");
        let config = json!({ "ignition": {
            "version": "3.3.0",
            "config": { "replace": { "source": server.url, "verification": { "hash": hash } } },
            "security": { "tls": { "certificateAuthorities": [{ "source": format!("data:,{ca}") }] } },
        } });
        config.to_string()
    };
    assert_eq!(resolve(&pinned(CHILD)).await.0.unwrap().len(), 1);
    let renewed = resolve(&pinned("what was there before")).await.0;
    assert!(matches!(&renewed, Err(IgnitionError::Digest { url, .. }) if *url == server.url), "{renewed:?}");
}

#[tokio::test]
async fn configs_may_be_inline_and_may_replace() {
    let child = format!("data:,{}", CHILD.replace('"', "%22"));
    let merge = json!({ "ignition": { "version": "3.3.0", "config": { "merge": [{ "source": child }, { "source": child }] } } });
    assert_eq!(resolve(&merge.to_string()).await.0.unwrap().len(), 3);
    let replace = json!({ "ignition": { "version": "3.3.0", "config": { "replace": { "source": child } } } });
    assert_eq!(resolve(&replace.to_string()).await.0.unwrap().len(), 1);
    let wrong = json!({ "ignition": { "version": "3.3.0", "config": { "merge": [
        { "source": child, "verification": { "hash": format!("sha256-{}", "0".repeat(64)) } },
    ] } } });
    assert!(matches!(resolve(&wrong.to_string()).await.0, Err(IgnitionError::Digest { .. })));
}

#[tokio::test]
async fn configs_that_refer_to_each_other_without_end_are_refused() {
    let mut config = CHILD.to_owned();
    for _ in 0..=DEPTH {
        let source = format!("data:,{}", config.replace('%', "%25").replace('"', "%22"));
        config =
            json!({ "ignition": { "version": "3.3.0", "config": { "merge": [{ "source": source }] } } }).to_string();
    }
    assert!(matches!(resolve(&config).await.0, Err(IgnitionError::Depth { .. })));
}
