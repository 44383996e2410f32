//! Errors as imageio answers them: a status and a line of text.

use hyper::header::{CONNECTION, CONTENT_RANGE, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

use super::ticket::Denied;
use crate::core::body::{self, Body};

/// Why a request is not served.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    message: String,
    /// The size that a range went beyond.
    available: Option<u64>,
    /// Whether the connection is closed, as it is for those who have no ticket.
    close: bool,
}

impl Refusal {
    fn new(status: StatusCode, message: String) -> Self {
        Self { status, message, available: None, close: false }
    }

    pub(super) fn bad_request(message: String) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(super) fn range(message: String, available: Option<u64>) -> Self {
        Self { available, ..Self::new(StatusCode::RANGE_NOT_SATISFIABLE, message) }
    }

    /// Nothing more came.
    pub(super) fn too_slow() -> Self {
        let message = "The request body did not arrive in time".to_owned();
        Self { close: true, ..Self::new(StatusCode::REQUEST_TIMEOUT, message) }
    }

    pub(super) fn not_found(message: String) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    pub(super) fn method(method: &hyper::Method, path: &str) -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, format!("Method '{method}' not defined for '{path}'"))
    }

    pub(super) fn denied(id: &str, denied: Denied) -> Self {
        let reason = match denied {
            Denied::Unknown => format!("No such ticket {id}"),
            Denied::Cancelled(transfer) => format!("Transfer={transfer} was canceled"),
            Denied::Expired(transfer) => format!("Transfer={transfer} expired"),
        };
        Self::forbidden(&reason)
    }

    pub(super) fn forbids(transfer: uuid::Uuid, operation: &str) -> Self {
        Self::forbidden(&format!("Transfer={transfer} forbids {operation}"))
    }

    fn forbidden(reason: &str) -> Self {
        let message = format!("You are not allowed to access this resource: {reason}");
        Self { close: true, ..Self::new(StatusCode::FORBIDDEN, message) }
    }

    /// What is wrong inside is logged, not told.
    pub(super) fn internal(error: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(error, "image transfer failed");
        let message = "Server failed to perform the request, check logs".to_owned();
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    #[cfg(test)]
    pub(super) fn status(&self) -> u16 {
        self.status.as_u16()
    }

    pub(super) fn into_response(self) -> Response<Body> {
        let mut response = Response::new(body::full(format!("{}\n", self.message)));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=UTF-8"));
        if let Some(available) = self.available {
            let value = HeaderValue::try_from(format!("bytes */{available}")).expect("digits are a header value");
            headers.insert(CONTENT_RANGE, value);
        }
        if self.close {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
