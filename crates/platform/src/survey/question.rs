//! A question as a person sees it, and the answer.

use std::{fmt, sync::Arc};

use secrecy::SecretString;

/// Names a question. Where the answer fills a field of the install-config, it is the field's path.
pub type Key = &'static str;

/// A question as a person sees it.
#[derive(Clone, Debug)]
pub struct Question {
    /// What is asked, for example `Base domain`.
    pub message: String,
    /// A line that says what the answer is for or looks like.
    pub help: Option<String>,
    /// How it is answered.
    pub input: Input,
}

/// How a question is answered.
#[derive(Clone, Debug)]
pub enum Input {
    /// By choosing one of several; typing filters them.
    Select {
        /// What can be chosen, at least one.
        choices: Vec<Choice>,
        /// Value of the choice that is marked at first; the first choice if there is none.
        preset: Option<String>,
    },
    /// By typing text.
    Text {
        /// What stands there at first.
        preset: Option<String>,
        /// What the text must be like, judged at every key stroke.
        rule: Rule,
    },
    /// By typing something that is not shown.
    Secret {
        /// What it must be like.
        rule: Rule,
    },
    /// By yes or no.
    Confirm {
        /// What an empty answer means.
        preset: bool,
    },
}

/// One of several things to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What becomes the answer.
    pub value: String,
    /// What is shown.
    pub label: String,
}

/// Judges text while it is typed: pure and quick. What needs a call to the platform is judged afterwards
/// ([`Questions::judge`](super::Questions::judge)).
#[derive(Clone)]
pub struct Rule(Arc<Judge>);

type Judge = dyn Fn(&str) -> Result<(), String> + Send + Sync;

/// What was answered.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Typed text, or the value of the chosen one.
    Text(String),
    /// Something that must not be shown.
    Secret(SecretString),
    /// Yes or no.
    Flag(bool),
}

impl Question {
    /// A choice of several.
    pub fn select(message: impl Into<String>, choices: Vec<Choice>) -> Self {
        Self::new(message, Input::Select { choices, preset: None })
    }

    /// A line of text.
    pub fn text(message: impl Into<String>, rule: Rule) -> Self {
        Self::new(message, Input::Text { preset: None, rule })
    }

    /// A line of text that is not shown.
    pub fn secret(message: impl Into<String>, rule: Rule) -> Self {
        Self::new(message, Input::Secret { rule })
    }

    /// A yes or no.
    pub fn confirm(message: impl Into<String>, preset: bool) -> Self {
        Self::new(message, Input::Confirm { preset })
    }

    fn new(message: impl Into<String>, input: Input) -> Self {
        Self { message: message.into(), help: None, input }
    }

    /// Adds the help line.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets what stands there at first. An answer that is no possible answer to this question is ignored, and secrets are
    /// never offered again.
    #[must_use]
    pub fn preset(mut self, answer: &Answer) -> Self {
        match (&mut self.input, answer) {
            (Input::Select { choices, preset }, Answer::Text(text))
                if choices.iter().any(|choice| choice.value == *text) =>
            {
                *preset = Some(text.clone());
            }
            (Input::Text { preset, .. }, Answer::Text(text)) => *preset = Some(text.clone()),
            (Input::Confirm { preset }, Answer::Flag(flag)) => *preset = *flag,
            _ => {}
        }
        self
    }

    /// Sets the text that stands there at first.
    #[must_use]
    pub fn preset_text(self, text: impl Into<String>) -> Self {
        self.preset(&Answer::Text(text.into()))
    }
}

impl Choice {
    /// A choice that is shown by another text than its value.
    pub fn new(value: impl Into<String>, label: impl Into<String>) -> Self {
        Self { value: value.into(), label: label.into() }
    }
}

impl Rule {
    /// A rule; the error says what is wrong with the text.
    pub fn new(judge: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(judge))
    }

    /// Any text, also none.
    pub fn anything() -> Self {
        Self::new(|_| Ok(()))
    }

    /// Any text but none.
    pub fn something() -> Self {
        Self::new(|text| if text.trim().is_empty() { Err("an answer is needed".to_owned()) } else { Ok(()) })
    }

    /// Judges a text.
    pub fn judge(&self, text: &str) -> Result<(), String> {
        (self.0)(text)
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rule")
    }
}
