//! Reading: `GET` streams bytes out of an image, and its extents and checksum describe it.

use std::sync::Arc;

use bytes::Bytes;
use futures::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use hyper::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderValue, RANGE};
use hyper::{Response, StatusCode};

use super::activity::Operation;
use super::checksum::{Algorithm, BLOCK_ALIGNMENT, DEFAULT_BLOCK_SIZE, MAX_BLOCK_SIZE, MIN_BLOCK_SIZE};
use super::image::Image;
use super::range::ByteRange;
use super::refusal::Refusal;
use super::service::{Call, blocking, json_response, within};
use super::sparse::to_usize;
use super::ticket::Tickets;
use crate::core::body::{Body, BodyError};

/// How much is read at a time.
const PIECE: u64 = 256 * 1024;

impl Call<'_> {
    pub(super) async fn get(&self, id: &str) -> Result<Response<Body>, Refusal> {
        let range = self.header(&RANGE)?.map(ByteRange::parse).transpose()?;
        let ticket = self.authorize(id)?;
        let operation = self.begin(id);
        let image = self.open(ticket).await?;
        let available = image.size().map_err(|error| Refusal::internal(&error))?;
        let first = range.map_or(0, |range| range.first);
        let end = match range.and_then(|range| range.last) {
            Some(last) => last.saturating_add(1),
            None => available.max(first),
        };
        within(first, end - first, available)?;

        let header = |text: String| HeaderValue::try_from(text).expect("digits are a header value");
        let reading = Reading { image: Arc::new(image), operation, engine: self.engine(), id: id.to_owned() };
        let mut response = Response::new(reading.body(first, end));
        let headers = response.headers_mut();
        headers.insert(CONTENT_LENGTH, header((end - first).to_string()));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
        if range.is_some() {
            let last = end.saturating_sub(1);
            headers.insert(CONTENT_RANGE, header(format!("bytes {first}-{last}/{available}")));
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        }
        Ok(response)
    }

    pub(super) async fn extents(&self, id: &str) -> Result<Response<Body>, Refusal> {
        let ticket = self.authorize(id)?;
        match self.query.get("context").map(String::as_str) {
            None | Some("zero") => {}
            Some("dirty") => return Err(Refusal::not_found("Ticket does not support dirty extents".to_owned())),
            Some(other) => {
                let message = format!("Unsupported value '{other}' for 'context', expecting one of ['dirty', 'zero']");
                return Err(Refusal::bad_request(message));
            }
        }
        let _operation = self.begin(id);
        let image = self.open(ticket).await?;
        Ok(json_response(&blocking(move || image.extents()).await?))
    }

    pub(super) async fn checksum(&self, id: &str) -> Result<Response<Body>, Refusal> {
        let algorithm = match self.query.get("algorithm") {
            None => Algorithm::Blake2b,
            Some(name) => Algorithm::from_name(name).ok_or_else(|| {
                let names = Algorithm::ALL.map(Algorithm::name);
                let message = format!("Unsupported value '{name}' for 'algorithm', expecting one of {names:?}");
                Refusal::bad_request(message)
            })?,
        };
        let block_size = match self.query.get("block_size") {
            None => DEFAULT_BLOCK_SIZE,
            Some(text) => text.parse().map_err(|_| Refusal::bad_request(format!("Invalid block size: '{text}'")))?,
        };
        if !(MIN_BLOCK_SIZE..=MAX_BLOCK_SIZE).contains(&block_size) {
            let message = format!("Block size out of allowed range: {MIN_BLOCK_SIZE}-{MAX_BLOCK_SIZE}");
            return Err(Refusal::bad_request(message));
        }
        if !block_size.is_multiple_of(BLOCK_ALIGNMENT) {
            return Err(Refusal::bad_request(format!("Block size is not aligned to {BLOCK_ALIGNMENT}")));
        }
        let ticket = self.authorize(id)?;
        let _operation = self.begin(id);
        let image = self.open(ticket).await?;
        Ok(json_response(&blocking(move || image.checksum(algorithm, block_size)).await?))
    }
}

/// An image on its way to a client.
struct Reading {
    image: Arc<Image>,
    operation: Operation,
    engine: Arc<dyn Tickets>,
    id: String,
}

impl Reading {
    /// The bytes from `first` to `end`. The connection is cut when the ticket is withdrawn meanwhile: the status has been
    /// sent, so that is the only way left to say so.
    fn body(self, first: u64, end: u64) -> Body {
        let pieces = stream::try_unfold((self, first), move |(reading, at)| async move {
            if at == end {
                return Ok::<_, BodyError>(None);
            }
            reading.engine.authorize(&reading.id)?;
            let (image, next) = (reading.image.clone(), end.min(at + PIECE));
            let read = move || {
                let mut piece = vec![0; to_usize(next - at)];
                image.read(at, &mut piece).map(|()| Bytes::from(piece))
            };
            let piece = tokio::task::spawn_blocking(read).await??;
            reading.operation.done(at..next);
            Ok(Some((Frame::data(piece), (reading, next))))
        });
        StreamBody::new(pieces).boxed_unsync()
    }
}
