//! The admin endpoint: a simulator's clock, faults, counts and state, under `/admin` on a listener of its own.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde::Deserialize;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::clock::{Pace, parse_duration, timestamp};
use super::faults::Rule;
use super::front::{Front, convert, respond, unsaved};
use super::server::{Reply, Service};
use super::simulation::{Instant, Request, Simulation};

/// How far `run-until-idle` goes on the simulated clock if nothing else is asked for.
const DEFAULT_RUN: Duration = Duration::from_hours(1);

/// The largest body the admin endpoint reads.
const BODY_LIMIT: usize = 16 * 1024 * 1024;

type Shared<S> = State<Arc<Front<S>>>;

/// Everything under `/admin` as a service; `platform` names the part that the simulation answers itself.
pub(super) fn service<S: Simulation>(front: &Arc<Front<S>>, platform: &str) -> Arc<dyn Service> {
    let router = Router::new()
        .route("/admin/health", get(health::<S>))
        .route("/admin/state", get(state::<S>))
        .route("/admin/clock", get(clock::<S>))
        .route("/admin/clock/step", post(step::<S>))
        .route("/admin/clock/next", post(next::<S>))
        .route("/admin/clock/run-until-idle", post(run_until_idle::<S>))
        .route("/admin/faults", get(list_faults::<S>).post(add_fault::<S>).delete(clear_faults::<S>))
        .route("/admin/faults/{id}", delete(remove_fault::<S>))
        .route("/admin/requests", get(requests::<S>).delete(reset_requests::<S>))
        .route("/admin/guests", axum::routing::any(guest_call::<S>))
        .route("/admin/guests/{*path}", axum::routing::any(guest_call::<S>))
        .route(&format!("/admin/{platform}/{{*path}}"), axum::routing::any(platform_call::<S>))
        .fallback(async || Problem(StatusCode::NOT_FOUND, "there is no such admin call; see docs/simulators.md".into()))
        .layer(axum::extract::DefaultBodyLimit::max(BODY_LIMIT))
        .with_state(front.clone());
    let front = front.clone();
    Arc::new(move |request: hyper::Request<Incoming>| {
        let (front, router) = (front.clone(), router.clone());
        async move { answer(&front, router, request).await }
    })
}

async fn answer<S: Simulation>(front: &Front<S>, router: Router, request: hyper::Request<Incoming>) -> Reply {
    let method = request.method().clone();
    let response = if is_local(request.headers()) {
        router.oneshot(request.map(axum::body::Body::new)).await.unwrap_or_else(|never| match never {})
    } else {
        let message = "the admin endpoint is not for web pages: call it by its address";
        Problem(StatusCode::FORBIDDEN, message.to_owned()).into_response()
    };
    if let Err(error) = front.commit(method.as_str()).await {
        return Ok(unsaved(&error));
    }
    Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
}

/// Whether this is not a browser that some page sent here: it would name the page as its origin, or by rebinding a name of
/// the page's as the host.
fn is_local(headers: &HeaderMap) -> bool {
    let host = headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name).trim_matches(['[', ']']);
    let is_address = name.parse::<std::net::IpAddr>().is_ok();
    (is_address || name == "localhost") && !headers.contains_key("origin")
}

/// Why an admin call was not carried out, as its caller sees it.
struct Problem(StatusCode, String);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.0, Json(json!({ "error": self.1 }))).into_response()
    }
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        Self(rejection.status(), rejection.body_text())
    }
}

async fn health<S: Simulation>(State(front): Shared<S>) -> Json<Value> {
    Json(json!({ "status": "ok", "clock": describe_clock(&front) }))
}

async fn state<S: Simulation>(State(front): Shared<S>) -> Json<Value> {
    Json(front.world.view(|simulation, _| simulation.snapshot()))
}

async fn clock<S: Simulation>(State(front): Shared<S>) -> Json<Value> {
    Json(describe_clock(&front))
}

fn describe_clock<S: Simulation>(front: &Front<S>) -> Value {
    let clock = front.world.clock();
    let point = |at: Instant| json!({ "seconds": at.0.as_secs_f64(), "time": timestamp(clock.epoch(), at) });
    let (mode, scale) = match clock.pace() {
        Pace::Stepped => ("stepped", Value::Null),
        Pace::Scaled(scale) => ("scaled", scale.into()),
    };
    let next_deadline = front.world.next_deadline().map(point);
    json!({ "mode": mode, "time_scale": scale, "now": point(clock.now()), "next_deadline": next_deadline })
}

/// A duration as `"90s"` or as a number of seconds.
#[derive(Deserialize)]
#[serde(untagged)]
enum Span {
    Seconds(f64),
    Text(String),
}

