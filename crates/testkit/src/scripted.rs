//! A prompter that reads its replies from a script.

use std::{collections::VecDeque, io};

use landfall_platform::survey::{
    Answer, Answers, Input, Key, Notice, PoolAnswers, Prompter, Question, Reply, Survey, SurveyError, conduct,
};
use secrecy::SecretString;
use serde_json::Value;

/// What the person of the script does when a question comes.
#[derive(Clone, Debug)]
pub enum Step {
    /// Types text, or chooses the first choice whose label contains it.
    Type(&'static str),
    /// Accepts what is preset.
    Enter,
    /// Says yes or no.
    Say(bool),
    /// Goes back.
    Back,
    /// Presses Ctrl-C.
    Abort,
}

/// A prompter that reads its replies from a script and keeps a transcript.
///
/// Each step names a part of the question it expects, so that a script that has got out of step fails at once and says where.
/// Text that breaks a rule is written into the transcript with the rule's objection, as a terminal would show it, and the next
/// step answers the same question again.
#[derive(Debug)]
pub struct ScriptedPrompter {
    script: VecDeque<(&'static str, Step)>,
    transcript: String,
}

impl ScriptedPrompter {
    /// A prompter for this script.
    pub fn new(script: impl IntoIterator<Item = (&'static str, Step)>) -> Self {
        Self { script: script.into_iter().collect(), transcript: String::new() }
    }

    /// Everything that was shown and replied. Secrets appear as `***`, as on a terminal.
    pub fn transcript(&self) -> &str {
        &self.transcript
    }

    /// The steps that were not taken.
    pub fn remaining(&self) -> usize {
        self.script.len()
    }

    fn write(&mut self, line: &str) {
        self.transcript.push_str(line);
        self.transcript.push('\n');
    }
}

impl Prompter for ScriptedPrompter {
    fn ask(&mut self, question: &Question) -> io::Result<Reply> {
        loop {
            let shown = describe(question);
            let Some((expected, step)) = self.script.pop_front() else {
                panic!("the script ends before: {shown}\n\n{}", self.transcript);
            };
            assert!(
                question.message.contains(expected),
                "expected a question about '{expected}', got: {shown}\n\n{}",
                self.transcript
            );
            self.write(&format!("? {shown}"));
            match reply(question, &step) {
                Ok(reply) => {
                    let line = match &reply {
                        Reply::Answer(Answer::Text(text)) => format!("> {text}"),
                        Reply::Answer(Answer::Secret(_)) => "> ***".to_owned(),
                        Reply::Answer(Answer::Flag(flag)) => format!("> {}", if *flag { "yes" } else { "no" }),
                        Reply::Back => "> [back]".to_owned(),
                        Reply::Abort => "> [abort]".to_owned(),
                    };
                    self.write(&line);
                    return Ok(reply);
                }
                Err(objection) => self.write(&format!("# {objection}")),
            }
        }
    }

    fn notice(&mut self, notice: &Notice) -> io::Result<()> {
        match notice {
            Notice::Info(text) => self.write(&format!("i {text}")),
            Notice::Warning(text) => self.write(&format!("! {text}")),
        }
        Ok(())
    }
}

/// A platform's survey, and what came of it.
#[derive(Debug)]
pub struct ScriptedSurvey {
    /// The platform's section.
    pub section: Result<Value, SurveyError>,
    /// What was answered about pools.
    pub pools: PoolAnswers,
    /// The machine network that the platform shows.
    pub machine_network: Option<String>,
    /// Everything that was shown and replied.
    pub transcript: String,
    /// Whether credentials were stored.
    pub stored: bool,
}

/// Holds a platform's survey with a script. `given` is what was given beforehand.
pub async fn hold_survey(
    survey: &mut dyn Survey,
    given: &[(Key, &str)],
    script: impl IntoIterator<Item = (&'static str, Step)>,
) -> ScriptedSurvey {
    let mut prompter = ScriptedPrompter::new(script);
    let mut answers = Answers::default();
    for (key, value) in given {
        answers.give(key, Answer::Text((*value).to_owned()));
    }
    let result = conduct(&mut prompter, &mut *survey, &mut answers).await;
    assert_eq!(prompter.remaining(), 0, "{}", prompter.transcript());
    let stored = match &result {
        Ok(()) => survey.store_credentials(&answers).expect("the credentials can be stored").is_some(),
        Err(_) => false,
    };
    ScriptedSurvey {
        machine_network: survey.machine_network(&answers).await,
        pools: survey.pools(&answers),
        section: result.map(|()| survey.section(&answers)),
        transcript: prompter.transcript,
        stored,
    }
}

fn describe(question: &Question) -> String {
    let message = &question.message;
    match &question.input {
        Input::Select { choices, preset } => {
            let marked = choices.iter().position(|choice| Some(&choice.value) == preset.as_ref()).unwrap_or(0);
            let labels: Vec<String> = choices
                .iter()
                .enumerate()
                .map(|(i, choice)| if i == marked { format!("[{}]", choice.label) } else { choice.label.clone() })
                .collect();
            format!("{message} {}", labels.join(" | "))
        }
        Input::Text { preset: Some(preset), .. } => format!("{message} ({preset})"),
        Input::Text { .. } | Input::Secret { .. } => message.clone(),
        Input::Confirm { preset } => format!("{message} ({})", if *preset { "Y/n" } else { "y/N" }),
    }
}

/// The reply of a step, or the objection of the question's rule.
fn reply(question: &Question, step: &Step) -> Result<Reply, String> {
    let answer = match (&question.input, step) {
        (_, Step::Back) => return Ok(Reply::Back),
        (_, Step::Abort) => return Ok(Reply::Abort),
        (Input::Select { choices, .. }, Step::Type(part)) => {
            let chosen = choices.iter().find(|choice| choice.label.contains(part));
            let chosen = chosen.unwrap_or_else(|| panic!("no choice contains '{part}': {}", describe(question)));
            Answer::Text(chosen.value.clone())
        }
        (Input::Select { choices, preset }, Step::Enter) => {
            let marked = choices.iter().find(|choice| Some(&choice.value) == preset.as_ref());
            Answer::Text(marked.or(choices.first()).expect("a select has choices").value.clone())
        }
        (Input::Text { rule, .. }, Step::Type(text)) => {
            rule.judge(text)?;
            Answer::Text((*text).to_owned())
        }
        (Input::Text { preset, rule }, Step::Enter) => {
            let text = preset.clone().unwrap_or_default();
            rule.judge(&text)?;
            Answer::Text(text)
        }
        (Input::Secret { rule }, Step::Type(text)) => {
            rule.judge(text)?;
            Answer::Secret(SecretString::from(*text))
        }
        (Input::Confirm { .. }, Step::Say(flag)) => Answer::Flag(*flag),
        (Input::Confirm { preset }, Step::Enter) => Answer::Flag(*preset),
        (_, step) => panic!("{step:?} is no reply to: {}", describe(question)),
    };
    Ok(Reply::Answer(answer))
}
