//! Reading.

use std::collections::HashSet;

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::Document;
use super::element::{Element, Name, Node};

/// How deep elements may stand in each other. The deepest of the platform's own stand about twenty deep.
const MAX_DEPTH: usize = 200;
/// Attribute values up to this length repeat by the thousand, and are shared.
const SHARED_LENGTH: usize = 24;

/// Why a document was not read.
#[derive(Debug, thiserror::Error)]
#[error("not well-formed XML at byte {position}: {reason}")]
pub struct ReadError {
    position: u64,
    reason: String,
}

/// Reads a document.
pub(super) fn read(text: &[u8]) -> Result<Document, ReadError> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let text = std::str::from_utf8(text)
        .map_err(|error| ReadError { position: error.valid_up_to() as u64, reason: "not UTF-8".to_owned() })?;
    let mut parser = Parser { reader: Reader::from_str(text), names: HashSet::new(), open: Vec::new() };
    parser.reader.config_mut().expand_empty_elements = false;
    parser.document().map_err(|reason| ReadError { position: parser.reader.buffer_position(), reason })
}

struct Parser<'a> {
    reader: Reader<&'a [u8]>,
    names: HashSet<Name>,
    /// The elements that are not closed yet, from the outside to the inside.
    open: Vec<Element>,
}

impl<'a> Parser<'a> {
    fn document(&mut self) -> Result<Document, String> {
        let (mut before, mut after, mut root) = (Vec::new(), Vec::new(), None);
        loop {
            let event: Event<'a> = self.reader.read_event().map_err(|error| error.to_string())?;
            let finished = match event {
                Event::Start(start) => {
                    if root.is_some() {
                        return Err("something follows the root".to_owned());
                    }
                    if self.open.len() >= MAX_DEPTH {
                        return Err(format!("elements stand more than {MAX_DEPTH} deep"));
                    }
                    let element = self.element(&start)?;
                    self.open.push(element);
                    None
                }
                Event::Empty(start) => Some(self.element(&start)?),
                Event::End(_) => self.open.pop(),
                Event::Eof if !self.open.is_empty() => return Err("the document ends in the middle".to_owned()),
                Event::Eof => break,
                Event::DocType(_) => return Err("document types are not allowed".to_owned()),
                other => {
                    let node = node(other)?;
                    let aside = if root.is_some() { &mut after } else { &mut before };
                    self.place(node, aside)?;
                    None
                }
            };
            match (finished, self.open.last_mut()) {
                (None, _) => {}
                (Some(element), Some(parent)) => parent.children.push(Node::Element(element)),
                (Some(_), None) if root.is_some() => return Err("something follows the root".to_owned()),
                (Some(element), None) => root = Some(element),
            }
        }
        let root = root.ok_or("the document has no root")?;
        Ok(Document { before, root, after })
    }

    /// Puts what is no element into the innermost element, joining texts that only a reference had divided.
    fn place(&mut self, node: Node, aside: &mut Vec<Node>) -> Result<(), String> {
        match (self.open.last_mut(), node) {
            (Some(parent), Node::Text(text)) => match parent.children.last_mut() {
                Some(Node::Text(before)) => before.push_str(&text),
                _ => parent.children.push(Node::Text(text)),
            },
            (Some(_), Node::Declaration(_)) => return Err("a declaration stands in an element".to_owned()),
            (Some(parent), node) => parent.children.push(node),
            (None, Node::Text(text)) if text.trim().is_empty() => {}
            (None, Node::Text(_) | Node::CData(_)) => return Err("text stands outside of the root".to_owned()),
            (None, node) => aside.push(node),
        }
        Ok(())
    }

    fn element(&mut self, start: &BytesStart<'_>) -> Result<Element, String> {
        let name = self.shared(checked_name(start.name().as_ref())?);
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let key = checked_name(attribute.key.as_ref())?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
            check_characters(&value)?;
            let value = if value.len() <= SHARED_LENGTH { self.shared(&value) } else { value.as_ref().into() };
            attributes.push((self.shared(key), value));
        }
        Ok(Element { name, attributes, children: Vec::new() })
    }

    fn shared(&mut self, text: &str) -> Name {
        if let Some(known) = self.names.get(text) {
            return known.clone();
        }
        let name: Name = text.into();
        self.names.insert(name.clone());
        name
    }
}

/// What is neither an element nor the end.
fn node(event: Event<'_>) -> Result<Node, String> {
    let node = match event {
        Event::Text(text) => Node::Text(text.xml10_content().into_owned()),
        Event::CData(text) => Node::CData(text.xml10_content().into_owned()),
        Event::GeneralRef(reference) => Node::Text(resolve(&reference)?.to_string()),
        Event::Comment(text) => Node::Comment(text.to_string()),
        Event::PI(text) => Node::Instruction(text.to_string()),
        Event::Decl(text) => Node::Declaration(text.to_string()),
        _ => return Err("something is out of place".to_owned()),
    };
    if let Node::Text(text) | Node::CData(text) | Node::Comment(text) | Node::Instruction(text) = &node {
        check_characters(text)?;
    }
    Ok(node)
}

fn resolve(reference: &BytesRef<'_>) -> Result<char, String> {
    if let Some(character) = reference.resolve_char_ref().map_err(|error| error.to_string())? {
        return Ok(character);
    }
    match &**reference {
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "amp" => Ok('&'),
        "quot" => Ok('"'),
        "apos" => Ok('\''),
        other => Err(format!("unknown entity &{other};")),
    }
}

/// Names that could not be written back as they are would change the document.
fn checked_name(name: &str) -> Result<&str, String> {
    let middle = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let first = name.chars().next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | ':'));
    if first && name.chars().all(middle) { Ok(name) } else { Err(format!("'{name}' is not a name")) }
}

/// XML 1.0 has no way to write these, not even as a reference, so a document that has them could not be written back.
fn check_characters(text: &str) -> Result<(), String> {
    let forbidden = |character: char| matches!(character, '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\u{fffe}' | '\u{ffff}');
    match text.chars().find(|character| forbidden(*character)) {
        Some(character) => Err(format!("the character U+{:04X} cannot stand in XML", u32::from(character))),
        None => Ok(()),
    }
}
