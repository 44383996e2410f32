//! The client against a server with TLS.

use std::{error::Error as _, time::Duration};

use axum::{Router, http::header, routing::get};
use landfall_platform::ErrorClass;
use landfall_testkit::{Authority, HttpsServer};
use landfall_wire::{Client, Error, Limits, Request, Trust};

fn routes() -> Router {
    Router::new()
        .route("/json", get(|| async { ([(header::CONTENT_TYPE, "application/json")], r#"{"vm":[{"memory":"x"}]}"#) }))
        .route(
            "/page",
            get(|| async { ([(header::CONTENT_TYPE, "text/html")], "<html><title>Welcome</title></html>") }),
        )
        .route("/moved", get(|| async { (axum::http::StatusCode::FOUND, [(header::LOCATION, "/json")]) }))
        .route("/busy", get(|| async { axum::http::StatusCode::SERVICE_UNAVAILABLE }))
        .route("/slow", get(|| async { std::future::pending::<String>().await }))
        .route("/large", get(|| async { "x".repeat(2 << 20) }))
}

fn client(trust: &Trust) -> Client {
    client_with(trust, Limits::default())
}

fn client_with(trust: &Trust, limits: Limits) -> Client {
    Client::new(trust, limits).expect("the test's CA can be used")
}

async fn serve() -> (HttpsServer, Trust) {
    let authority = Authority::new("test CA");
    let server = HttpsServer::start(&authority, routes()).await;
    let trust = Trust::Only(server.authority().to_owned());
    (server, trust)
}

fn at(server: &HttpsServer, path: &str) -> Request {
    Request::get(format!("https://{}{path}", server.address()).parse().expect("a URL"))
}

#[tokio::test]
async fn only_the_given_authority_is_trusted() {
    let (server, trust) = serve().await;
    assert_eq!(client(&trust).send(at(&server, "/json")).await.unwrap().status(), 200);
    assert_eq!(client(&Trust::Unverified).send(at(&server, "/json")).await.unwrap().status(), 200);

    let stranger = Trust::Only(Authority::new("another CA").pem().to_owned());
    for trust in [stranger, Trust::System] {
        let error = client(&trust).send(at(&server, "/json")).await.unwrap_err();
        assert!(matches!(error, Error::Certificate { .. }), "{error:?}");
        assert_eq!(error.class(), ErrorClass::Invalid);
        assert!(error.source().unwrap().to_string().contains("UnknownIssuer"), "{error:?}");
    }
}

#[tokio::test]
async fn a_bundle_without_certificates_is_refused() {
    for pem in ["", "hello"] {
        let error = Client::new(&Trust::Only(pem.to_owned()), Limits::default()).unwrap_err();
        assert!(matches!(error, Error::NoRoots), "{error:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_not_what_was_promised_is_named() {
    #[derive(Debug, serde::Deserialize)]
    #[allow(dead_code, reason = "read only to fail")]
    struct Vms {
        vm: Vec<Vm>,
    }
    #[derive(Debug, serde::Deserialize)]
    #[allow(dead_code, reason = "read only to fail")]
    struct Vm {
        memory: u64,
    }
    let (server, trust) = serve().await;
    let error = client(&trust).send(at(&server, "/json")).await.unwrap().json::<Vms>().unwrap_err();
    assert!(error.source().unwrap().to_string().contains("vm[0].memory"), "{error:?}");
}

#[tokio::test]
async fn pages_and_redirects_are_signs_of_a_wrong_address() {
    let (server, trust) = serve().await;
    let page = client(&trust).send(at(&server, "/page")).await.unwrap().successful().unwrap_err();
    assert!(matches!(&page, Error::WebPage { title, status: 200, .. } if title == "Welcome"), "{page:?}");
    let moved = client(&trust).send(at(&server, "/moved")).await.unwrap().successful().unwrap_err();
    assert!(matches!(&moved, Error::Redirect { target, .. } if target == "/json"), "{moved:?}");
}

#[tokio::test]
async fn failures_have_classes() {
    let (server, trust) = serve().await;
    let busy = client(&trust).send(at(&server, "/busy")).await.unwrap().successful().unwrap_err();
    assert_eq!(busy.class(), ErrorClass::Transient);

    let limits = Limits { exchange: Duration::from_millis(200), ..Limits::default() };
    let slow = client_with(&trust, limits).send(at(&server, "/slow")).await.unwrap_err();
    assert!(matches!(slow, Error::Timeout { .. }), "{slow:?}");

    let limits = Limits { answer: 1 << 20, ..Limits::default() };
    let large = client_with(&trust, limits).send(at(&server, "/large")).await.unwrap_err();
    assert!(matches!(large, Error::TooLarge { .. }), "{large:?}");

    let gone = at(&server, "/json");
    drop(server);
    let refused = client(&trust).send(gone).await.unwrap_err();
    assert_eq!(refused.class(), ErrorClass::Transient, "{refused:?}");
}
