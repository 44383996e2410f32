//! A body that breaks off before its announced end.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Frame, SizeHint};

use super::body::{Body, BodyError};

/// Gives the first bytes of another body, announces all of it, and then fails.
struct Truncated {
    inner: Body,
    left: u64,
    /// Whether the writer had a chance to send what it got: it drops that with the connection if the failure comes at once.
    flushed: bool,
}

/// Lets a body break off after so many bytes, or after half of them if its length is known.
pub(super) fn truncate(inner: Body, after: Option<u64>) -> Body {
    let left = after.unwrap_or_else(|| inner.size_hint().exact().unwrap_or_default() / 2);
    Truncated { inner, left, flushed: false }.boxed_unsync()
}

impl hyper::body::Body for Truncated {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.left == 0 {
            if self.flushed {
                return Poll::Ready(Some(Err("the answer is cut off here by a fault rule".into())));
            }
            self.flushed = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(cx));
        Poll::Ready(match frame {
            Some(Ok(frame)) => Some(Ok(frame.map_data(|mut data| {
                let length = usize::try_from(self.left).map_or(data.len(), |left| left.min(data.len()));
                data.truncate(length);
                self.left -= length as u64;
                data
            }))),
            other => other,
        })
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }

    fn is_end_stream(&self) -> bool {
        false
    }
}
