//! Reads a document in XML. No DTD, no entities beyond the five predefined ones, no namespaces.

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::read::{MAX_DEPTH, ReadError, Unknown, scalar};
use super::schema::{Field, Kind, Type};
use super::tree::{Tree, Value};

/// Reads a document whose root is the element of `kind`.
pub(crate) fn read(body: &[u8], kind: &'static Type, unknown: Unknown) -> Result<Tree, ReadError> {
    let text = std::str::from_utf8(body).map_err(ReadError::syntax)?;
    let mut xml = Xml { reader: Reader::from_str(text), unknown };
    loop {
        match xml.next()? {
            Event::Start(start) => {
                expect_root(&start, kind)?;
                let mut tree = attributes(&start)?;
                xml.fields(&mut tree, kind, 1)?;
                xml.end()?;
                return Ok(tree);
            }
            Event::Empty(start) => {
                expect_root(&start, kind)?;
                xml.end()?;
                return attributes(&start);
            }
            Event::Text(text) if is_blank(&text) => {}
            Event::Decl(_) | Event::Comment(_) | Event::PI(_) => {}
            Event::Eof => return Err(ReadError::syntax("the document has no root element")),
            _ => return Err(ReadError::syntax("the document does not begin with an element")),
        }
    }
}

struct Xml<'a> {
    reader: Reader<&'a [u8]>,
    unknown: Unknown,
}

impl<'a> Xml<'a> {
    fn next(&mut self) -> Result<Event<'a>, ReadError> {
        match self.reader.read_event().map_err(ReadError::syntax)? {
            Event::DocType(_) => Err(ReadError::syntax("document type declarations are not allowed")),
            event => Ok(event),
        }
    }

    /// Nothing but blanks and comments may follow the root.
    fn end(&mut self) -> Result<(), ReadError> {
        loop {
            match self.next()? {
                Event::Eof => return Ok(()),
                Event::Comment(_) | Event::PI(_) => {}
                Event::Text(text) if is_blank(&text) => {}
                _ => return Err(ReadError::syntax("something follows the root element")),
            }
        }
    }

    /// Reads the children of an element of `kind` up to its end.
    fn fields(&mut self, tree: &mut Tree, kind: &'static Type, depth: usize) -> Result<(), ReadError> {
        check_depth(depth)?;
        let mut repeated: Vec<(&'static str, Vec<Value>)> = Vec::new();
        loop {
            let (start, empty) = match self.next()? {
                Event::Start(start) => (start, false),
                Event::Empty(start) => (start, true),
                Event::End(_) => break,
                Event::Eof => return Err(ReadError::syntax("the document ends in the middle")),
                Event::GeneralRef(reference) => {
                    resolve(&reference)?;
                    continue;
                }
                _ => continue,
            };
            let name = name(&start);
            let Some(field) = kind.field(name) else {
                self.unknown.check(kind.element, name)?;
                if !empty {
                    self.skip(depth + 1)?;
                }
                continue;
            };
            let value = self.value(field, &start, empty, depth + 1)?;
            match field.kind {
                Kind::Repeated(_) => match repeated.iter_mut().find(|(name, _)| *name == field.name) {
                    Some((_, items)) => items.push(value),
                    None => repeated.push((field.name, vec![value])),
                },
                _ => tree.set(field.name, value),
            }
        }
        for (name, items) in repeated {
            tree.set(name, Value::List(name, items.into()));
        }
        Ok(())
    }

    fn value(
        &mut self,
        field: &'static Field,
        start: &BytesStart,
        empty: bool,
        depth: usize,
    ) -> Result<Value, ReadError> {
        match field.kind {
            Kind::Struct(kind) | Kind::Repeated(kind) => {
                let mut tree = attributes(start)?;
                if !empty {
                    self.fields(&mut tree, kind, depth)?;
                }
                Ok(tree.into())
            }
            Kind::List(kind) => {
                let items = if empty { Vec::new() } else { self.items(field, Some(kind), kind.element, depth)? };
                Ok(Value::List(kind.element, items.into()))
            }
            Kind::Texts(item) => {
                let items = if empty { Vec::new() } else { self.items(field, None, item, depth)? };
                Ok(Value::List(item, items.into()))
            }
            _ => {
                let text = if empty { String::new() } else { self.text(depth)? };
                scalar(field, &text)
            }
        }
    }

    /// Reads the items of a list; `kind` is `None` for a list of texts.
    fn items(
        &mut self,
        field: &'static Field,
        kind: Option<&'static Type>,
        item: &'static str,
        depth: usize,
    ) -> Result<Vec<Value>, ReadError> {
        check_depth(depth)?;
        let mut items = Vec::new();
        loop {
            let (start, empty) = match self.next()? {
                Event::Start(start) => (start, false),
                Event::Empty(start) => (start, true),
                Event::End(_) => return Ok(items),
                Event::Eof => return Err(ReadError::syntax("the document ends in the middle")),
                Event::GeneralRef(reference) => {
                    resolve(&reference)?;
                    continue;
                }
                _ => continue,
            };
            if name(&start) != item {
                self.unknown.check(field.name, name(&start))?;
                if !empty {
                    self.skip(depth + 1)?;
                }
                continue;
            }
            match kind {
                Some(kind) => {
                    let mut tree = attributes(&start)?;
                    if !empty {
                        self.fields(&mut tree, kind, depth + 1)?;
                    }
                    items.push(tree.into());
                }
                None => items.push(Value::text(&if empty { String::new() } else { self.text(depth)? })),
            }
        }
    }

    /// Reads the text of an element up to its end.
    fn text(&mut self, depth: usize) -> Result<String, ReadError> {
        let mut collected = String::new();
        loop {
            match self.next()? {
                Event::Text(text) => collected.push_str(&text.xml10_content()),
                Event::CData(data) => collected.push_str(&data.xml10_content()),
                Event::GeneralRef(reference) => collected.push(resolve(&reference)?),
                Event::Start(_) => self.skip(depth + 1)?,
                Event::Empty(_) | Event::Comment(_) | Event::PI(_) => {}
                Event::End(_) => return Ok(collected),
                _ => return Err(ReadError::syntax("the document ends in the middle")),
            }
        }
    }

    /// Passes over the rest of an element.
    fn skip(&mut self, depth: usize) -> Result<(), ReadError> {
        let mut open = 1_usize;
        loop {
            match self.next()? {
                Event::Start(_) => open += 1,
                Event::End(_) => open -= 1,
                Event::Eof => return Err(ReadError::syntax("the document ends in the middle")),
                _ => {}
            }
            check_depth(depth + open)?;
            if open == 0 {
                return Ok(());
            }
        }
    }
}

