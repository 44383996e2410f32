//! Answers in XML.

use quick_xml::escape::escape;

use crate::core::Response;

/// An element; its contents are escaped as they are added.
#[derive(Clone, Debug)]
pub(super) struct Element {
    name: &'static str,
    inside: String,
}

impl Element {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, inside: String::new() }
    }

    /// Adds an element with text in it.
    pub(super) fn text(mut self, name: &str, text: &str) -> Self {
        for part in ["<", name, ">", &escape(text), "</", name, ">"] {
            self.inside.push_str(part);
        }
        self
    }

    /// Adds plain text.
    pub(super) fn plain(mut self, text: &str) -> Self {
        self.inside.push_str(&escape(text));
        self
    }

    /// Adds another element.
    pub(super) fn with(mut self, other: &Self) -> Self {
        self.inside.push_str(&other.render(""));
        self
    }

    fn render(&self, attributes: &str) -> String {
        format!("<{}{attributes}>{}</{}>", self.name, self.inside, self.name)
    }

    pub(super) fn reply(&self, status: u16) -> Response {
        let namespace = if self.name == "Error" { "" } else { " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"" };
        let body = format!("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>{}", self.render(namespace));
        Response { status, headers: vec![("content-type".to_owned(), "application/xml".to_owned())], body: body.into() }
    }
}
