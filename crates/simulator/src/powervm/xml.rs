//! Elements as the simulator keeps them: names, texts, links. Namespaces, prefixes and all other attributes follow from the
//! schema when an element is written.

use std::fmt::Write as _;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde::{Deserialize, Serialize};

/// How deep elements may stand in each other.
const MAX_DEPTH: usize = 100;

/// An element.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Element {
    #[serde(rename = "n")]
    pub(crate) name: String,
    /// Where it points, from `/rest/api` on.
    #[serde(rename = "h", default, skip_serializing_if = "Option::is_none")]
    pub(crate) href: Option<String>,
    #[serde(rename = "t", default, skip_serializing_if = "String::is_empty")]
    pub(crate) text: String,
    #[serde(rename = "c", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) children: Vec<Element>,
}

impl Element {
    /// An empty element.
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// An element with a text.
    #[expect(clippy::needless_pass_by_value, reason = "callers give texts and numbers alike")]
    pub(crate) fn leaf(name: &str, text: impl ToString) -> Self {
        Self { name: name.to_owned(), text: text.to_string(), ..Self::default() }
    }

    /// An element that points to something.
    pub(crate) fn reference(name: &str, href: impl Into<String>) -> Self {
        Self { name: name.to_owned(), href: Some(href.into()), ..Self::default() }
    }

    /// An element with elements in it.
    pub(crate) fn of(name: &str, children: impl IntoIterator<Item = Self>) -> Self {
        Self { name: name.to_owned(), children: children.into_iter().collect(), ..Self::default() }
    }

    /// An element whose elements are all leaves.
    pub(crate) fn record(name: &str, fields: &[(&str, &str)]) -> Self {
        Self::of(name, fields.iter().map(|(name, text)| Self::leaf(name, text)))
    }

    /// The first element of a name.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The first element of a name, which is made if it is missing.
    pub(crate) fn child_mut(&mut self, name: &str) -> &mut Self {
        let index = self.children.iter().position(|child| child.name == name).unwrap_or_else(|| {
            self.children.push(Self::new(name));
            self.children.len() - 1
        });
        &mut self.children[index]
    }

    /// All elements of a name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The element at a path of names.
    pub(crate) fn at(&self, path: &str) -> Option<&Self> {
        path.split('/').try_fold(self, |element, name| element.child(name))
    }

    /// The text at a path; empty if there is nothing.
    pub(crate) fn text(&self, path: &str) -> &str {
        self.at(path).map_or("", |element| element.text.as_str())
    }

    /// The number at a path.
    pub(crate) fn number<T: std::str::FromStr>(&self, path: &str) -> Option<T> {
        self.at(path)?.text.parse().ok()
    }

    /// Whether the text at a path is `true`.
    pub(crate) fn is(&self, path: &str) -> bool {
        self.text(path) == "true"
    }

    /// Gives the element of a name this text, or adds it.
    #[expect(clippy::needless_pass_by_value, reason = "callers give texts and numbers alike")]
    pub(crate) fn set(&mut self, name: &str, text: impl ToString) {
        self.child_mut(name).text = text.to_string();
    }

    /// Puts an element in place of the one of its name, or adds it.
    pub(crate) fn put(&mut self, child: Self) {
        let name = child.name.clone();
        *self.child_mut(&name) = child;
    }

    /// Takes the elements of a name out.
    pub(crate) fn remove(&mut self, name: &str) {
        self.children.retain(|child| child.name != name);
    }

    /// The id at the end of the link at a path.
    pub(crate) fn target(&self, path: &str) -> Option<&str> {
        let element = self.at(path)?;
        let element = if element.href.is_some() { element } else { element.child("link")? };
        element.href.as_deref()?.split('?').next()?.rsplit('/').next()
    }

    /// Takes out what tells objects apart but is no property of them.
    pub(crate) fn strip_metadata(&mut self) {
        self.remove("Metadata");
        self.children.iter_mut().for_each(Self::strip_metadata);
    }

    /// Reads a document.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(body).map_err(|_| "The document is not UTF-8.".to_owned())?;
        let mut reader = Reader::from_str(text);
        let mut open: Vec<Self> = Vec::new();
        let mut root = None;
        loop {
            let event = reader.read_event().map_err(|error| error.to_string())?;
            let closed = match event {
                Event::Start(start) if open.len() < MAX_DEPTH => {
                    open.push(begin(&start)?);
                    None
                }
                Event::Start(_) => return Err("Elements are nested too deeply.".to_owned()),
                Event::Empty(start) => Some(begin(&start)?),
                Event::End(_) => open.pop(),
                Event::Text(text) => add(&mut open, &text.xml10_content())?,
                Event::CData(text) => add(&mut open, &text.xml10_content())?,
                Event::GeneralRef(reference) => {
                    let character = match reference.resolve_char_ref().map_err(|error| error.to_string())? {
                        Some(character) => character,
                        None => predefined(&reference).ok_or("An entity is not known.")?,
                    };
                    add(&mut open, character.encode_utf8(&mut [0; 4]))?
                }
                Event::DocType(_) => return Err("DOCTYPE is disallowed.".to_owned()),
                Event::Eof => break,
                _ => None,
            };
            if let Some(mut element) = closed {
                let text = element.text.trim().to_owned();
                element.text = text;
                match open.last_mut() {
                    Some(parent) => parent.children.push(element),
                    None if root.is_none() => root = Some(element),
                    None => return Err("The document has more than one root.".to_owned()),
                }
            }
        }
        if !open.is_empty() {
            return Err("The document ends in the middle.".to_owned());
        }
        root.ok_or_else(|| "The document has no root.".to_owned())
    }
}

fn begin(start: &BytesStart<'_>) -> Result<Element, String> {
    let mut element = Element::new(start.local_name().as_ref());
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        if AsRef::<str>::as_ref(&attribute.key) == "href" {
            let value =
                attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
            element.href = Some(value.find("/rest/").map_or(&*value, |at| &value[at..]).to_owned());
        }
    }
    Ok(element)
}

#[expect(clippy::unnecessary_wraps, reason = "an arm of the reader's match, which has elements to give")]
fn add(open: &mut [Element], text: &str) -> Result<Option<Element>, String> {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
    Ok(None)
}

fn predefined(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => return None,
    })
}

/// Adds a formatted text.
pub(crate) fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string does not fail");
}

/// Escapes a text for an element or an attribute.
pub(crate) fn escape(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' => out.push('?'),
            _ => out.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_ignored_and_links_are_made_local() {
        let text = r#"<u:A xmlns:u="x"><u:B href="https://h:1/rest/api/uom/T/1" rel="related"/> <u:C>a&amp;b<![CDATA[<c>]]></u:C></u:A>"#;
        let element = Element::parse(text.as_bytes()).unwrap();
        assert_eq!(element.target("B"), Some("1"));
        assert_eq!(element.text("C"), "a&b<c>");
    }

    #[test]
    fn what_is_broken_or_hostile_is_refused() {
        let bomb = r#"<!DOCTYPE a [<!ENTITY x "xxxxxxxxxx">]><a>&x;</a>"#;
        let deep = "<a>".repeat(10_000);
        for text in ["", "<a>", "<a></b>", "<a/><b/>", bomb, "<a>&x;</a>", &deep, "\u{1}"] {
            assert!(Element::parse(text.as_bytes()).is_err(), "{text:.40}");
        }
    }
}
