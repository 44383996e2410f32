//! Putting questions on a terminal. Nothing else in the program knows inquire.

use std::io::{self, Write as _};

use inquire::{
    Autocomplete, Confirm, CustomUserError, InquireError, Password, PasswordDisplayMode, Select, Text,
    autocompletion::Replacement, validator::Validation,
};
use landfall_platform::survey::{Answer, Choice, Input, Notice, Prompter, Question, Reply, Rule};

const PAGE_SIZE: usize = 12;

const KEYS: &str = "Enter accepts, the arrow keys and typing choose from a list, Esc goes back, Ctrl-C stops";

/// Puts questions on the terminal that stdin and stderr are connected to: Esc goes back, Ctrl-C stops.
#[derive(Debug, Default)]
pub(crate) struct TerminalPrompter {
    introduced: bool,
}

impl Prompter for TerminalPrompter {
    fn ask(&mut self, question: &Question) -> io::Result<Reply> {
        if !self.introduced {
            self.introduced = true;
            self.notice(&Notice::Info(KEYS.to_owned()))?;
        }
        let Question { message, help, input } = question;
        let answer = match input {
            Input::Select { choices, preset } => select(message, help.as_deref(), choices, preset.as_deref()),
            Input::Text { preset, rule } => text(message, help.as_deref(), preset.as_deref(), rule),
            Input::Secret { rule } => secret(message, help.as_deref(), rule),
            Input::Confirm { preset } => {
                let prompt = Confirm { help_message: help.as_deref(), ..Confirm::new(message) };
                prompt.with_default(*preset).prompt().map(Answer::Flag)
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
    let prompt = Select { help_message: help, ..Select::new(message, labels) };
    let chosen = prompt.with_starting_cursor(marked).with_page_size(PAGE_SIZE).raw_prompt()?;
    Ok(Answer::Text(choices[chosen.index].value.clone()))
}

fn text(message: &str, help: Option<&str>, preset: Option<&str>, rule: &Rule) -> Result<Answer, InquireError> {
    let default = preset.filter(|preset| !preset.is_empty());
    let prompt = Text { help_message: help, default, ..Text::new(message) };
    prompt.with_validator(validator(rule)).with_autocomplete(Objection(rule.clone())).prompt().map(Answer::Text)
}

fn secret(message: &str, help: Option<&str>, rule: &Rule) -> Result<Answer, InquireError> {
    let prompt = Password { help_message: help, ..Password::new(message) };
    let rule = rule.clone();
    let judge = move |text: &str| {
        Ok(rule.judge(text).map_or_else(|objection| Validation::Invalid(objection.into()), |()| Validation::Valid))
    };
    let prompt = prompt.without_confirmation().with_display_mode(PasswordDisplayMode::Hidden).with_validator(judge);
    prompt.prompt().map(|answer| Answer::Secret(answer.into()))
}

/// Refuses text that breaks the rule. The reason stands below the text already, unless nothing was typed.
fn validator(rule: &Rule) -> impl Fn(&str) -> Result<Validation, CustomUserError> + Clone + 'static {
    let rule = rule.clone();
    move |text| {
        Ok(match rule.judge(text) {
            _ if text.starts_with(MARK) => Validation::Invalid("that is the reason, not an answer".into()),
            Ok(()) => Validation::Valid,
            Err(objection) if text.is_empty() => Validation::Invalid(objection.into()),
            Err(_) => Validation::Invalid("this cannot be used, for the reason below".into()),
        })
    }
}

/// Tells a reason from a suggestion.
const MARK: &str = "✗ ";

/// Shows what is wrong with the text while it is typed, on the line where suggestions would be. (inquire judges only what was
/// submitted; suggestions are the one thing it asks for at every key stroke.)
#[derive(Clone)]
struct Objection(Rule);

impl Autocomplete for Objection {
    fn get_suggestions(&mut self, text: &str) -> Result<Vec<String>, CustomUserError> {
        let objection = if text.is_empty() { None } else { self.0.judge(text).err() };
        Ok(objection.into_iter().map(|objection| format!("{MARK}{objection}")).collect())
    }

    fn get_completion(&mut self, _text: &str, _highlighted: Option<String>) -> Result<Replacement, CustomUserError> {
        Ok(Replacement::None)
    }
}
