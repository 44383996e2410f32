//! Walking the list of questions.

use super::{
    Answer, Answers, Choice, Composed, Key, Notice, Prompter, Question, Questions, Reply, SurveyError, Verdict,
};

const AGAIN: &str = "again";
const BY_HAND: &str = "by-hand";

/// The next question: the first in the list that applies and has no answer.
pub fn next(questions: &dyn Questions, answers: &Answers) -> Option<Key> {
    questions.keys(answers).into_iter().find(|key| !answers.has(key) && questions.applies(key, answers))
}

/// Puts questions until none is left.
pub async fn conduct(
    prompter: &mut dyn Prompter,
    questions: &mut dyn Questions,
    answers: &mut Answers,
) -> Result<(), SurveyError> {
    while let Some(key) = next(questions, answers) {
        let question = match questions.compose(key, answers).await? {
            Composed::Ask(question, notices) => {
                show(prompter, &notices)?;
                question
            }
            Composed::Known(answer, notices) => {
                show(prompter, &notices)?;
                answers.learn(key, answer);
                continue;
            }
            Composed::Unavailable { reason, by_hand } => {
                show(prompter, &[Notice::Warning(reason)])?;
                match ask(prompter, &what_now(&by_hand))? {
                    Some(Answer::Text(choice)) if choice == BY_HAND => by_hand,
                    Some(_) => continue,
                    None => {
                        step_back(prompter, answers)?;
                        continue;
                    }
                }
            }
            Composed::Impossible(reason) => {
                if !answers.step_back() {
                    return Err(SurveyError::Given(reason));
                }
                show(prompter, &[Notice::Warning(reason)])?;
                continue;
            }
        };
        let question = match answers.earlier(key) {
            Some(earlier) => question.preset(earlier),
            None => question,
        };
        let Some(answer) = ask(prompter, &question)? else {
            step_back(prompter, answers)?;
            continue;
        };
        match questions.judge(key, &answer, answers).await? {
            Verdict::Accept { learned, notices } => {
                show(prompter, &notices)?;
                answers.record(key, answer);
                for (key, answer) in learned {
                    answers.learn(key, answer);
                }
            }
            Verdict::Again(reason) => {
                show(prompter, &[Notice::Warning(reason)])?;
                answers.remember(key, answer);
            }
            Verdict::Back => step_back(prompter, answers)?,
            Verdict::Abort => return Err(SurveyError::Abandoned),
        }
    }
    Ok(())
}

/// The answer, or `None` for a step back.
fn ask(prompter: &mut dyn Prompter, question: &Question) -> Result<Option<Answer>, SurveyError> {
    match prompter.ask(question).map_err(SurveyError::Terminal)? {
        Reply::Answer(answer) => Ok(Some(answer)),
        Reply::Back => Ok(None),
        Reply::Abort => Err(SurveyError::Abandoned),
    }
}

fn show(prompter: &mut dyn Prompter, notices: &[Notice]) -> Result<(), SurveyError> {
    notices.iter().try_for_each(|notice| prompter.notice(notice)).map_err(SurveyError::Terminal)
}

fn step_back(prompter: &mut dyn Prompter, answers: &mut Answers) -> Result<(), SurveyError> {
    if answers.step_back() {
        return Ok(());
    }
    show(prompter, &[Notice::Info("this is the first question".to_owned())])
}

fn what_now(by_hand: &Question) -> Question {
    let label = format!("Answer by hand: {}", by_hand.message);
    Question::select("What now?", vec![Choice::new(AGAIN, "Try again"), Choice::new(BY_HAND, label)])
}
