//! What the service answers when it will not do something.

use super::atom::Clock;
use super::schema::{self, Groups, View, WEB};
use super::xml::{Element, escape};
use crate::core::{Request, Response};

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) status: u16,
    /// The reason code, which is a sentence.
    pub(crate) reason: &'static str,
    /// What exactly.
    pub(crate) message: String,
}

impl Fault {
    /// A refusal.
    pub(crate) fn new(status: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { status, reason, message: message.into() }
    }

    /// The addressed object does not exist.
    pub(crate) fn not_found(what: &str, id: &str) -> Self {
        Self::new(404, "Unknown internal error.", format!("REST0026: The {what} {id} could not be found."))
    }

    /// There is nothing at this address.
    pub(crate) fn no_route(path: &str) -> Self {
        Self::new(404, "URI not found.", format!("REST0001: There is no resource at {path}."))
    }

    /// A body that the schema does not allow.
    pub(crate) fn schema(sentence: impl Into<String>) -> Self {
        Self::new(400, "Unable to parse the request body.", sentence)
    }

    /// Something that the hypervisor or a VIOS refuses.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::new(400, "Request was not successful.", message)
    }

    /// The object has changed since the client read it.
    pub(crate) fn stale() -> Self {
        Self::new(412, "Precondition Failed", "The ETag in the If-Match header does not match the current one.")
    }

    /// Something else is being done to the object.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self::new(500, "Unknown internal error.", message)
    }

    /// As a response.
    pub(crate) fn response(&self, request: &Request, clock: &Clock) -> Response {
        let mut uri = request.path.clone();
        if !request.query.is_empty() {
            uri = format!("{uri}?{}", request.query);
        }
        let object = Element::record(
            "HttpErrorResponse",
            &[
                ("HTTPStatus", &self.status.to_string()),
                ("RequestURI", &uri),
                ("ReasonCode", self.reason),
                ("Message", &self.message),
            ],
        );
        let mut body = format!(
            "<entry xmlns=\"http://www.w3.org/2005/Atom\" xmlns:ns2=\"http://a9.com/-/spec/opensearch/1.1/\" xmlns:ns3=\"http://www.w3.org/1999/xhtml\">\n    <id>{}</id>\n    <title>HttpErrorResponse</title>\n    <published>{}</published>\n    <author>\n        <name>IBM Power Systems Management Console</name>\n    </author>\n    <content type=\"application/vnd.ibm.powervm.web+xml; type=HttpErrorResponse\">\n",
            super::ids::uuid(&["error", &uri, &clock.published()]),
            clock.published(),
        );
        schema::write(&mut body, &object, WEB, None, View { base: "", groups: &Groups::All });
        body.push_str("    </content>\n</entry>\n");
        let headers = vec![("content-type".to_owned(), "application/atom+xml".to_owned())];
        Response { status: self.status, headers, body: body.into() }
    }
}

/// Escapes a text on its own.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    escape(&mut out, text);
    out
}
