//! Answers that are no object: errors in the form that Kubernetes clients read.

use serde_json::{Value, json};

/// An error as the API answers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) code: u16,
    reason: &'static str,
    message: String,
}

impl Problem {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into() }
    }

    pub(super) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    pub(super) fn forbidden(user: &str, verb: &str, what: &str) -> Self {
        Self::new(403, "Forbidden", format!("{what} is forbidden: User \"{user}\" cannot {verb} it"))
    }

    /// There is no such object.
    pub(super) fn not_found(resource: &str, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{resource} \"{name}\" not found"))
    }

    /// There is no such place.
    pub(super) fn nowhere() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource")
    }

    pub(super) fn method() -> Self {
        Self::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
    }

    pub(super) fn exists(resource: &str, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{resource} \"{name}\" already exists"))
    }

    pub(super) fn conflict(resource: &str, name: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {resource} \"{name}\": the object has been modified; please apply your changes \
             to the latest version and try again"
        );
        Self::new(409, "Conflict", message)
    }

    pub(super) fn expired() -> Self {
        Self::new(410, "Expired", "too old resource version")
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(super) fn media_type() -> Self {
        Self::new(415, "UnsupportedMediaType", "the body of the request was in an unknown format")
    }

    /// As the `Status` object that clients read.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        })
    }
}
