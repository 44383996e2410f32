//! Writes a document in XML or JSON straight into a buffer, from one sequence of calls, so that the two cannot disagree.

use std::fmt::{self, Display, Write};

use super::tree::{Tree, Value};

/// The two syntaxes of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// `application/xml`, the default.
    Xml,
    /// `application/json`.
    Json,
}

/// A document being written.
///
/// The caller opens and closes elements in pairs; `id`, `href` and `rel` come first after an element is opened, because
/// in XML they are its attributes.
#[derive(Debug)]
pub(crate) struct Out {
    format: Format,
    text: String,
    open: Vec<Frame>,
}

#[derive(Debug)]
struct Frame {
    /// The element that was opened.
    name: &'static str,
    /// For a list, the element of its items.
    item: Option<&'static str>,
    /// Whether it has content yet: in XML, whether the tag was closed with `>`; in JSON, whether a comma is due.
    filled: bool,
}

/// Writes text through an escape, so that anything that can be displayed needs no buffer of its own.
struct Escaped<'a>(&'a mut String, Format);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let Self(out, format) = self;
        let mut rest = text;
        while let Some(at) = rest.bytes().position(|byte| needs_escape(byte, *format)) {
            out.push_str(&rest[..at]);
            escape(out, rest.as_bytes()[at], *format);
            rest = &rest[at + 1..];
        }
        out.push_str(rest);
        Ok(())
    }
}

fn needs_escape(byte: u8, format: Format) -> bool {
    match format {
        Format::Xml => {
            matches!(byte, b'<' | b'>' | b'&' | b'"' | b'\'') || (byte < 0x20 && byte != b'\n' && byte != b'\t')
        }
        Format::Json => matches!(byte, b'"' | b'\\') || byte < 0x20,
    }
}

fn escape(out: &mut String, byte: u8, format: Format) {
    match (format, byte) {
        (Format::Xml, b'<') => out.push_str("&lt;"),
        (Format::Xml, b'>') => out.push_str("&gt;"),
        (Format::Xml, b'&') => out.push_str("&amp;"),
        (Format::Xml, b'"') => out.push_str("&quot;"),
        (Format::Xml, b'\'') => out.push_str("&apos;"),
        (Format::Xml, b'\r') => out.push_str("&#xD;"),
        // The other control characters cannot be written in XML 1.0 at all.
        (Format::Xml, _) => out.push('\u{FFFD}'),
        (Format::Json, b'"') => out.push_str("\\\""),
        (Format::Json, b'\\') => out.push_str("\\\\"),
        (Format::Json, b'\n') => out.push_str("\\n"),
        (Format::Json, b'\r') => out.push_str("\\r"),
        (Format::Json, b'\t') => out.push_str("\\t"),
        (Format::Json, byte) => {
            let _ = write!(out, "\\u{byte:04x}");
        }
    }
}

impl Out {
    /// An empty document.
    pub(crate) fn new(format: Format) -> Self {
        let mut text = String::new();
        if format == Format::Xml {
            text.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>");
        }
        Self { format, text, open: Vec::new() }
    }

    /// The syntax that is written.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// The document, complete.
    pub(crate) fn finish(mut self) -> String {
        debug_assert!(self.open.is_empty(), "unclosed: {:?}", self.open);
        self.text.push('\n');
        self.text
    }

    /// Opens a structure.
    pub(crate) fn open(&mut self, name: &'static str) {
        self.begin(name);
        match self.format {
            Format::Xml => {
                self.text.push('<');
                self.text.push_str(name);
            }
            Format::Json => self.text.push('{'),
        }
        self.open.push(Frame { name, item: None, filled: false });
    }

    /// Opens a list whose items will be opened as `item`.
    pub(crate) fn open_list(&mut self, name: &'static str, item: &'static str) {
        self.open(name);
        if let Some(frame) = self.open.last_mut() {
            frame.item = Some(item);
        }
    }

    /// Closes what was opened last.
    pub(crate) fn close(&mut self) {
        let Some(frame) = self.open.pop() else { return };
        match self.format {
            Format::Xml if frame.filled => {
                self.indent();
                self.tag("</", frame.name, ">");
            }
            Format::Xml => self.text.push_str("/>"),
            Format::Json if frame.item.is_some() && frame.filled => self.text.push_str("]}"),
            Format::Json => self.text.push('}'),
        }
    }

