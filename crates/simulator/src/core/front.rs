//! What every call passes through: counting, a test's hook, faults, the log; and the way from HTTP to the simulation and back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant as RealInstant};

use futures::future::BoxFuture;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue, RETRY_AFTER};

use super::body::{self, Body, ReadError, full};
use super::clock::timestamp;
use super::connection::Hangup;
use super::faults::{Decision, Effect, ErrorBody, FaultPlan};
use super::hook::{Call, Hooked};
use super::recent_calls::{Answered, RecentCalls};
use super::request_counts::RequestCounts;
use super::request_log::{Entry, RequestLog, milliseconds, redact};
use super::server::{Limits, Reply, Service};
use super::simulation::{Injection, Request, Response, Simulation, is_safe};
use super::state_file::{Keeper, StateError};
use super::truncated::truncate;
use super::world::World;

/// How much later a call is handled than it was taken in.
#[derive(Clone, Copy)]
struct Late(Duration);

/// What all listeners of a simulator share.
pub(super) struct Front<S> {
    pub(super) world: World<S>,
    pub(super) faults: Mutex<FaultPlan>,
    pub(super) counts: RequestCounts,
    pub(super) recent: RecentCalls,
    pub(super) log: Option<RequestLog>,
    pub(super) keeper: Option<Arc<Keeper>>,
    pub(super) limits: Limits,
    pub(super) hooked: Hooked,
}

impl<S: Simulation> Front<S> {
    pub(super) fn faults(&self) -> MutexGuard<'_, FaultPlan> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The simulation's own API as a service, on the listener of this number.
    pub(super) fn api(self: &Arc<Self>, listener: usize) -> Arc<dyn Service> {
        let front = self.clone();
        Arc::new(move |request| {
            let front = front.clone();
            async move {
                let api = front.clone();
                let handle = move |request| -> BoxFuture<'static, Reply> {
                    Box::pin(async move { Ok(api.handle(request, listener).await) })
                };
                front.pass("api", request, handle).await
            }
        })
    }

    /// Another service of the platform, with the same counting, faults and log in front.
    pub(super) fn extra(self: &Arc<Self>, name: &'static str, service: Arc<dyn Service>) -> Arc<dyn Service> {
        let front = self.clone();
        Arc::new(move |request| {
            let (front, service) = (front.clone(), service.clone());
            async move { front.pass(name, request, move |request| service.call(request)).await }
        })
    }

    /// Counts and logs a call, and lets faults happen to it before and after `next` handles it.
    async fn pass(
        &self,
        service: &'static str,
        request: hyper::Request<Incoming>,
        next: impl FnOnce(hyper::Request<Incoming>) -> BoxFuture<'static, Reply>,
    ) -> Reply {
        let began = RealInstant::now();
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let (path, query) = (uri.path(), uri.query().unwrap_or_default());
        self.counts.count(method.as_str(), path);
        self.hooked.run(|| Call { service, method: method.to_string(), path: path.to_owned() }).await;
        let decision = self.faults().decide(method.as_str(), path, query);
        let reply = self.suffer(&decision, request, next).await;
        let status = reply.as_ref().ok().map(|response| response.status().as_u16());
        let latency = (!decision.latency.is_zero()).then_some("latency");
        let fault = decision.fault.map(|fault| fault.effect.word()).or(latency);
        let query = redact(query);
        if let Some(log) = &self.log {
            let clock = self.world.clock();
            log.record(&Entry {
                time: timestamp(clock.epoch(), clock.now()),
                service,
                method: method.as_str(),
                path,
                query: &query,
                status,
                duration_ms: milliseconds(began.elapsed()),
                fault,
            });
        }
        let target = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
        self.recent.note(Answered { method: method.to_string(), target, status, fault });
        reply
    }

    async fn suffer(
        &self,
        decision: &Decision,
        mut request: hyper::Request<Incoming>,
        next: impl FnOnce(hyper::Request<Incoming>) -> BoxFuture<'static, Reply>,
    ) -> Reply {
        if !decision.latency.is_zero() {
            self.world.sleep(decision.latency).await;
        }
        match decision.fault.map(|fault| fault.effect) {
            None | Some(Effect::Latency(_)) => next(request).await,
            Some(Effect::Status { code, body }) => Ok(self.refuse(request, code, body).await),
            Some(Effect::Throttle { retry_after, body }) => {
                let mut response = self.refuse(request, 429, body).await;
                response.headers_mut().insert(RETRY_AFTER, retry_after.into());
                Ok(response)
            }
            Some(Effect::HtmlPage) => {
                body::dismiss(request).await;
                Ok(page(StatusCode::OK, "Sign in to continue"))
            }
            Some(Effect::Late(delay)) => {
                request.extensions_mut().insert(Late(delay));
                next(request).await
            }
            Some(Effect::Reset) => Err(Hangup::Reset),
            Some(Effect::LostReply) => {
                next(request).await?;
                Err(Hangup::Close)
            }
            Some(Effect::Truncate(after)) => Ok(next(request).await?.map(|body| truncate(body, after))),
            Some(Effect::Inject(injection)) => {
                request.extensions_mut().insert(injection);
                next(request).await
            }
        }
    }

    /// Answers with an error without handling the request.
    async fn refuse(&self, request: hyper::Request<Incoming>, code: u16, body: ErrorBody) -> hyper::Response<Body> {
        let head = convert(&request);
        body::dismiss(request).await;
        let status = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let own = match body {
            ErrorBody::Html => None,
            ErrorBody::Platform => self.world.view(|simulation, _| simulation.error_response(&head, code)),
        };
        own.map_or_else(|| page(status, status.canonical_reason().unwrap_or("Error")), respond)
    }

    /// Reads a request, lets the simulation answer it, and makes sure that its effect lasts.
    async fn handle(self: Arc<Self>, request: hyper::Request<Incoming>, listener: usize) -> hyper::Response<Body> {
        let late = request.extensions().get::<Late>().copied();
        let mut head = convert(&request);
        head.listener = listener;
        head.body = match body::read(request, self.limits.body_bytes, self.limits.body_timeout).await {
            Ok(body) => body,
            Err(error) => return plain(read_status(&error), &error.to_string()),
        };
        let Some(Late(delay)) = late else { return self.answer(&head).await };
        // A task of its own: it goes on when the connection is gone.
        let handled = tokio::spawn(async move {
            self.world.sleep(delay).await;
            self.answer(&head).await
        });
        handled.await.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "the simulation failed"))
    }

    async fn answer(&self, head: &Request) -> hyper::Response<Body> {
        self.world.hold(head).await;
        let response = self.world.handle(head);
        match self.commit(&head.method).await {
            Ok(()) => respond(response),
            Err(error) => unsaved(&error),
        }
    }

    /// Waits until what was done is in the state file, if there is one and the method may have changed something.
    pub(super) async fn commit(&self, method: &str) -> Result<(), StateError> {
        match &self.keeper {
            Some(keeper) if !is_safe(method) => keeper.saved(self.world.revision()).await,
            _ => Ok(()),
        }
    }
}

