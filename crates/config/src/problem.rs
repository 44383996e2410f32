//! What is wrong with an install-config, and how it is told.

use std::fmt;

/// One thing that is wrong, written as a sentence: the path, the value in brackets, the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: `platform.ovirt.api_vips[0]`. Empty for the file as a whole.
    pub path: String,
    /// The value found there, if there is one and it is not secret.
    pub value: Option<String>,
    /// What it has to be, in words that follow the path: `must be …`, `is missing`.
    pub rule: String,
    /// What to write instead.
    pub suggestion: Option<String>,
}

/// Longer values are cut: the path says where the whole one is.
const VALUE_CHARACTERS: usize = 72;

/// Names of the user's can be in the other parts, and be of any length too.
const LINE_CHARACTERS: usize = 600;

impl Problem {
    /// A problem without a value, for something that is missing, unknown or secret.
    pub fn new(path: impl Into<String>, rule: impl Into<String>) -> Self {
        Self { path: path.into(), value: None, rule: rule.into(), suggestion: None }
    }

    /// With the value that was found.
    #[must_use]
    pub fn value(mut self, value: impl fmt::Display) -> Self {
        self.value = Some(value.to_string());
        self
    }

    /// With something to write instead.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the file" } else { &self.path };
        f.write_str(&on_one_line(path, LINE_CHARACTERS))?;
        if let Some(value) = &self.value {
            write!(f, " ('{}')", on_one_line(value, VALUE_CHARACTERS))?;
        }
        write!(f, " {}", on_one_line(&self.rule, LINE_CHARACTERS))?;
        match &self.suggestion {
            Some(suggestion) => write!(f, "\n    {}", on_one_line(suggestion, LINE_CHARACTERS)),
            None => Ok(()),
        }
    }
}

/// Text of the user's as a terminal can show it: control characters escaped, cut to a readable length.
fn on_one_line(text: &str, max: usize) -> String {
    let mut line: String = text.chars().take(max).flat_map(escaped).collect();
    if text.chars().nth(max).is_some() {
        line.push('…');
    }
    line
}

fn escaped(c: char) -> impl Iterator<Item = char> {
    let (plain, escape) = if c.is_control() { (None, Some(c.escape_default())) } else { (Some(c), None) };
    plain.into_iter().chain(escape.into_iter().flatten())
}

/// All problems of one install-config; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// At least one problem.
    pub(crate) fn new(problems: Vec<Problem>) -> Self {
        debug_assert!(!problems.is_empty(), "no problems are no error");
        Self(problems)
    }

    /// One after the other, in the order in which they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            1 => f.write_str("1 problem")?,
            n => write!(f, "{n} problems")?,
        }
        for problem in self {
            write!(f, "\n  {}", problem.to_string().replace('\n', "\n  "))?;
        }
        Ok(())
    }
}

/// Something the user should know that does not stop the installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Where, as in [`Problem::path`].
    pub path: String,
    /// What, in words that follow the path and a colon.
    pub message: String,
}

impl Notice {
    /// A notice about the field at a path.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, message } = self;
        write!(f, "{}: {}", on_one_line(path, LINE_CHARACTERS), on_one_line(message, LINE_CHARACTERS))
    }
}

/// Why bytes are not a usable install-config.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Larger than any install-config can sensibly be; nothing of it was read.
    #[error("the install-config is too large: {size} bytes, and at most {limit} are read")]
    TooLarge {
        /// Its size in bytes.
        size: usize,
        /// The largest size that is read, in bytes.
        limit: usize,
    },
    /// Not text in UTF-8.
    #[error("the install-config is not UTF-8 text: byte {offset} (line {line}) is not part of a character")]
    NotUtf8 {
        /// Offset of the first wrong byte.
        offset: usize,
        /// Line of that byte, from 1.
        line: usize,
    },
    /// Not YAML, or YAML with constructs that are refused (duplicate keys, excessive aliases, deep nesting).
    #[error("the install-config is not valid YAML: line {line}, column {column}: {message}")]
    NotYaml {
        /// Line, from 1; 0 if unknown.
        line: u64,
        /// Column, from 1; 0 if unknown.
        column: u64,
        /// What is wrong there.
        message: String,
    },
    /// Well-formed, but its contents cannot be used.
    #[error("the install-config has {0}")]
    Invalid(Problems),
}
