//! The shape of answers, and of refusals, which differs from service to service.

use serde_json::{Value, json};

use super::call::Service;
use crate::core::Response;

/// A refusal, in the platform's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    /// The short class that programs look at.
    pub(super) code: String,
    pub(super) message: String,
}

/// An answer, or a refusal.
pub(super) type Answer = Result<Response, Refusal>;

impl Refusal {
    pub(super) fn new(status: u16, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { status, code: code.into(), message: message.into() }
    }

    pub(super) fn not_found(what: &str, id: &str) -> Self {
        Self::new(404, "not_found", format!("{what} not found: {id} does not exist"))
    }

    pub(super) fn missing(field: &str) -> Self {
        Self::new(400, "missing_field", format!("{field} is required"))
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, "bad_field", message)
    }

    pub(super) fn conflict(message: impl Into<String>) -> Self {
        Self::new(409, "conflict", message)
    }

    /// No such call.
    pub(super) fn no_route() -> Self {
        Self::new(404, "not_found", "not found: there is no such call")
    }

    /// The refusal as a service writes it.
    pub(super) fn response(&self, service: Service, trace: &str) -> Response {
        let Self { status, code, message } = self;
        let body = match service {
            Service::Iam => json!({
                "errorCode": code,
                "errorMessage": message,
                "context": {
                    "requestId": trace,
                    "requestType": "incoming.Identity_Token",
                    "userAgent": "",
                    "url": "https://iam.cloud.ibm.com",
                    "instanceId": "iamid-simulator",
                    "threadId": "1",
                    "host": "iamid-simulator",
                    "startTime": "",
                    "endTime": "",
                    "elapsedTime": "1",
                    "locale": "en_US",
                    "clusterName": "simulator",
                },
            }),
            Service::ResourceController | Service::ResourceManager => json!({
                "error_code": format!("RC-{code}"),
                "message": message,
                "status_code": status,
                "transaction_id": format!("bss-{}", &trace[..trace.len().min(16)]),
            }),
            Service::Power => json!({ "description": message, "error": code.replace('_', " ") }),
            Service::Cis => json!({
                "success": false,
                "errors": [{ "code": cis_code(code), "message": message }],
                "messages": [],
                "result": null,
            }),
            Service::Cos => return super::cos::refusal(self, trace),
            Service::Vpc | Service::Transit | Service::Dns | Service::Catalog | Service::Tagging | Service::Search => {
                json!({ "errors": [{ "code": code, "message": message }], "trace": trace })
            }
        };
        json_reply(*status, &body)
    }
}

/// CIS numbers its errors, as the service that it resells does.
fn cis_code(code: &str) -> u32 {
    match code {
        "not_found" => 1001,
        "conflict" => 81053,
        "not_authenticated" => 10000,
        _ => 1004,
    }
}

/// An answer with a body.
pub(super) fn json_reply(status: u16, body: &Value) -> Response {
    Response {
        status,
        headers: vec![("content-type".to_owned(), "application/json; charset=utf-8".to_owned())],
        body: body.to_string().into(),
    }
}

/// An answer without one.
pub(super) fn empty(status: u16) -> Response {
    Response { status, headers: Vec::new(), body: bytes::Bytes::new() }
}

/// A document without what only the simulator knows.
pub(super) fn without(document: &Value, field: &str) -> Value {
    let mut shown = document.clone();
    if let Value::Object(fields) = &mut shown {
        fields.shift_remove(field);
    }
    shown
}

/// What the platform answers when a fault rule asks for an error of its own kind.
pub(super) fn typical(service: Service, status: u16) -> Refusal {
    let (code, message) = match (service, status) {
        (_, 401) => ("not_authenticated", "the token is not valid"),
        (_, 403) => ("not_authorized", "the request is not permitted"),
        (_, 404) => ("not_found", "not found: it does not exist"),
        (Service::Vpc, 409) => (
            "load_balancer_update_conflict",
            "The load balancer with ID cannot be updated because its status is 'UPDATE_PENDING'.",
        ),
        (_, 409) => ("conflict", "the resource is being changed"),
        (_, 429) => ("over_limit", "too many requests"),
        (_, 500..) => ("internal_error", "unable to fulfill the request"),
        _ => ("bad_request", "the request was refused"),
    };
    Refusal::new(status, code, message)
}
