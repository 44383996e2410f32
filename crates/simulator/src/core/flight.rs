//! A request in flight: from its arrival until the last of its answer was handed over.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::body::{Body, BodyError};

/// A body that keeps its request in flight until it is dropped.
struct FlyingBody {
    body: Body,
    _flight: TaskTrackerToken,
}

/// Keeps the request of `response` in flight until its body was handed over.
pub(super) fn keep(response: hyper::Response<Body>, flight: TaskTrackerToken) -> hyper::Response<Body> {
    response.map(|body| FlyingBody { body, _flight: flight }.boxed_unsync())
}

impl HttpBody for FlyingBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