impl Span {
    fn read(&self) -> Result<Duration, Problem> {
        let (text, duration) = match self {
            Self::Text(text) => (text.clone(), parse_duration(text).ok()),
            Self::Seconds(seconds) => (seconds.to_string(), Duration::try_from_secs_f64(*seconds).ok()),
        };
        let message = || format!("'{text}' is not a duration; write for example \"90s\", \"1h30m\" or 90");
        duration.ok_or_else(|| Problem(StatusCode::BAD_REQUEST, message()))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    by: Span,
}

async fn step<S: Simulation>(
    State(front): Shared<S>,
    step: Result<Json<Step>, JsonRejection>,
) -> Result<Json<Value>, Problem> {
    front.world.step(step?.by.read()?);
    Ok(Json(describe_clock(&front)))
}

async fn next<S: Simulation>(State(front): Shared<S>) -> Json<Value> {
    let stepped = front.world.step_to_next_deadline().is_some();
    Json(with("stepped", stepped, describe_clock(&front)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    limit: Span,
}

async fn run_until_idle<S: Simulation>(
    State(front): Shared<S>,
    run: Result<Option<Json<Run>>, JsonRejection>,
) -> Result<Json<Value>, Problem> {
    let limit = run?.map_or(Ok(DEFAULT_RUN), |run| run.limit.read())?;
    let ran = front.world.run_until_idle(limit);
    Ok(Json(with("idle", ran.idle, describe_clock(&front))))
}

fn with(name: &str, value: bool, mut object: Value) -> Value {
    object[name] = value.into();
    object
}

async fn list_faults<S: Simulation>(State(front): Shared<S>) -> Json<Value> {
    let rules = front.faults().rules();
    Json(json!({ "faults": rules }))
}

/// Takes a rule as text (`{"rule": "…"}`) or by its parts, as the list shows them.
async fn add_fault<S: Simulation>(
    State(front): Shared<S>,
    body: Result<Json<Value>, JsonRejection>,
) -> Result<Response, Problem> {
    let Json(body) = body?;
    let rule = match body.get("rule").and_then(Value::as_str) {
        Some(text) => text.parse::<Rule>().map_err(|error| error.to_string()),
        None => serde_json::from_value(body).map_err(|error| error.to_string()),
    };
    let rule = rule.map_err(|message| Problem(StatusCode::BAD_REQUEST, message))?;
    let mut faults = front.faults();
    let id = faults.add(rule);
    Ok((StatusCode::CREATED, Json(faults.rule(id))).into_response())
}

async fn clear_faults<S: Simulation>(State(front): Shared<S>) -> Json<Value> {
    front.faults().clear();
    Json(json!({ "faults": [] }))
}

async fn remove_fault<S: Simulation>(State(front): Shared<S>, Path(id): Path<u64>) -> Result<Json<Value>, Problem> {
    let message = || format!("there is no fault rule {id}; list them with GET /admin/faults");
    let removed = front.faults().remove(id);
    removed.then(|| Json(json!({}))).ok_or_else(|| Problem(StatusCode::NOT_FOUND, message()))
}

async fn requests<S: Simulation>(State(front): Shared<S>) -> Json<Value> {
    let counts = front.counts.all();
    Json(json!({ "total": counts.values().sum::<u64>(), "requests": counts }))
}

async fn reset_requests<S: Simulation>(State(front): Shared<S>) -> Json<Value> {
    front.counts.reset();
    Json(json!({ "total": 0, "requests": {} }))
}

/// A request with the path that comes after the part of the endpoint it is for.
async fn inner(path: &str, request: axum::extract::Request) -> Result<Request, Problem> {
    let mut head = convert(&request);
    head.path = format!("/{path}");
    let broken = |error| Problem(StatusCode::BAD_REQUEST, format!("the body could not be read: {error}"));
    head.body = axum::body::to_bytes(request.into_body(), BODY_LIMIT).await.map_err(broken)?;
    Ok(head)
}

async fn guest_call<S: Simulation>(
    State(front): Shared<S>,
    path: Option<Path<String>>,
    request: axum::extract::Request,
) -> Result<Response, Problem> {
    let head = inner(path.as_deref().map_or("", String::as_str), request).await?;
    let message = || format!("these guests have no admin call {} {}", head.method, head.path);
    let answer = front.world.administer_guests(&head).ok_or_else(|| Problem(StatusCode::NOT_FOUND, message()))?;
    Ok(respond(answer).map(axum::body::Body::new).into_response())
}

async fn platform_call<S: Simulation>(
    State(front): Shared<S>,
    Path(path): Path<String>,
    request: axum::extract::Request,
) -> Result<Response, Problem> {
    let head = inner(&path, request).await?;
    let answer = if head.is_safe() {
        front.world.with_unchanged(|simulation, now| simulation.administer(now, &head))
    } else {
        front.world.with(|simulation, now| simulation.administer(now, &head))
    };
    let message = || format!("the platform has no admin call {} {}", head.method, head.path);
    let answer = answer.ok_or_else(|| Problem(StatusCode::NOT_FOUND, message()))?;
    Ok(respond(answer).map(axum::body::Body::new).into_response())
}