fn check_depth(depth: usize) -> Result<(), ReadError> {
    if depth > MAX_DEPTH { Err(ReadError::syntax("the document is nested too deeply")) } else { Ok(()) }
}

fn expect_root(start: &BytesStart, kind: &'static Type) -> Result<(), ReadError> {
    let name = name(start);
    if name == kind.element {
        Ok(())
    } else {
        Err(ReadError::syntax(format!("the root element is {name}, not {}", kind.element)))
    }
}

fn name<'a>(start: &'a BytesStart) -> &'a str {
    start.name().into_inner()
}

/// The attributes that the API has: `id`, `href` and, on links, `rel`. Others are ignored.
fn attributes(start: &BytesStart) -> Result<Tree, ReadError> {
    let mut tree = Tree::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(ReadError::syntax)?;
        let name = match attribute.key.into_inner() {
            "id" => "id",
            "href" => "href",
            "rel" => "rel",
            _ => continue,
        };
        tree.set(name, &*quick_xml::escape::unescape(&attribute.value).map_err(ReadError::syntax)?);
    }
    Ok(tree)
}

fn resolve(reference: &BytesRef) -> Result<char, ReadError> {
    if let Some(character) = reference.resolve_char_ref().map_err(ReadError::syntax)? {
        return Ok(character);
    }
    match &**reference {
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "amp" => Ok('&'),
        "apos" => Ok('\''),
        "quot" => Ok('"'),
        other => Err(ReadError::syntax(format!("unknown entity {other}"))),
    }
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}
