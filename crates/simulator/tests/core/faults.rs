//! Every fault as a client sees it.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::client::{Client, eventually, io_kind};
use super::toy::{Toy, start, start_with_faults, stepped};
use landfall_simulator::core::{Options, Running};

fn names(running: &Running<Toy>) -> Vec<String> {
    running.world().view(|toy, _| toy.names().into_iter().map(str::to_owned).collect())
}

#[tokio::test]
async fn latency_passes_on_the_simulated_clock() {
    let running = start_with_faults(&["POST /items latency=30s"]).await;
    let client = Client::new(&running);
    let slow = tokio::spawn({
        let client = client.clone();
        async move { client.post("/items", "slow").await }
    });
    eventually("the request arrived", || running.request_counts().contains_key("POST /items").then_some(())).await;
    client.get("/items").await.unwrap();
    assert!(!slow.is_finished() && names(&running).is_empty());
    running.step(Duration::from_secs(29));
    client.get("/items").await.unwrap();
    assert!(!slow.is_finished() && names(&running).is_empty());
    running.step(Duration::from_secs(1));
    assert_eq!(slow.await.unwrap().unwrap().status, 201);
    assert_eq!(names(&running), ["slow"]);
}

#[tokio::test]
async fn latency_is_shorter_when_time_is_faster() {
    let faults = vec!["* * latency=100s".parse().unwrap()];
    let running = start(&Options { faults, time_scale: 10_000.0, ..Options::default() }).await;
    let began = running.world().now();
    Client::new(&running).get("/items").await.unwrap();
    assert!(running.world().now().0 >= began.0 + Duration::from_secs(100));
}

#[tokio::test]
async fn a_status_comes_as_a_page_or_as_the_platforms_own_error() {
    let running =
        start_with_faults(&["POST /items nth=1 status=503", "POST /items nth=2 status=500 body=platform"]).await;
    let client = Client::new(&running);
    let page = client.post("/items", "one").await.unwrap();
    assert_eq!(
        (page.status.as_u16(), &page.headers["content-type"]),
        (503, &"text/html; charset=utf-8".parse().unwrap())
    );
    assert!(page.text().contains("<h1>Service Unavailable</h1>"), "{}", page.text());
    let own = client.post("/items", "two").await.unwrap();
    assert_eq!((own.status.as_u16(), own.json()), (500, json!({ "error": "a toy's error" })));
    assert_eq!(client.post("/items", "three").await.unwrap().status, 201);
    assert_eq!(names(&running), ["three"]);
}

#[tokio::test]
async fn throttling_says_when_to_come_back() {
    let running = start_with_faults(&["GET * first=1 throttle=30s", "GET * throttle=2m body=platform"]).await;
    let client = Client::new(&running);
    let answer = client.get("/items").await.unwrap();
    assert_eq!((answer.status.as_u16(), &answer.headers["retry-after"]), (429, &"30".parse().unwrap()));
    let answer = client.get("/items").await.unwrap();
    assert_eq!(
        (answer.json(), &answer.headers["retry-after"]),
        (json!({ "error": "a toy's error" }), &"120".parse().unwrap())
    );
}

#[tokio::test]
async fn a_reset_comes_before_the_commit() {
    for http in [true, false] {
        let faults = vec!["POST /items nth=1 reset".parse().unwrap()];
        let running = start(&Options { http, faults, ..stepped() }).await;
        let client = Client::new(&running);
        let error = client.post("/items", "one").await.unwrap_err();
        assert_eq!(io_kind(&error), Some(std::io::ErrorKind::ConnectionReset), "{error:?}");
        assert!(names(&running).is_empty());
        client.post("/items", "two").await.unwrap();
        assert_eq!(names(&running), ["two"]);
    }
}

#[tokio::test]
async fn a_lost_reply_comes_after_the_commit() {
    let running = start_with_faults(&["POST /items nth=1 lost-reply"]).await;
    let client = Client::new(&running);
    let mut stream = client.connect().await.unwrap();
    let request = "POST /items HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\none";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A TLS client notices that the end came without a goodbye.
    let error = stream.read_to_end(&mut answer).await.unwrap_err();
    assert_eq!((answer.len(), error.kind()), (0, std::io::ErrorKind::UnexpectedEof));
    assert_eq!(names(&running), ["one"]);
}

#[tokio::test]
async fn a_truncated_answer_breaks_off_in_the_middle() {
    let running = start_with_faults(&["GET /items nth=1 truncate", "GET /items nth=2 truncate=7"]).await;
    let client = Client::new(&running);
    client.post("/items", "one").await.unwrap();
    let whole = running.world().view(|toy, _| json!(toy)["items"].to_string());
    for expected in [whole.len() / 2, 7] {
        let mut stream = client.connect().await.unwrap();
        stream.write_all(b"GET /items HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap_err();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.to_ascii_lowercase().contains(&format!("content-length: {}", whole.len())), "{head}");
        assert_eq!(body, &whole[..expected]);
    }
    assert_eq!(client.get("/items").await.unwrap().text(), whole);
}

#[tokio::test]
async fn a_large_answer_is_truncated_where_it_should_be() {
    let running = start_with_faults(&["GET /items truncate=600000"]).await;
    running.world().with(|toy, now| {
        let body = "x".repeat(1_000_000).into();
        let (method, path, query) = ("POST".into(), "/items".into(), String::new());
        let request = landfall_simulator::core::Request {
            method,
            path,
            query,
            headers: vec![],
            body,
            listener: 0,
            injection: None,
        };
        landfall_simulator::core::Simulation::handle(toy, now, &request)
    });
    let mut stream = Client::new(&running).connect().await.unwrap();
    stream.write_all(b"GET /items HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap_err();
    let head = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    assert_eq!(answer.len() - head, 600_000);
}

#[tokio::test]
async fn an_html_page_takes_the_place_of_an_answer() {
    let running = start_with_faults(&["POST /items html-page"]).await;
    let answer = Client::new(&running).post("/items", "one").await.unwrap();
    assert_eq!(
        (answer.status.as_u16(), &answer.headers["content-type"]),
        (200, &"text/html; charset=utf-8".parse().unwrap())
    );
    assert!(answer.text().starts_with("<!DOCTYPE html>"));
    assert!(names(&running).is_empty());
}

#[tokio::test]
async fn the_platform_gets_the_faults_that_only_it_can_express() {
    let injections = [
        ("token-expired", json!("token-expired")),
        ("stuck-lock", json!("stuck-lock")),
        ("no-capacity", json!("no-capacity")),
        ("slow-state=10", json!({ "slow-state": 10 })),
    ];
    for (word, expected) in injections {
        let running = start_with_faults(&[&format!("POST /items nth=1 {word}")]).await;
        let client = Client::new(&running);
        assert_eq!(client.post("/items", "").await.unwrap().json(), json!({ "injected": expected }));
        assert_eq!(client.post("/items", "").await.unwrap().status, 201);
    }
}

#[tokio::test]
async fn http2_suffers_the_same_faults() {
    let rules =
        ["POST /items nth=1 reset", "POST /items nth=2 lost-reply", "GET * nth=1 truncate=3", "GET * nth=2 status=503"];
    let running = start_with_faults(&rules).await;
    let client = Client::http2(&running);
    client.post("/items", "reset").await.unwrap_err();
    client.post("/items", "lost").await.unwrap_err();
    assert_eq!(names(&running), ["lost"]);
    client.get("/items").await.unwrap_err();
    assert_eq!(client.get("/items").await.unwrap().status, 503);
    assert_eq!(client.get("/items").await.unwrap().status, 200);
}
