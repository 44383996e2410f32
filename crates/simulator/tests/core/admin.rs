//! The admin endpoint.

use landfall_simulator::core::Options;
use serde_json::json;

use super::client::Client;
use super::toy::{start, stepped};

#[tokio::test]
async fn the_clock_can_be_read_and_moved() {
    let running = start(&stepped()).await;
    let (api, admin) = (Client::new(&running), Client::admin(&running));
    let clock = admin.get("/clock").await.unwrap().json();
    let expected = json!({
        "mode": "stepped", "time_scale": null, "next_deadline": null,
        "now": { "seconds": 0.0, "time": "2024-01-01T00:00:00Z" },
    });
    assert_eq!(clock, expected);

    api.post("/items", "one").await.unwrap();
    let clock = admin.post("/clock/step", r#"{"by": "1.5s"}"#).await.unwrap().json();
    assert_eq!((&clock["now"]["seconds"], &clock["next_deadline"]["seconds"]), (&json!(1.5), &json!(5.0)));
    let clock = admin.post("/clock/step", r#"{"by": 1}"#).await.unwrap().json();
    assert_eq!(clock["now"]["time"], "2024-01-01T00:00:02.5Z");
    let clock = admin.post("/clock/next", "").await.unwrap().json();
    assert_eq!((&clock["stepped"], &clock["now"]["seconds"]), (&json!(true), &json!(5.0)));
    let clock = admin.post("/clock/next", "").await.unwrap().json();
    assert_eq!((&clock["stepped"], &clock["now"]["seconds"]), (&json!(false), &json!(5.0)));
    api.post("/machines", "m").await.unwrap();
    let clock = admin.post("/clock/run-until-idle", r#"{"limit": "1s"}"#).await.unwrap().json();
    assert_eq!((&clock["idle"], &clock["now"]["seconds"]), (&json!(false), &json!(6.0)));
    let clock = admin.call("POST", "/clock/run-until-idle", "{}").await.unwrap();
    assert_eq!(clock.status, 422, "a body must say something");
    let request = hyper::Request::post(format!("{}/clock/run-until-idle", running.admin_url()));
    let clock = admin.send(request.body(http_body_util::Empty::<bytes::Bytes>::new()).unwrap()).await.unwrap().json();
    assert_eq!((&clock["idle"], &clock["now"]["seconds"]), (&json!(true), &json!(25.0)));
}

#[tokio::test]
async fn a_scaled_clock_says_so() {
    let running = start(&Options { time_scale: 100.0, ..Options::default() }).await;
    let health = Client::admin(&running).get("/health").await.unwrap().json();
    assert_eq!((&health["status"], &health["clock"]["mode"]), (&json!("ok"), &json!("scaled")));
    assert_eq!(health["clock"]["time_scale"], 100.0);
}

#[tokio::test]
async fn faults_can_be_listed_added_and_removed() {
    let running = start(&Options { faults: vec!["GET /items nth=2 reset".parse().unwrap()], ..stepped() }).await;
    let (api, admin) = (Client::new(&running), Client::admin(&running));
    let added = admin.post("/faults", r#"{"rule": "post /items* status=503"}"#).await.unwrap();
    assert_eq!(added.status, 201);
    let expected = json!({
        "id": 2, "rule": "POST /items* status=503",
        "methods": ["POST"], "path": "/items*", "effect": "status=503", "calls": 0, "fired": 0,
    });
    assert_eq!(added.json(), expected);
    assert_eq!(api.post("/items", "").await.unwrap().status, 503);

    let parts = json!({ "methods": ["PUT"], "path": "*", "trigger": { "first": 1 }, "effect": "throttle=5s", "body": "platform" });
    assert_eq!(
        admin.post("/faults", &parts.to_string()).await.unwrap().json()["rule"],
        "PUT * first=1 throttle=5s body=platform"
    );

    let listed = admin.get("/faults").await.unwrap().json();
    let rules: Vec<_> = listed["faults"].as_array().unwrap().iter().map(|rule| (&rule["id"], &rule["fired"])).collect();
    assert_eq!(rules, [(&json!(1), &json!(0)), (&json!(2), &json!(1)), (&json!(3), &json!(0))]);

    assert_eq!(admin.call("DELETE", "/faults/2", "").await.unwrap().status, 200);
    let gone = admin.call("DELETE", "/faults/2", "").await.unwrap();
    assert_eq!(gone.status, 404);
    assert_eq!(gone.json()["error"], "there is no fault rule 2; list them with GET /admin/faults");
    assert_eq!(api.post("/items", "").await.unwrap().status, 201);
    admin.call("DELETE", "/faults", "").await.unwrap();
    assert_eq!(admin.get("/faults").await.unwrap().json(), json!({ "faults": [] }));
}

#[tokio::test]
async fn mistakes_are_explained() {
    let running = start(&stepped()).await;
    let admin = Client::admin(&running);
    let table = [
        ("/faults", r#"{"rule": "GET /items"}"#, 400, "the rule does nothing"),
        ("/faults", "{", 400, "Failed to parse the request body as JSON"),
        ("/clock/step", r#"{"by": "soon"}"#, 400, "'soon' is not a duration"),
        ("/clock/step", r#"{"by": -1}"#, 400, "'-1' is not a duration"),
        ("/clock/step", "{}", 422, "missing field `by`"),
        ("/nothing", "", 404, "there is no such admin call"),
        ("/toy/nothing", "", 404, "the platform has no admin call POST /nothing"),
    ];
    for (path, body, status, message) in table {
        let answer = admin.post(path, body).await.unwrap();
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        assert_eq!(answer.status, status, "{path} {body}: {error}");
        assert!(error.contains(message), "{path} {body}: {error}");
    }
}

#[tokio::test]
async fn requests_are_counted_until_reset() {
    let running = start(&stepped()).await;
    let (api, admin) = (Client::new(&running), Client::admin(&running));
    for path in ["/items", "/items", "/items/17", "/items/0d3a8b9e-6f0e-4b61-9a55-3f1f8f0f4b11"] {
        api.get(path).await.unwrap();
    }
    let expected = json!({ "total": 4, "requests": { "GET /items": 2, "GET /items/{id}": 2 } });
    assert_eq!(admin.get("/requests").await.unwrap().json(), expected);
    admin.call("DELETE", "/requests", "").await.unwrap();
    assert_eq!(admin.get("/requests").await.unwrap().json(), json!({ "total": 0, "requests": {} }));
}

#[tokio::test]
async fn the_state_and_the_platforms_own_calls_are_there() {
    let running = start(&Options { seed: Some(3), ..stepped() }).await;
    let (api, admin) = (Client::new(&running), Client::admin(&running));
    api.post("/items", "one").await.unwrap();
    assert_eq!(admin.post("/toy/rename", "two").await.unwrap().json(), json!(["two"]));
    let state = admin.get("/state").await.unwrap().json();
    assert_eq!((&state["seed"], &state["items"][0]["name"]), (&json!(3), &json!("two")));
}

#[tokio::test]
async fn web_pages_cannot_use_it() {
    let running = start(&stepped()).await;
    let admin = Client::admin(&running);
    for (name, value) in [("origin", "http://example.com"), ("host", "example.com")] {
        let request = hyper::Request::get(format!("{}/state", running.admin_url())).header(name, value);
        let request = request.body(http_body_util::Empty::<bytes::Bytes>::new()).unwrap();
        assert_eq!(admin.send(request).await.unwrap().status, 403, "{name}");
    }
}
