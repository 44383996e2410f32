//! The walk over a list of questions.

use std::collections::BTreeMap;

use async_trait::async_trait;
use landfall_platform::survey::{
    Answer, Answers, Choice, Composed, Key, Question, Questions, Rule, SurveyError, Verdict, conduct,
};
use landfall_testkit::{
    ScriptedPrompter,
    Step::{Abort, Back, Enter, Type},
};

/// A fruit, its ripeness (only of a pear), a number and a closing question. The number zero is refused after it was typed, and
/// with a plum there is no possible number.
#[derive(Default)]
struct Fruit {
    composed: BTreeMap<Key, u32>,
}

#[async_trait]
impl Questions for Fruit {
    fn keys(&self, _answers: &Answers) -> Vec<Key> {
        vec!["fruit", "ripeness", "colour", "number", "end"]
    }

    fn applies(&self, key: Key, answers: &Answers) -> bool {
        key != "ripeness" || answers.text("fruit") == Some("pear")
    }

    async fn compose(&mut self, key: Key, answers: &Answers) -> Result<Composed, SurveyError> {
        *self.composed.entry(key).or_default() += 1;
        let choices = ["apple", "pear", "plum"].map(|fruit| Choice::new(fruit, fruit)).to_vec();
        Ok(match key {
            "fruit" => Composed::ask(Question::select("Fruit", choices)),
            "ripeness" => Composed::ask(Question::text("Ripeness", Rule::something()).preset_text("soft")),
            "colour" => Composed::known("green"),
            "number" if answers.text("fruit") == Some("plum") => Composed::Impossible("plums are out".to_owned()),
            "number" => Composed::ask(Question::text("Number", Rule::something())),
            _ => Composed::ask(Question::confirm("End", true)),
        })
    }

    async fn judge(&mut self, key: Key, answer: &Answer, _answers: &Answers) -> Result<Verdict, SurveyError> {
        Ok(match (key, answer) {
            ("number", Answer::Text(text)) if text == "0" => Verdict::Again("none is too few".to_owned()),
            ("number", Answer::Text(text)) => {
                Verdict::Accept { learned: vec![("twice", Answer::Text(text.repeat(2)))], notices: Vec::new() }
            }
            _ => Verdict::accept(),
        })
    }
}

async fn walk(
    answers: &mut Answers,
    script: impl IntoIterator<Item = (&'static str, landfall_testkit::Step)>,
) -> (Result<(), SurveyError>, String) {
    let mut prompter = ScriptedPrompter::new(script);
    let result = conduct(&mut prompter, &mut Fruit::default(), answers).await;
    assert_eq!(prompter.remaining(), 0, "{}", prompter.transcript());
    (result, prompter.transcript().to_owned())
}

#[tokio::test]
async fn a_step_back_forgets_what_followed_and_offers_what_was_answered() {
    let mut answers = Answers::default();
    let (result, transcript) = walk(
        &mut answers,
        [
            ("Fruit", Back),
            ("Fruit", Type("pear")),
            ("Ripeness", Type("hard")),
            ("Number", Type("7")),
            ("End", Back),
            ("Number", Back),
            ("Ripeness", Back),
            ("Fruit", Enter),
            ("Ripeness", Enter),
            ("Number", Type("8")),
            ("End", Enter),
        ],
    )
    .await;
    result.unwrap();
    assert!(transcript.contains("i this is the first question"), "{transcript}");
    assert!(transcript.contains("? Fruit apple | [pear] | plum"), "{transcript}");
    assert!(transcript.contains("? Ripeness (hard)"), "{transcript}");
    assert!(transcript.contains("? Number (7)"), "{transcript}");
    assert_eq!((answers.text("ripeness"), answers.text("number")), (Some("hard"), Some("8")));
    assert_eq!(answers.text("twice"), Some("88"), "what was learned from the forgotten answer is forgotten too");
}

#[tokio::test]
async fn a_question_that_no_longer_applies_leaves_no_answer() {
    let mut answers = Answers::default();
    let script = [
        ("Fruit", Type("pear")),
        ("Ripeness", Enter),
        ("Number", Back),
        ("Ripeness", Back),
        ("Fruit", Type("apple")),
        ("Number", Type("1")),
        ("End", Enter),
    ];
    walk(&mut answers, script).await.0.unwrap();
    assert!(!answers.has("ripeness"));
}

#[tokio::test]
async fn a_refused_answer_is_asked_again() {
    let (result, transcript) =
        walk(&mut Answers::default(), [("Fruit", Enter), ("Number", Type("0")), ("Number", Type("1")), ("End", Enter)])
            .await;
    result.unwrap();
    assert!(transcript.contains("! none is too few\n? Number (0)"), "{transcript}");
}

#[tokio::test]
async fn an_impossible_question_leads_back_or_is_the_fault_of_what_was_given() {
    let script = [("Fruit", Type("plum")), ("Fruit", Type("apple")), ("Number", Type("1")), ("End", Enter)];
    let (result, transcript) = walk(&mut Answers::default(), script).await;
    result.unwrap();
    assert!(transcript.contains("! plums are out\n? Fruit apple | pear | [plum]"), "{transcript}");

    let mut given = Answers::default();
    given.give("fruit", Answer::Text("plum".to_owned()));
    let (result, _) = walk(&mut given, []).await;
    assert!(matches!(result, Err(SurveyError::Given(reason)) if reason == "plums are out"));
}

#[tokio::test]
async fn an_abort_ends_it_at_once() {
    let (result, _) = walk(&mut Answers::default(), [("Fruit", Enter), ("Number", Abort)]).await;
    assert!(matches!(result, Err(SurveyError::Abandoned)));
}
