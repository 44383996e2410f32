//! What the engine answers when it will not do something.

use super::representation::{Out, ReadError};

/// A refusal: its status and what its body says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The HTTP status.
    pub(crate) status: u16,
    /// Reason and detail; `None` is an empty body, which is how a missing resource is answered.
    pub(crate) text: Option<FaultText>,
}

/// The body of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FaultText {
    /// A word about the kind of trouble, usually `Operation Failed`.
    pub(crate) reason: String,
    /// What exactly.
    pub(crate) detail: String,
}

impl Fault {
    /// The addressed resource does not exist: 404 without a body.
    pub(crate) fn not_found() -> Self {
        Self { status: 404, text: None }
    }

    /// A method that the resource does not have.
    pub(crate) fn method_not_allowed() -> Self {
        Self { status: 405, text: None }
    }

    /// Something that the body refers to does not exist.
    pub(crate) fn missing(what: &str, which: impl std::fmt::Display) -> Self {
        Self::new(404, "Operation Failed", format!("Entity not found: {what}: {which}"))
    }

    /// An id that is not one.
    pub(crate) fn malformed_id(id: &str) -> Self {
        Self::new(400, "Operation failed", format!("Invalid UUID string: {id}"))
    }

    /// A body that cannot be read, or that the address does not take.
    pub(crate) fn syntax(usage: &str) -> Self {
        let detail = format!("For correct usage, see: /ovirt-engine/apidoc#services/{usage}");
        Self::new(400, "Request syntactically incorrect.", detail)
    }

    /// A field that is missing: `Vm [name] required for add`.
    pub(crate) fn incomplete(kind: &str, fields: &str, method: &str) -> Self {
        Self::new(400, "Incomplete parameters", format!("{kind} [{fields}] required for {method}"))
    }

    /// A value that its field cannot have.
    pub(crate) fn invalid_value(detail: impl std::fmt::Display) -> Self {
        Self::new(400, "Invalid value", detail.to_string())
    }

    /// Parameters that make no sense together, or at all.
    pub(crate) fn invalid(message: impl AsRef<str>) -> Self {
        Self::refusal(400, &[message.as_ref()])
    }

    /// A state of things in which this cannot be done now.
    pub(crate) fn conflict(message: impl AsRef<str>) -> Self {
        Self::refusal(409, &[message.as_ref()])
    }

    /// A conflict that has several messages.
    pub(crate) fn conflicts(messages: &[impl AsRef<str>]) -> Self {
        Self::refusal(409, messages)
    }

    /// The user may not do this.
    pub(crate) fn forbidden(message: impl AsRef<str>) -> Self {
        Self::refusal(403, &[message.as_ref()])
    }

    /// What a failed attempt on a host looks like from outside: a refusal without a word of explanation.
    pub(crate) fn unexplained() -> Self {
        Self::refusal::<&str>(400, &[])
    }

    /// A fault as it stands.
    pub(crate) fn new(status: u16, reason: &str, detail: impl Into<String>) -> Self {
        Self { status, text: Some(FaultText { reason: reason.to_owned(), detail: detail.into() }) }
    }

    /// Messages of the backend come as a list in brackets.
    fn refusal<T: AsRef<str>>(status: u16, messages: &[T]) -> Self {
        let list: Vec<&str> = messages.iter().map(AsRef::as_ref).collect();
        Self::new(status, "Operation Failed", format!("[{}]", list.join(", ")))
    }

    /// The fault for a body that a reader refused.
    pub(crate) fn unreadable(error: &ReadError, usage: &str) -> Self {
        match error {
            ReadError::Syntax(_) => Self::syntax(usage),
            ReadError::Value { .. } | ReadError::Word { .. } => Self::invalid_value(error),
        }
    }
}

impl FaultText {
    /// Writes `<fault>` into a document.
    pub(crate) fn write(&self, out: &mut Out) {
        out.open("fault");
        out.text("detail", &self.detail);
        out.text("reason", &self.reason);
        out.close();
    }
}