/// The answer when what was done is not in the state file, and may be gone after a restart.
pub(super) fn unsaved(error: &StateError) -> hyper::Response<Body> {
    let source = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    plain(StatusCode::INTERNAL_SERVER_ERROR, &format!("{error}: {source}"))
}

fn read_status(error: &ReadError) -> StatusCode {
    match error {
        ReadError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        ReadError::TooSlow(_) => StatusCode::REQUEST_TIMEOUT,
        ReadError::Broken(_) => StatusCode::BAD_REQUEST,
    }
}

/// A request as the simulation sees it, still without its body.
pub(super) fn convert<B>(request: &hyper::Request<B>) -> Request {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = request.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value)));
    let mut headers: Vec<_> = headers.collect();
    // HTTP/2 has the host in the URI.
    if let Some(authority) = request.uri().authority()
        && !request.headers().contains_key(HOST)
    {
        headers.push((HOST.as_str().to_owned(), authority.to_string()));
    }
    Request {
        method: request.method().as_str().to_owned(),
        path: request.uri().path().to_owned(),
        query: request.uri().query().unwrap_or_default().to_owned(),
        headers,
        body: bytes::Bytes::new(),
        listener: 0,
        injection: request.extensions().get::<Injection>().copied(),
    }
}

/// A simulation's answer as HTTP; one that HTTP cannot express is a bug and says so.
pub(super) fn respond(response: Response) -> hyper::Response<Body> {
    let Ok(status) = StatusCode::from_u16(response.status) else {
        return plain(StatusCode::INTERNAL_SERVER_ERROR, "the simulation answered with a status that does not exist");
    };
    let mut answer = hyper::Response::new(full(response.body));
    *answer.status_mut() = status;
    for (name, value) in response.headers {
        let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) else {
            return plain(StatusCode::INTERNAL_SERVER_ERROR, "the simulation answered with a malformed header");
        };
        answer.headers_mut().append(name, value);
    }
    answer
}

/// An answer of the shell itself, outside of any platform's dialect.
pub(super) fn plain(status: StatusCode, message: &str) -> hyper::Response<Body> {
    typed(status, "text/plain; charset=utf-8", format!("{message}\n"))
}

fn page(status: StatusCode, title: &str) -> hyper::Response<Body> {
    let html = format!(
        "<!DOCTYPE html>\n<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{status}</p></body></html>\n"
    );
    typed(status, "text/html; charset=utf-8", html)
}

fn typed(status: StatusCode, content_type: &'static str, text: String) -> hyper::Response<Body> {
    let mut response = hyper::Response::new(full(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
