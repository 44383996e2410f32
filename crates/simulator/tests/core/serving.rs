//! Ordinary service: protocols, certificates, the ready line, the log, guests, the graceful stop.

use std::time::Duration;

use landfall_simulator::core::body::full;
use landfall_simulator::core::guest::{GuestCommand, GuestEvent, GuestEvents, GuestRuntime};
use landfall_simulator::core::{Instant, Options, Stage};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::client::{Client, eventually};
use super::toy::{Toy, start, start_with_faults, stepped};

#[tokio::test]
async fn https_http2_and_plain_http_give_the_same_answers() {
    let running = start(&stepped()).await;
    let created = Client::new(&running).post("/items", "one").await.unwrap();
    assert_eq!(created.status, 201);
    assert_eq!(created.headers["content-type"], "application/json");
    let over_http1 = Client::new(&running).get("/items").await.unwrap();
    let over_http2 = Client::http2(&running).get("/items").await.unwrap();
    assert_eq!(over_http1.body, over_http2.body);

    let plain = start(&Options { http: true, ..stepped() }).await;
    assert!(plain.url().starts_with("http://127.0.0.1:"));
    assert_eq!(plain.ca_file(), None);
    let answer = Client::new(&plain).post("/items", "one").await.unwrap();
    assert_eq!(answer.body, created.body);
}

#[tokio::test]
async fn a_client_that_does_not_know_the_authority_refuses_to_talk() {
    let (one, other) = (start(&stepped()).await, start(&stepped()).await);
    let error = Client::with_ca(one.url(), other.ca_pem()).get("/items").await.unwrap_err();
    assert!(error.to_string().contains("invalid peer certificate"), "{error}");
}

