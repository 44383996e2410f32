//! Simulated time: stepped, scaled, and the same twice.

use std::time::{Duration, Instant as RealInstant};

use landfall_simulator::core::{Options, Request};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::client::{Client, eventually};
use super::toy::{READY_AFTER, start, stepped};

async fn ready(client: &Client) -> Vec<bool> {
    let items = client.get("/items").await.unwrap().json();
    items.as_array().unwrap().iter().map(|item| item["ready_at"].is_null()).collect()
}

#[tokio::test]
async fn a_stepped_clock_moves_only_when_told() {
    let running = start(&stepped()).await;
    let client = Client::new(&running);
    client.post("/items", "one").await.unwrap();
    running.step(READY_AFTER / 2);
    client.post("/items", "two").await.unwrap();
    assert_eq!(ready(&client).await, [false, false]);
    running.step(READY_AFTER / 2);
    assert_eq!(ready(&client).await, [true, false]);
    assert_eq!(running.world().step_to_next_deadline().map(|at| at.0), Some(READY_AFTER * 3 / 2));
    assert_eq!(ready(&client).await, [true, true]);
    assert_eq!(running.world().step_to_next_deadline(), None);
}

#[tokio::test]
async fn years_pass_without_sleeping() {
    let running = start(&stepped()).await;
    Client::new(&running).post("/items", "one").await.unwrap();
    let began = RealInstant::now();
    running.step(Duration::from_hours(24 * 365 * 10));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(ready(&Client::new(&running)).await, [true]);
}

#[tokio::test]
async fn a_scaled_clock_lets_things_happen_by_themselves() {
    let running = start(&Options { time_scale: 10_000.0, ..Options::default() }).await;
    Client::new(&running).post("/items", "one").await.unwrap();
    // No call comes in: it is the driver that wakes up when the item is due.
    let settled = || running.world().next_deadline().is_none().then_some(());
    eventually("the item is ready", settled).await;
    assert_eq!(ready(&Client::new(&running)).await, [true]);
    assert!(running.world().now().0 >= READY_AFTER);
}

#[tokio::test]
async fn running_until_idle_stops_at_the_limit_or_when_nothing_is_pending() {
    let running = start(&stepped()).await;
    Client::new(&running).post("/items", "one").await.unwrap();
    let ran = running.world().run_until_idle(Duration::from_secs(2));
    assert_eq!((ran.now.0, ran.idle), (Duration::from_secs(2), false));
    let ran = running.world().run_until_idle(Duration::from_hours(1));
    assert_eq!((ran.now.0, ran.idle), (READY_AFTER, true));
}

/// Everything that a session of calls, steps and faults answers.
async fn transcript(seed: u64) -> Vec<(String, Value)> {
    let faults = vec!["GET * probability=0.5 status=503 body=platform".parse().unwrap()];
    let running = start(&Options { seed: Some(seed), faults, ..stepped() }).await;
    let client = Client::new(&running);
    let mut answers = Vec::new();
    for number in 0..10 {
        client.post("/machines", &format!("m{number}")).await.unwrap();
        for (method, path) in [("POST", "/items"), ("GET", "/items"), ("GET", "/machines")] {
            let answer = client.call(method, path, &format!("item {number}")).await.unwrap();
            answers.push((answer.status.to_string(), answer.json()));
        }
        running.step(Duration::from_secs(3));
    }
    answers
}

#[tokio::test]
async fn the_same_seed_gives_the_same_answers() {
    let (first, second, other) = tokio::join!(transcript(7), transcript(7), transcript(8));
    assert_eq!(first, second);
    assert_ne!(first, other);
    assert!(first.iter().any(|(status, _)| status.starts_with("503")));
}

#[derive(Clone, Debug)]
enum Action {
    Post(&'static str),
    StepMillis(u64),
}

/// What the world is after these actions, with every step made in parts of at most this length.
async fn outcome(actions: &[Action], part: u64) -> Value {
    let running = start(&Options { http: true, ..stepped() }).await;
    for (number, action) in actions.iter().enumerate() {
        match action {
            Action::Post(path) => {
                let (method, path, query) = ("POST".into(), (*path).into(), String::new());
                let body = format!("thing {number}").into();
                let request = Request { method, path, query, headers: Vec::new(), body, listener: 0, injection: None };
                running.world().handle(&request);
            }
            Action::StepMillis(whole) => {
                let mut left = *whole;
                while left > 0 {
                    let step = left.min(part);
                    running.step(Duration::from_millis(step));
                    left -= step;
                }
            }
        }
    }
    running.world().view(|toy, now| json!([toy, now]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn it_does_not_matter_how_a_step_is_divided(
        actions in prop::collection::vec(
            prop_oneof![
                Just(Action::Post("/items")),
                Just(Action::Post("/machines")),
                (0..30_000_u64).prop_map(Action::StepMillis),
            ],
            0..20,
        ),
        part in 100..10_000_u64,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (whole, divided) = runtime.block_on(async { (outcome(&actions, u64::MAX).await, outcome(&actions, part).await) });
        prop_assert_eq!(whole, divided);
    }
}
