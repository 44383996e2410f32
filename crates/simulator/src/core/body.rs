//! Bodies: what a service may answer with, and reading a request's within a limit.

use std::time::Duration;

use bytes::Bytes;
use futures::TryStreamExt;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, BodyStream, Full, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::EXPECT;

/// Any error a body may end with; the connection is then cut, because the status has been sent already.
pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// The body of an answer: a block of bytes or a stream.
pub type Body = UnsyncBoxBody<Bytes, BodyError>;

/// How long a body that is refused is read and dropped before the refusal is sent.
const DISCARD_FOR: Duration = Duration::from_secs(5);

/// A body of known bytes.
pub fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// Why a request's body was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is longer than allowed.
    #[error("the body is larger than {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// It did not arrive in time.
    #[error("the body did not arrive within {} s", .0.as_secs())]
    TooSlow(Duration),
    /// The connection broke or the framing was wrong.
    #[error("the body could not be read")]
    Broken(#[source] BodyError),
}

/// Reads the whole body of a request if it has at most `limit` bytes and arrives within `within`.
///
/// A body that is too large is never held in memory. It is read and dropped for a few seconds, because a client that is
/// still sending would otherwise see a reset instead of the refusal; a client that waits for `100 Continue` is not asked.
pub async fn read(request: hyper::Request<Incoming>, limit: usize, within: Duration) -> Result<Bytes, ReadError> {
    let waits_for_continue = waits_for_continue(&request);
    let mut body = request.into_body();
    let too_large = ReadError::TooLarge { limit };
    if body.size_hint().lower() > limit as u64 {
        if !waits_for_continue {
            discard(&mut body).await;
        }
        return Err(too_large);
    }
    let collected = tokio::time::timeout(within, Limited::new(&mut body, limit).collect()).await;
    match collected {
        Err(_) => Err(ReadError::TooSlow(within)),
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            discard(&mut body).await;
            Err(too_large)
        }
        Ok(Err(error)) => Err(ReadError::Broken(error)),
    }
}

/// Lets go of a request that is answered without looking at its body.
pub async fn dismiss(request: hyper::Request<Incoming>) {
    if !waits_for_continue(&request) {
        discard(&mut request.into_body()).await;
    }
}

fn waits_for_continue(request: &hyper::Request<Incoming>) -> bool {
    request.headers().get(EXPECT).is_some_and(|expected| expected.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// Reads a body that is refused to its end and drops it, for a few seconds at most.
pub(crate) async fn discard(body: &mut Incoming) {
    let drained = BodyStream::new(body).try_for_each(|_| std::future::ready(Ok(())));
    // Whether it ended, broke or took too long: the refusal is sent in any case.
    let _ = tokio::time::timeout(DISCARD_FOR, drained).await;
}
