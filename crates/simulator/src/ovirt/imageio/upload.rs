//! Writing: `PUT` streams bytes into an image, `PATCH` zeroes and flushes it.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Limited};
use hyper::Response;
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_RANGE};
use serde::Deserialize;

use super::range::content_range_start;
use super::refusal::Refusal;
use super::service::{Call, blocking, within};
use crate::core::body::{self, Body};

/// How much of a body is collected before it is written: a thread is woken for each piece.
const PIECE: usize = 1 << 20;
/// The longest `PATCH` message.
const MESSAGE_LIMIT: usize = 64 * 1024;
/// How long a client may be silent in the middle of a body. A transfer with a request under way is never idle, so whoever
/// stops sending has to be sent away.
const SILENCE_TIMEOUT: Duration = Duration::from_mins(1);
/// How long a client may take to send a `PATCH` message.
const MESSAGE_TIMEOUT: Duration = Duration::from_mins(1);

impl Call<'_> {
    pub(super) async fn put(&self, id: &str, body: &mut Incoming) -> Result<Response<Body>, Refusal> {
        let size = self.content_length()?;
        let offset = match self.header(&CONTENT_RANGE)? {
            Some(header) => content_range_start(header)?,
            None => 0,
        };
        let flush = match self.query.get("flush").map(String::as_str) {
            None | Some("y") => true,
            Some("n") => false,
            Some(other) => {
                let message = format!("Unsupported value '{other}' for 'flush', expecting one of ['n', 'y']");
                return Err(Refusal::bad_request(message));
            }
        };
        let ticket = self.authorize_write(id)?;
        let operation = self.begin(id);
        let image = Arc::new(self.open(ticket).await?);
        within(offset, size, image.limit().map_err(|error| Refusal::internal(&error))?)?;

        let mut at = offset;
        while let Some(piece) = next_piece(body).await? {
            self.authorize_write(id)?;
            let (image, start) = (image.clone(), at);
            at += piece.len() as u64;
            blocking(move || image.write(start, &piece)).await?;
            operation.done(start..at);
        }
        if at - offset != size {
            let message = format!("Requested {size} bytes, available {} bytes", at - offset);
            return Err(Refusal::bad_request(message));
        }
        if flush {
            blocking(move || image.flush()).await?;
        }
        Ok(Response::new(body::full(Bytes::new())))
    }

    pub(super) async fn patch(&self, id: &str, body: &mut Incoming) -> Result<Response<Body>, Refusal> {
        let message = read_message(body).await?;
        let ticket = self.authorize_write(id)?;
        let operation = self.begin(id);
        let image = Arc::new(self.open(ticket).await?);
        if let Message::Zero { offset, size, .. } = message {
            within(offset, size, image.limit().map_err(|error| Refusal::internal(&error))?)?;
            let image = image.clone();
            blocking(move || image.zero(offset, size)).await?;
            operation.done(offset..offset + size);
        }
        if matches!(message, Message::Flush | Message::Zero { flush: true, .. }) {
            blocking(move || image.flush()).await?;
        }
        Ok(Response::new(body::full(Bytes::new())))
    }

    fn content_length(&self) -> Result<u64, Refusal> {
        let header = self
            .header(&CONTENT_LENGTH)?
            .ok_or_else(|| Refusal::bad_request("Content-Length header is required".to_owned()))?;
        header.parse().map_err(|_| Refusal::bad_request(format!("Invalid Content-Length: '{header}'")))
    }

    pub(super) fn header(&self, name: &hyper::header::HeaderName) -> Result<Option<&str>, Refusal> {
        let value = self.parts.headers.get(name).map(hyper::header::HeaderValue::to_str).transpose();
        value.map_err(|_| Refusal::bad_request(format!("Invalid {name}: not text")))
    }
}

/// Collects up to about a [`PIECE`] of the body; `None` at its end.
async fn next_piece(body: &mut Incoming) -> Result<Option<Bytes>, Refusal> {
    let mut piece = BytesMut::new();
    while piece.len() < PIECE {
        let frame = tokio::time::timeout(SILENCE_TIMEOUT, body.frame()).await;
        match frame.map_err(|_| Refusal::too_slow())? {
            None => break,
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    piece.extend_from_slice(&data);
                }
            }
            Some(Err(error)) => return Err(Refusal::bad_request(format!("The request body broke off: {error}"))),
        }
    }
    Ok(if piece.is_empty() { None } else { Some(piece.freeze()) })
}

/// What a `PATCH` asks for. Other keys are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
enum Message {
    Zero {
        size: u64,
        #[serde(default)]
        offset: u64,
        #[serde(default)]
        flush: bool,
    },
    Flush,
}

async fn read_message(body: &mut Incoming) -> Result<Message, Refusal> {
    let collected = tokio::time::timeout(MESSAGE_TIMEOUT, Limited::new(body, MESSAGE_LIMIT).collect());
    let bytes = match collected.await {
        Ok(Ok(collected)) => collected.to_bytes(),
        Ok(Err(error)) => return Err(Refusal::bad_request(format!("Cannot read the message: {error}"))),
        Err(_) => return Err(Refusal::too_slow()),
    };
    serde_json::from_slice(&bytes).map_err(|error| Refusal::bad_request(format!("Invalid JSON message {error}")))
}
