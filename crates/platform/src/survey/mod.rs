//! The survey: questions whose answers make an install-config.
//!
//! A survey is a list of questions and what is known so far; the next question is the first in the list that applies and
//! has no answer ([`next`]). [`conduct`] walks that list with a [`Prompter`]; a step back forgets the last answer and
//! offers it again. Nothing in this module does I/O: the prompter talks to the person, the platform's [`Survey`] talks to
//! the platform.

mod answers;
mod conduct;
mod error;
mod field;
mod prompter;
mod question;

use std::{error::Error, path::PathBuf};

use async_trait::async_trait;

pub use answers::Answers;
pub use conduct::{conduct, next};
pub use error::SurveyError;
pub use field::Field;
pub use prompter::{Notice, Prompter, Reply};
pub use question::{Answer, Choice, Input, Key, Question, Rule};

/// A list of questions, and how each is composed and judged.
#[async_trait]
pub trait Questions: Send {
    /// All questions in the order in which they are put. May depend on what is known so far, but the part before the
    /// question at hand must not change.
    fn keys(&self, answers: &Answers) -> Vec<Key>;

    /// Whether a question is put, decided from the answers to those before it.
    fn applies(&self, key: Key, answers: &Answers) -> bool;

    /// Composes a question. Called each time before it is put, so choices may be fetched from the platform here. Everything
    /// before it in the list is known.
    async fn compose(&mut self, key: Key, answers: &Answers) -> Result<Composed, SurveyError>;

    /// Judges the answer to a question that kept its rule, where that needs more than the text itself. By default any
    /// answer is accepted.
    async fn judge(&mut self, _key: Key, _answer: &Answer, _answers: &Answers) -> Result<Verdict, SurveyError> {
        Ok(Verdict::accept())
    }
}

/// What came of composing a question.
#[derive(Clone, Debug)]
pub enum Composed {
    /// Put this question, after showing the notices.
    Ask(Question, Vec<Notice>),
    /// There is only one possible answer, so nothing is asked.
    Known(Answer, Vec<Notice>),
    /// The platform does not answer. The person may try again, go back, or answer the other question instead.
    Unavailable {
        /// What was attempted and what came of it.
        reason: String,
        /// The question that can be answered without the platform.
        by_hand: Question,
    },
    /// With the answers so far there is no possible answer; the person has to go back.
    Impossible(String),
}

/// What came of judging an answer.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It is good. What was learned on the way is known from now on, until a step back over the question.
    Accept {
        /// Further things that are known now.
        learned: Vec<(Key, Answer)>,
        /// What to show.
        notices: Vec<Notice>,
    },
    /// It is not good, for this reason: the question is put again.
    Again(String),
    /// It means: back to the question before.
    Back,
    /// It means: stop the survey.
    Abort,
}

/// The survey of a platform.
///
/// To add a platform: implement this trait in `survey.rs` of its crate, name its questions after the fields of its section in
/// the install-config (`platform.<name>.<field>`), and add the platform to the one match in `landfall`'s survey. The questions
/// stand between those for the platform and the machine network; the general part of the survey asks for addresses, names and
/// the distribution, so a platform asks only for what it alone knows.
#[async_trait]
pub trait Survey: Questions {
    /// The platform's name as the install-config spells it.
    fn platform(&self) -> &'static str;

    /// Whether the cluster's endpoints are virtual addresses in the machine network. If so the general part asks for them
    /// and stores them as lists in `api_vips` and `ingress_vips` of the platform's section.
    fn has_vips(&self) -> bool;

    /// The machine network in CIDR notation, if the platform shows it. Called once per pass, after the platform's
    /// questions. A guess that is not well founded is worse than none.
    async fn machine_network(&mut self, answers: &Answers) -> Option<String>;

    /// The platform's section as far as it was asked for. Fields that were given beforehand are left out. Called once, when
    /// all questions are answered.
    fn section(&self, answers: &Answers) -> serde_json::Value;

    /// What the answers say about the machines of each pool: the platform's part of it, and how many they are. By default they
    /// say nothing.
    fn pools(&self, _answers: &Answers) -> PoolAnswers {
        PoolAnswers::default()
    }

    /// Whether names of API and ingress must be made during the installation, because their addresses are not known before.
    /// If so the general part asks where the records are made.
    fn needs_dns(&self, _answers: &Answers) -> bool {
        false
    }

    /// Backends of the platform's own that records can be made with, for which an empty section below `dns` is enough: they are
    /// offered before those that serve every platform. By default there are none.
    async fn dns_backends(&mut self, _answers: &Answers) -> Vec<Choice> {
        Vec::new()
    }

    /// Stores the credentials in the platform's customary file, and says where. Called once, last, after the person has
    /// confirmed everything; `None` if there was nothing new to store.
    fn store_credentials(&mut self, answers: &Answers) -> Result<Option<PathBuf>, Box<dyn Error + Send + Sync>>;
}

/// What is said about the machines of each pool. `Null` is nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoolAnswers {
    /// About masters.
    pub control_plane: serde_json::Value,
    /// About workers.
    pub compute: serde_json::Value,
    /// How many masters, if it was asked.
    pub masters: Option<u32>,
    /// How many workers, if it was asked.
    pub workers: Option<u32>,
}

impl Composed {
    /// Put this question.
    pub fn ask(question: Question) -> Self {
        Self::Ask(question, Vec::new())
    }

    /// There is only one possible answer.
    pub fn known(answer: impl Into<String>) -> Self {
        Self::Known(Answer::Text(answer.into()), Vec::new())
    }
}

impl Verdict {
    /// The answer is good.
    pub fn accept() -> Self {
        Self::Accept { learned: Vec::new(), notices: Vec::new() }
    }
}
