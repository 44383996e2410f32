//! The shape of every answer.

use serde_json::{Value, json};

use crate::core::Response;

/// An error, as the API numbers and words it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) status: u16,
    pub(super) code: u32,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(status: u16, code: u32, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    pub(super) fn response(&self) -> Response {
        let errors = [json!({"code": self.code, "message": self.message})];
        respond(self.status, &json!({"success": false, "errors": errors, "messages": [], "result": null}))
    }
}

/// A good answer.
pub(super) fn result(result: &Value) -> Response {
    respond(200, &json!({"success": true, "errors": [], "messages": [], "result": result}))
}

/// One page of a list.
pub(super) fn page(items: &[Value], page: usize, per_page: usize, total: usize) -> Response {
    let info = json!({
        "page": page,
        "per_page": per_page,
        "count": items.len(),
        "total_count": total,
        "total_pages": total.div_ceil(per_page).max(1),
    });
    respond(200, &json!({"success": true, "errors": [], "messages": [], "result": items, "result_info": info}))
}

fn respond(status: u16, body: &Value) -> Response {
    Response {
        status,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: body.to_string().into(),
    }
}
