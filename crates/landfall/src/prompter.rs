//! Putting questions on a terminal. Nothing else in the program knows inquire.

use std::io::{self, Write as _};

use inquire::{
    Autocomplete, Confirm, CustomUserError, InquireError, Password, PasswordDisplayMode, Select, Text,
    autocompletion::Replacement, validator::Validation,
};
use landfall_platform::survey::{Answer, Choice, Input, Notice, Prompter, Question, Reply, Rule};

const PAGE_SIZE: usize = 12;

/// Puts questions on the terminal that stdin and stderr are connected to: Esc goes back, Ctrl-C stops.
#[derive(Debug, Default)]
pub(crate) struct TerminalPrompter;

impl Prompter for TerminalPrompter {
    fn ask(&mut self, question: &Question) -> io::Result<Reply> {
        let Question { message, help, input } = question;
        let answer = match input {
            Input::Select { choices, preset } => select(message, help.as_deref(), choices, preset.as_deref()),
            Input::Text { preset, rule } => text(message, help.as_deref(), preset.as_deref(), rule),
            Input::Secret { rule } => secret(message, help.as_deref(), rule),
            Input::Confirm { preset } => {
                let help = with_keys(help.as_deref(), "y or n");
                Confirm::new(message).with_default(*preset).with_help_message(&help).prompt().map(Answer::Flag)
            }
        };
        match answer {
            Ok(answer) => Ok(Reply::Answer(answer)),
            Err(InquireError::OperationCanceled) => Ok(Reply::Back),
            Err(InquireError::OperationInterrupted) => Ok(Reply::Abort),
            Err(InquireError::IO(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    fn notice(&mut self, notice: &Notice) -> io::Result<()> {
        let (mark, text) = match notice {
            Notice::Info(text) => ("·", text),
            Notice::Warning(text) => ("!", text),
        };
        let mut stderr = io::stderr().lock();
        for (i, line) in text.lines().enumerate() {
            writeln!(stderr, "{} {line}", if i == 0 { mark } else { " " })?;
        }
        Ok(())
    }
}

fn select(message: &str, help: Option<&str>, choices: &[Choice], preset: Option<&str>) -> Result<Answer, InquireError> {
    let marked = choices.iter().position(|choice| Some(choice.value.as_str()) == preset).unwrap_or(0);
    let labels: Vec<&str> = choices.iter().map(|choice| choice.label.as_str()).collect();
    let help = with_keys(help, "↑↓ move, type to filter, Enter chooses");
    let chosen = Select::new(message, labels)
        .with_starting_cursor(marked)
        .with_page_size(PAGE_SIZE)
        .with_help_message(&help)
        .raw_prompt()?;
    Ok(Answer::Text(choices[chosen.index].value.clone()))
}

fn text(message: &str, help: Option<&str>, preset: Option<&str>, rule: &Rule) -> Result<Answer, InquireError> {
    let help = with_keys(help, "Enter accepts");
    let mut prompt = Text::new(message)
        .with_help_message(&help)
        .with_validator(validator(rule))
        .with_autocomplete(Objection(rule.clone()));
    if let Some(preset) = preset.filter(|preset| !preset.is_empty()) {
        prompt = prompt.with_default(preset);
    }
    prompt.prompt().map(Answer::Text)
}

fn secret(message: &str, help: Option<&str>, rule: &Rule) -> Result<Answer, InquireError> {
    let help = with_keys(help, "Enter accepts");
    let answer = Password::new(message)
        .without_confirmation()
        .with_display_mode(PasswordDisplayMode::Hidden)
        .with_help_message(&help)
        .with_validator(validator(rule))
        .prompt()?;
    Ok(Answer::Secret(answer.into()))
}

fn with_keys(help: Option<&str>, keys: &str) -> String {
    match help {
        Some(help) => format!("{help} ({keys}, Esc goes back)"),
        None => format!("{keys}, Esc goes back"),
    }
}

fn validator(rule: &Rule) -> impl Fn(&str) -> Result<Validation, CustomUserError> + Clone + 'static {
    let rule = rule.clone();
    move |text| {
        Ok(match rule.judge(text) {
            Ok(()) => Validation::Valid,
            Err(objection) => Validation::Invalid(objection.into()),
        })
    }
}

/// Shows what is wrong with the text while it is typed, on the line where suggestions would be. It suggests nothing: the line
/// can be reached with the arrow keys, but as an answer it breaks the rule itself.
#[derive(Clone)]
struct Objection(Rule);

impl Autocomplete for Objection {
    fn get_suggestions(&mut self, text: &str) -> Result<Vec<String>, CustomUserError> {
        let objection = if text.is_empty() { None } else { self.0.judge(text).err() };
        Ok(objection.into_iter().collect())
    }

    fn get_completion(&mut self, _text: &str, _highlighted: Option<String>) -> Result<Replacement, CustomUserError> {
        Ok(Replacement::None)
    }
}
