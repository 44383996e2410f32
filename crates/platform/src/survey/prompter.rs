//! Who puts the questions.

use std::io;

use super::{Answer, Question};

/// Puts questions to a person.
///
/// The program has one for the terminal, the tests have one that reads a script. Nobody else talks to the person during a
/// survey, so platform crates stay free of terminals.
pub trait Prompter: Send {
    /// Puts one question and waits for the reply. The answer is of the kind the question's input asks for and keeps its
    /// rule; a chosen value is one of the choices.
    fn ask(&mut self, question: &Question) -> io::Result<Reply>;

    /// Shows something between two questions.
    fn notice(&mut self, notice: &Notice) -> io::Result<()>;
}

/// What a person replied to a question.
#[derive(Clone, Debug)]
pub enum Reply {
    /// An answer.
    Answer(Answer),
    /// Back to the question before.
    Back,
    /// Stop the survey.
    Abort,
}

/// Something shown between two questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Worth knowing.
    Info(String),
    /// Worth a second look.
    Warning(String),
}
