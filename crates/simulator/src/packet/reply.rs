//! The shape of answers: objects, pages, refusals.

use serde_json::{Value, json};

use super::call::Call;
use crate::core::Response;

/// A refusal, in the platform's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) errors: Vec<String>,
}

/// An answer, or a refusal.
pub(super) type Answer = Result<Response, Refusal>;

impl Refusal {
    pub(super) fn new(status: u16, error: impl Into<String>) -> Self {
        Self { status, errors: vec![error.into()] }
    }

    pub(super) fn invalid(error: impl Into<String>) -> Self {
        Self::new(422, error)
    }

    pub(super) fn not_found() -> Self {
        Self::new(404, "Not found")
    }

    pub(super) fn response(&self) -> Response {
        // The gate in front of the API has a shape of its own.
        if self.status == 401 {
            return object(401, &json!({"error": self.errors.join(", ")}));
        }
        object(self.status, &json!({"errors": self.errors}))
    }
}

/// An answer with a body.
pub(super) fn object(status: u16, body: &Value) -> Response {
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

/// Pages are this long unless somebody asks for more.
const PAGE: usize = 10;
const LONGEST_PAGE: usize = 1000;

/// One page of a list. `next` is there even if it is null: clients index it.
pub(super) fn page(call: &Call, name: &str, items: &[Value]) -> Answer {
    page_of(call, name, items, PAGE)
}

pub(super) fn page_of(call: &Call, name: &str, items: &[Value], usual: usize) -> Answer {
    let number =
        |name: &str, usual: usize| call.number(name).map_or(usual, |number| usize::try_from(number).unwrap_or(0));
    let (page, per_page) = (number("page", 1), number("per_page", usual));
    if page == 0 || per_page == 0 || per_page > LONGEST_PAGE {
        return Err(Refusal::invalid("page or per_page is out of range"));
    }
    let last = items.len().div_ceil(per_page).max(1);
    let href = |page: usize| {
        // Some clients paste this after their base, so it never carries one.
        json!({"href": format!("/{}?page={page}&per_page={per_page}", call.path.join("/"))})
    };
    let shown: Vec<&Value> = items.iter().skip((page - 1) * per_page).take(per_page).collect();
    Ok(object(
        200,
        &json!({
            name: shown,
            "meta": {
                "first": href(1),
                "previous": if page > 1 { href(page - 1) } else { Value::Null },
                "self": href(page),
                "next": if page < last { href(page + 1) } else { Value::Null },
                "last": href(last),
                "current_page": page,
                "last_page": last,
                "total": items.len(),
            },
        }),
    ))
}

/// A list without pages.
pub(super) fn list(name: &str, items: &[Value]) -> Answer {
    Ok(object(200, &json!({name: items})))
}
