//! Writing.

use std::fmt;

use super::Document;
use super::element::{Element, Node};

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for node in &self.before {
            write!(f, "{node}")?;
        }
        write!(f, "{}", self.root)?;
        for node in &self.after {
            write!(f, "{node}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}", self.name)?;
        for (name, value) in &self.attributes {
            write!(f, " {name}=\"{}\"", Escaped { text: value, attribute: true })?;
        }
        if self.children.is_empty() {
            return f.write_str("/>");
        }
        f.write_str(">")?;
        for node in &self.children {
            write!(f, "{node}")?;
        }
        write!(f, "</{}>", self.name)
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(element) => write!(f, "{element}"),
            Self::Text(text) => write!(f, "{}", Escaped { text, attribute: false }),
            // The end of a section cannot stand in it, so it is divided among two.
            Self::CData(text) => write!(f, "<![CDATA[{}]]>", text.replace("]]>", "]]]]><![CDATA[>")),
            Self::Comment(text) => write!(f, "<!--{text}-->"),
            Self::Instruction(text) | Self::Declaration(text) => write!(f, "<?{text}?>"),
        }
    }
}

struct Escaped<'a> {
    text: &'a str,
    attribute: bool,
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut plain = 0;
        for (index, character) in self.text.char_indices() {
            let escape = match character {
                '<' => "&lt;",
                '>' => "&gt;",
                '&' => "&amp;",
                // A reader turns a bare one into a line feed.
                '\r' => "&#13;",
                '"' if self.attribute => "&quot;",
                // A reader turns bare ones in an attribute into spaces.
                '\n' if self.attribute => "&#10;",
                '\t' if self.attribute => "&#9;",
                _ => continue,
            };
            f.write_str(&self.text[plain..index])?;
            f.write_str(escape)?;
            plain = index + character.len_utf8();
        }
        f.write_str(&self.text[plain..])
    }
}