    /// `id`, `href` or `rel` of the structure that was just opened.
    pub(crate) fn attribute(&mut self, name: &'static str, value: impl Display) {
        match self.format {
            Format::Xml => {
                self.tag(" ", name, "=\"");
                let _ = write!(Escaped(&mut self.text, Format::Xml), "{value}");
                self.text.push('"');
            }
            Format::Json => self.text(name, value),
        }
    }

    /// A field with a scalar: text, number, flag. JSON has them all as strings, as the engine's binding writes them.
    pub(crate) fn text(&mut self, name: &'static str, value: impl Display) {
        self.begin(name);
        match self.format {
            Format::Xml => {
                self.tag("<", name, ">");
                let _ = write!(Escaped(&mut self.text, Format::Xml), "{value}");
                self.tag("</", name, ">");
            }
            Format::Json => {
                self.text.push('"');
                let _ = write!(Escaped(&mut self.text, Format::Json), "{value}");
                self.text.push('"');
            }
        }
    }

    /// A field with a scalar that may be absent.
    pub(crate) fn maybe(&mut self, name: &'static str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    /// The fields of a stored document.
    pub(crate) fn tree(&mut self, tree: &Tree) {
        for name in ["href", "id"] {
            if let Some(value) = tree.text(name) {
                self.attribute(name, value);
            }
        }
        for (name, value) in tree.iter().filter(|(name, _)| !matches!(*name, "id" | "href")) {
            self.value(name, value);
        }
    }

    /// One field of a stored document.
    pub(crate) fn value(&mut self, name: &'static str, value: &Value) {
        match value {
            Value::Text(text) => self.text(name, text),
            Value::Word(word) => self.text(name, word),
            Value::Integer(number) => self.text(name, number),
            Value::Decimal(number) => self.text(name, decimal(*number)),
            Value::Boolean(flag) => self.text(name, flag),
            Value::Struct(tree) => {
                self.open(name);
                self.tree(tree);
                self.close();
            }
            Value::List(item, items) => {
                self.open_list(name, item);
                items.iter().for_each(|value| self.value(item, value));
                self.close();
            }
        }
    }

    /// Opens the repeated `link`: in JSON they are one array, in XML each stands for itself.
    pub(crate) fn open_links(&mut self) {
        if self.format == Format::Json {
            self.begin("link");
            self.text.push('[');
            self.open.push(Frame { name: "link", item: Some(""), filled: false });
        }
    }

    /// Closes what [`Out::open_links`] opened.
    pub(crate) fn close_links(&mut self) {
        if self.format == Format::Json {
            self.open.pop();
            self.text.push(']');
        }
    }

    /// What comes between the element before and the one called `name`: a comma or the rest of a tag, and the key.
    fn begin(&mut self, name: &'static str) {
        match self.format {
            Format::Xml => {
                if let Some(frame) = self.open.last_mut()
                    && !frame.filled
                {
                    frame.filled = true;
                    self.text.push('>');
                }
                self.indent();
            }
            Format::Json => {
                let Some(frame) = self.open.last_mut() else { return };
                let first = !std::mem::replace(&mut frame.filled, true);
                match (frame.item, first) {
                    (Some(""), true) => {}
                    (Some(item), true) => self.tag("\"", item, "\":["),
                    (Some(_), false) => self.text.push(','),
                    (None, first) => self.tag(if first { "\"" } else { ",\"" }, name, "\":"),
                }
            }
        }
    }

    fn indent(&mut self) {
        const BLANKS: &str = "\n                                ";
        let (width, most) = (1 + 4 * self.open.len(), BLANKS.len());
        self.text.push_str(&BLANKS[..width.min(most)]);
        self.text.extend(std::iter::repeat_n(' ', width.saturating_sub(most)));
    }

    /// A name with what belongs before and after it. Documents are mostly names, so this does without formatting.
    fn tag(&mut self, before: &str, name: &str, after: &str) {
        self.text.reserve(before.len() + name.len() + after.len());
        self.text.push_str(before);
        self.text.push_str(name);
        self.text.push_str(after);
    }
}

/// A number as Java writes a double: always with a fraction.
pub(crate) fn decimal(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 { format!("{number:.1}") } else { number.to_string() }
}