#[tokio::test]
async fn the_authority_in_a_directory_survives_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options { ca_dir: Some(directory.path().join("ca")), listen: "localhost:0".into(), ..stepped() };
    let first = start(&options).await;
    let pem = first.ca_pem().unwrap().to_owned();
    first.stop().await;
    let second = start(&options).await;
    assert_eq!(second.ca_pem(), Some(pem.as_str()));
    assert_eq!(std::fs::read_to_string(second.ca_file().unwrap()).unwrap(), pem);
    Client::new(&second).get("/items").await.unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(directory.path().join("ca/ca.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[tokio::test]
async fn a_temporary_authority_is_removed_with_the_simulator() {
    let running = start(&stepped()).await;
    let ca_file = running.ca_file().unwrap().to_owned();
    assert!(ca_file.exists());
    running.stop().await;
    eventually("the directory is gone", || (!ca_file.exists()).then_some(())).await;
}

#[tokio::test]
async fn the_ready_line_is_one_json_object_with_what_the_platform_adds() {
    let running = start(&stepped()).await;
    let mut out = Vec::new();
    running.announce(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.lines().count(), 1);
    let ready: serde_json::Value = serde_json::from_str(&text).unwrap();
    let expected = json!({
        "platform": "toy",
        "url": format!("{}/items", running.url()),
        "ca_file": running.ca_file().unwrap().to_str().unwrap(),
        "admin_url": running.admin_url(),
        "user": "admin",
    });
    assert_eq!(ready, expected);
}

#[tokio::test]
async fn expecting_a_continue_works() {
    let running = start(&stepped()).await;
    let mut stream = Client::new(&running).connect().await.unwrap();
    let head =
        "POST /items HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).await.unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"one").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
}

#[tokio::test]
async fn a_graceful_stop_lets_requests_in_flight_finish_and_takes_no_new_ones() {
    let running = start_with_faults(&["POST /items latency=1h"]).await;
    let (client, world) = (Client::new(&running), running.world().clone());
    let in_flight = tokio::spawn({
        let client = client.clone();
        async move { client.post("/items", "one").await }
    });
    eventually("the request arrived", || running.request_counts().contains_key("POST /items").then_some(())).await;
    let stop = tokio::spawn(running.stop());
    let began = std::time::Instant::now();
    while client.connect().await.is_ok() {
        assert!(began.elapsed() < super::client::DEADLINE, "still accepts connections");
    }
    assert!(!in_flight.is_finished());
    world.step(Duration::from_hours(1));
    assert_eq!(in_flight.await.unwrap().unwrap().status, 201);
    stop.await.unwrap();
}

/// A client that keeps an HTTP/2 connection and does nothing with it, not even read, as libcurl does between two calls.
#[tokio::test]
async fn a_stop_does_not_wait_for_an_http2_client_that_sleeps() {
    let running = start(&Options { stop_timeout: Duration::from_hours(1), ..stepped() }).await;
    let mut sleeping = Client::http2(&running).connect().await.unwrap();
    let empty_settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    sleeping.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    sleeping.write_all(&empty_settings).await.unwrap();
    let mut header = [0; 9];
    sleeping.read_exact(&mut header).await.unwrap();
    tokio::time::timeout(super::client::DEADLINE, running.stop()).await.expect("the stop does not wait for the client");
}

#[tokio::test]
async fn a_stop_does_not_wait_for_idle_connections_and_cuts_what_takes_too_long() {
    let running = start(&Options {
        faults: vec!["* * latency=1h".parse().unwrap()],
        stop_timeout: Duration::from_millis(50),
        ..stepped()
    })
    .await;
    let client = Client::new(&running);
    let mut idle = client.connect().await.unwrap();
    let stuck = tokio::spawn({
        let client = client.clone();
        async move { client.get("/items").await }
    });
    eventually("the request arrived", || running.request_counts().contains_key("GET /items").then_some(())).await;
    running.stop().await;
    assert!(stuck.await.unwrap().is_err());
    let mut rest = Vec::new();
    let _ = idle.read_to_end(&mut rest).await;
    assert!(rest.is_empty());
}

#[tokio::test]
async fn requests_are_logged_without_secrets_and_bodies() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("requests.jsonl");
    let options = Options {
        log_requests: Some(log.clone()),
        faults: vec!["GET /items nth=2 status=503".parse().unwrap(), "DELETE * lost-reply".parse().unwrap()],
        ..stepped()
    };
    let running = start(&options).await;
    let client = Client::new(&running);
    client.post("/items?password=hush&max=3", "hidden-body").await.unwrap();
    client.get("/items").await.unwrap();
    client.get("/items").await.unwrap();
    client.call("DELETE", "/items", "").await.unwrap_err();
    running.stop().await;

    let text = std::fs::read_to_string(log).unwrap();
    assert!(!text.contains("hush") && !text.contains("hidden-body"), "{text}");
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let facts = |line: &serde_json::Value| {
        assert!(line["duration_ms"].as_f64().unwrap() >= 0.0);
        assert_eq!((&line["service"], &line["time"]), (&json!("api"), &json!("2024-01-01T00:00:00Z")));
        json!([line["method"], line["path"], line["query"], line["status"], line["fault"]])
    };
    let expected = [
        json!(["POST", "/items", "password=***&max=3", 201, null]),
        json!(["GET", "/items", null, 200, null]),
        json!(["GET", "/items", null, 503, "status"]),
        json!(["DELETE", "/items", null, null, "lost-reply"]),
    ];
    assert_eq!(lines.iter().map(facts).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_further_service_shares_certificates_faults_and_the_world() {
    let options = Options { faults: vec!["PUT * reset".parse().unwrap()], ..stepped() };
    let stage = Stage::prepare("toy", &options).await.unwrap();
    let listener = stage.bind("127.0.0.1:0").await.unwrap();
    let url = listener.url().to_owned();
    let extras = |world: &landfall_simulator::core::World<Toy>| {
        let world = world.clone();
        let service = move |_request| {
            let names = world.view(|toy, _| toy.names().join(","));
            async move { Ok(hyper::Response::new(full(names))) }
        };
        vec![listener.serve("extra", service)]
    };
    let running = stage.start(Toy::new(0), extras).unwrap();
    Client::new(&running).post("/items", "one").await.unwrap();
    let client = Client::with_ca(&url, running.ca_pem());
    assert_eq!(client.get("/anything").await.unwrap().text(), "one");
    client.call("PUT", "/anything", "").await.unwrap_err();
    assert_eq!(running.request_counts()["GET /anything"], 1);
}

#[tokio::test]
async fn a_guest_powers_up_and_reports_an_address() {
    let running = start(&stepped()).await;
    let client = Client::new(&running);
    client.post("/machines", "m").await.unwrap();
    assert_eq!(client.get("/machines").await.unwrap().json()[0]["up"], false);
    running.step(Duration::from_secs(20));
    let machines = client.get("/machines").await.unwrap().json();
    assert_eq!(machines, json!([{ "name": "m", "up": true, "addresses": ["10.64.1.1"] }]));
}

/// A runtime whose guests boot in a task of their own.
struct Busy(Option<GuestEvents>);

impl GuestRuntime for Busy {
    fn attach(&mut self, events: GuestEvents) {
        self.0 = Some(events);
    }

    fn command(&mut self, _: Instant, command: GuestCommand) {
        let (Some(events), GuestCommand::Start(machine)) = (self.0.clone(), command) else { return };
        tokio::spawn(async move { events.report(GuestEvent::Booted { id: machine.id }) });
    }

    fn advance(&mut self, _: Instant) -> Vec<GuestEvent> {
        Vec::new()
    }

    fn next_deadline(&self) -> Option<Instant> {
        None
    }
}

#[tokio::test]
async fn a_guest_runtime_may_report_from_its_own_tasks() {
    let stage = Stage::prepare("toy", &stepped()).await.unwrap().with_guests(Busy(None));
    let running = stage.start(Toy::new(0), |_| Vec::new()).unwrap();
    Client::new(&running).post("/machines", "m").await.unwrap();
    let up = || running.world().view(|toy, _| serde_json::json!(toy)["machines"][0]["up"] == true);
    eventually("the guest booted", || up().then_some(())).await;
}
