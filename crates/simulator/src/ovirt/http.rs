//! Small parts of HTTP that everything here shares.

use bytes::Bytes;

use crate::core::{Request, Response};

/// The first header of that name, which is in lower case.
pub(crate) fn header<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    request.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
}

/// All headers of that name.
pub(crate) fn headers<'r>(request: &'r Request, name: &'r str) -> impl Iterator<Item = &'r str> {
    request.headers.iter().filter(move |(given, _)| given == name).map(|(_, value)| value.as_str())
}

/// A response with a body of the given type.
pub(crate) fn response(status: u16, content_type: &str, body: impl Into<Bytes>) -> Response {
    Response { status, headers: vec![("Content-Type".into(), content_type.into())], body: body.into() }
}

/// A response without a body.
pub(crate) fn empty(status: u16) -> Response {
    Response { status, headers: Vec::new(), body: Bytes::new() }
}

/// Another address to go to.
pub(crate) fn redirect(to: &str) -> Response {
    Response { headers: vec![("Location".into(), to.into())], ..empty(302) }
}

/// Plain text.
pub(crate) fn text(status: u16, body: &str) -> Response {
    response(status, "text/plain;charset=UTF-8", body.to_owned())
}

/// JSON.
pub(crate) fn json(status: u16, body: &serde_json::Value) -> Response {
    response(status, "application/json;charset=UTF-8", body.to_string())
}

/// A page of the application server.
pub(crate) fn html(status: u16, title: &str, body: &str) -> Response {
    let page = format!("<html><head><title>{title}</title></head><body>{body}</body></html>");
    response(status, "text/html;charset=UTF-8", page)
}
