//! What both readers share: the rules by which a text becomes a value of its field's kind, and the errors.

use super::schema::{Field, Kind};
use super::tree::Value;

/// How deep a document may nest. The deepest that a client has a reason to send is about ten.
pub(super) const MAX_DEPTH: usize = 64;

/// Why a document was refused.
#[derive(Debug, thiserror::Error, PartialEq)]
pub(crate) enum ReadError {
    /// It is not well-formed, or not what the address expects.
    #[error("{0}")]
    Syntax(String),
    /// A number, flag or date cannot be read as one.
    #[error("{value} is not a valid value of {field}")]
    Value {
        /// The element.
        field: &'static str,
        /// What it held.
        value: String,
    },
    /// A word is not in its enumeration.
    #[error("{value} is not a member of {words}")]
    Word {
        /// The enumeration's name.
        words: &'static str,
        /// What was given.
        value: String,
    },
}

impl ReadError {
    pub(super) fn syntax(text: impl std::fmt::Display) -> Self {
        Self::Syntax(text.to_string())
    }
}

/// How to treat an element that the tables do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// Skip it, as the engine does with what clients send.
    Skip,
    /// Refuse the document: for tests of what this simulator itself emits.
    #[cfg(test)]
    Refuse,
}

impl Unknown {
    pub(super) fn check(self, parent: &str, name: &str) -> Result<(), ReadError> {
        if self == Self::Skip { Ok(()) } else { Err(ReadError::syntax(format!("{parent} has no {name}"))) }
    }
}

/// Reads a scalar of the field's kind. Structures and lists are the readers' own business.
pub(super) fn scalar(field: &'static Field, text: &str) -> Result<Value, ReadError> {
    let wrong = || ReadError::Value { field: field.name, value: shorten(text) };
    match field.kind {
        Kind::Integer => text.trim().parse().map(Value::Integer).map_err(|_| wrong()),
        Kind::Decimal => {
            text.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::Decimal).ok_or_else(wrong)
        }
        Kind::Boolean => match text.trim() {
            word if word.eq_ignore_ascii_case("true") || word == "1" => Ok(Value::Boolean(true)),
            word if word.eq_ignore_ascii_case("false") || word == "0" => Ok(Value::Boolean(false)),
            _ => Err(wrong()),
        },
        Kind::Date => {
            let date = text.trim();
            date.parse::<jiff::Timestamp>().map(|_| Value::text(date)).map_err(|_| wrong())
        }
        Kind::Word(name, words) => {
            let given = text.trim();
            words
                .iter()
                .find(|word| word.eq_ignore_ascii_case(given))
                .map(|word| Value::Word(word))
                .ok_or_else(|| ReadError::Word { words: name, value: shorten(given) })
        }
        Kind::Text | Kind::Struct(_) | Kind::List(_) | Kind::Texts(_) | Kind::Repeated(_) => Ok(Value::text(text)),
    }
}

/// A client's text as an error may repeat it.
fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}
