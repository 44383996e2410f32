//! The endpoint: which request goes where, and what they all have in common.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, EXPECT, HeaderValue, SERVER};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response};
use serde::Serialize;
use serde_json::json;

use super::activity::{Activity, Operation};
use super::checksum::Algorithm;
use super::image::Image;
use super::refusal::Refusal;
use super::store::ImageStore;
use super::ticket::{Denied, Ticket, Tickets};
use crate::core::body::{self, Body};
use crate::core::{Reply, Service};

/// The version that this endpoint answers like.
const VERSION: &str = "2.5.1";
const READ_FEATURES: [&str; 2] = ["checksum", "extents"];
const ALL_FEATURES: [&str; 4] = ["checksum", "extents", "flush", "zero"];

/// The image transfer endpoint of all hosts, and the proxy of the engine: they answer alike.
#[derive(Clone)]
pub struct ImageIo {
    store: Arc<ImageStore>,
    engine: Arc<dyn Tickets>,
    activity: Arc<Activity>,
}

impl ImageIo {
    /// Serves the images in `store` to those who have a ticket of `engine`.
    pub fn new(store: Arc<ImageStore>, engine: Arc<dyn Tickets>) -> Self {
        Self { store, engine, activity: Arc::default() }
    }

    async fn answer(self, request: Request<Incoming>) -> Response<Body> {
        let (parts, mut body) = request.into_parts();
        let mut response = match self.route(&parts, &mut body).await {
            Ok(response) => response,
            Err(refusal) => {
                // Read on, or a client that is still sending would see a reset instead of the reason.
                if !parts.headers.contains_key(EXPECT) {
                    body::discard(&mut body).await;
                }
                refusal.into_response()
            }
        };
        let server = HeaderValue::try_from(format!("imageio/{VERSION}")).expect("a version is a header value");
        response.headers_mut().insert(SERVER, server);
        response
    }

    async fn route(&self, parts: &Parts, body: &mut Incoming) -> Result<Response<Body>, Refusal> {
        let path = parts.uri.path();
        let method = &parts.method;
        if path == "/info/" {
            return match *method {
                Method::GET => Ok(json_response(&json!({ "version": VERSION }))),
                _ => Err(Refusal::method(method, path)),
            };
        }
        let rest =
            path.strip_prefix("/images/").ok_or_else(|| Refusal::not_found(format!("No handler for '{path}'")))?;
        let call = Call { service: self, parts, query: query(parts) };
        let sub_resources = ["/checksum/algorithms", "/checksum", "/extents"];
        let (id, sub_resource) = sub_resources
            .into_iter()
            .find_map(|name| rest.strip_suffix(name).map(|id| (id, name)))
            .unwrap_or((rest, ""));
        if sub_resource == "/checksum/algorithms" && method == Method::GET {
            return Ok(json_response(&json!({ "algorithms": Algorithm::ALL.map(Algorithm::name) })));
        }
        if id.is_empty() {
            return Err(Refusal::bad_request("Ticket id is required".to_owned()));
        }
        match (method, sub_resource) {
            (&Method::OPTIONS, "") => call.options(id).await,
            (&Method::GET, "") => call.get(id).await,
            (&Method::PUT, "") => call.put(id, body).await,
            (&Method::PATCH, "") => call.patch(id, body).await,
            (&Method::GET, "/extents") => call.extents(id).await,
            (&Method::GET, "/checksum") => call.checksum(id).await,
            _ => Err(Refusal::method(method, path)),
        }
    }
}

impl Service for ImageIo {
    fn call(&self, request: Request<Incoming>) -> BoxFuture<'static, Reply> {
        let answer = self.clone().answer(request);
        Box::pin(async { Ok(answer.await) })
    }
}

/// One request for an image. What it does is in the files `upload` and `download`.
pub(super) struct Call<'a> {
    service: &'a ImageIo,
    pub(super) parts: &'a Parts,
    pub(super) query: HashMap<String, String>,
}

impl Call<'_> {
    /// What may be done with a ticket. The name `*` stands for any.
    ///
    /// A Unix socket is never offered: a client on the same machine would use it instead of the network.
    async fn options(&self, id: &str) -> Result<Response<Body>, Refusal> {
        if id == "*" {
            return Ok(allow("OPTIONS,GET,PUT,PATCH", json_response(&json!({ "features": ALL_FEATURES }))));
        }
        let ticket = self.authorize(id)?;
        let operation = self.begin(id);
        let (readers, writers) = self.open(ticket).await?.connections();
        drop(operation);
        let (methods, features) = if ticket.write {
            ("OPTIONS,GET,PUT,PATCH", &ALL_FEATURES[..])
        } else {
            ("OPTIONS,GET", &READ_FEATURES[..])
        };
        let options = json!({ "features": features, "max_readers": readers, "max_writers": writers });
        Ok(allow(methods, json_response(&options)))
    }

    pub(super) fn authorize(&self, id: &str) -> Result<Ticket, Refusal> {
        self.service.engine.authorize(id).map_err(|denied| self.refuse(id, denied))
    }

    pub(super) fn authorize_write(&self, id: &str) -> Result<Ticket, Refusal> {
        let ticket = self.authorize(id)?;
        if ticket.write { Ok(ticket) } else { Err(Refusal::forbids(ticket.transfer, "write")) }
    }

    fn refuse(&self, id: &str, denied: Denied) -> Refusal {
        self.service.activity.forget(id);
        Refusal::denied(id, denied)
    }

    /// Marks the ticket as in use.
    pub(super) fn begin(&self, id: &str) -> Operation {
        Operation::begin(self.service.activity.clone(), self.service.engine.clone(), id)
    }

    pub(super) async fn open(&self, ticket: Ticket) -> Result<Image, Refusal> {
        let store = self.service.store.clone();
        blocking(move || store.image(ticket.image, ticket.spec())).await
    }

    /// For bodies that outlive the call.
    pub(super) fn engine(&self) -> Arc<dyn Tickets> {
        self.service.engine.clone()
    }
}

/// Runs what reads or writes files on a thread that may wait.
pub(super) async fn blocking<T, E>(work: impl FnOnce() -> Result<T, E> + Send + 'static) -> Result<T, Refusal>
where
    T: Send + 'static,
    E: std::error::Error + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| Refusal::internal(&error)),
        Err(error) => Err(Refusal::internal(&error)),
    }
}

/// Checks that a range lies within what a ticket allows.
pub(super) fn within(offset: u64, size: u64, limit: u64) -> Result<(), Refusal> {
    if offset.checked_add(size).is_some_and(|end| end <= limit) {
        Ok(())
    } else {
        Err(Refusal::range("Requested range out of allowed range".to_owned(), Some(limit)))
    }
}

pub(super) fn json_response(value: &impl Serialize) -> Response<Body> {
    let text = serde_json::to_string(value).expect("answers are plain data");
    let mut response = Response::new(body::full(text + "\n"));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn allow(methods: &'static str, mut response: Response<Body>) -> Response<Body> {
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    response
}

/// The last value of each key counts.
fn query(parts: &Parts) -> HashMap<String, String> {
    url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()).into_owned().collect()
}
