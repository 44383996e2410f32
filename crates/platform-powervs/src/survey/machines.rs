//! What the machines are like, and how many they are. Masters and bootstrap machine are as the account's answers say; workers are too,
//! unless they are said to be different.

use landfall_config::DEFAULT_POWERVS_MEMORY_GIB;
use landfall_platform::survey::{Answers, Choice, Composed, Field, Key, Question, Rule};
use serde_json::json;

use super::{Survey, key, or_by_hand, section::section};
use crate::Error;

const LIKE_MASTERS: &str = "like";
const DIFFERENT: &str = "different";

/// Questions that are asked again for workers which are different, each with that about all machines.
const OF_WORKERS: [(Key, Key); 6] = [
    (key::WORKER_SYSTEM, key::SYSTEM),
    (key::WORKER_PROCESSOR_TYPE, key::PROCESSOR_TYPE),
    (key::WORKER_PROCESSORS, key::PROCESSORS),
    (key::WORKER_MEMORY, key::MEMORY),
    (key::WORKER_STORAGE, key::STORAGE),
    (key::WORKER_THREADS, key::THREADS),
];

/// Whether a question about machines is put.
pub(super) fn applies(key: Key, answers: &Answers) -> bool {
    let is_workers = OF_WORKERS.iter().any(|(own, _)| *own == key);
    match key {
        key::LIKENESS => {
            let is_said = OF_WORKERS.iter().any(|(own, _)| answers.is_given(own));
            answers.text(key::WORKERS).is_some_and(|number| number.trim() != "0") && !is_said
        }
        _ if is_workers => are_different(answers),
        _ => true,
    }
}

/// Whether workers are not like masters.
pub(super) fn are_different(answers: &Answers) -> bool {
    answers.text(key::LIKENESS) == Some(DIFFERENT)
}

impl Survey {
    pub(super) async fn compose_machines(&mut self, key: Key, answers: &Answers) -> Composed {
        let general = OF_WORKERS.iter().find(|(own, _)| *own == key).map(|(_, general)| *general);
        let (key, is_worker) = (general.unwrap_or(key), general.is_some());
        let titled = |title: &str| if is_worker { format!("{title} of workers") } else { title.to_owned() };
        match key {
            key::MASTERS => {
                let rule = Field::number(key).rule(&json!({ "platform": { "powervs": section(answers) } }));
                let question = Question::text("Number of masters", rule).preset_text("3");
                Composed::ask(question.help("3 or 5, or 1 for a cluster that may be lost"))
            }
            key::WORKERS => {
                let rule = Rule::new(|text| match text.trim().parse::<u32>() {
                    Ok(_) => Ok(()),
                    Err(_) => Err("must be a whole number, 0 or more".to_owned()),
                });
                let question = Question::text("Number of workers", rule).preset_text("3");
                Composed::ask(question.help("Without any, masters run applications too"))
            }
            key::LIKENESS => {
                let choices =
                    vec![Choice::new(LIKE_MASTERS, "Like the masters"), Choice::new(DIFFERENT, "Different from them")];
                Composed::ask(Question::select("Workers", choices))
            }
            key::SYSTEM => {
                let (message, help) = (titled("System type"), "That the machines run on");
                let by_hand = Question::text(message.clone(), Rule::something()).help(help);
                or_by_hand(self.systems(answers).await, &message, help, by_hand)
            }
            key::PROCESSOR_TYPE => {
                let choices = vec![
                    Choice::new("Shared", "Shared: machines take what others leave"),
                    Choice::new("Capped", "Capped: machines take no more than their own"),
                    Choice::new("Dedicated", "Dedicated: machines do not share"),
                ];
                Composed::ask(Question::select(titled("Processors"), choices).help("How machines share them"))
            }
            key::PROCESSORS => {
                let usual = if processor_type(is_worker, answers) == Some("Dedicated") { "1" } else { "0.5" };
                let rule = rule(key, is_worker, answers);
                let question = Question::text(titled("Number of processors"), rule).preset_text(usual);
                Composed::ask(question.help("Of each machine; a part of one will do where they are shared"))
            }
            key::MEMORY => {
                let question = Question::text(titled("Memory in GiB"), rule(key, is_worker, answers));
                Composed::ask(question.preset_text(DEFAULT_POWERVS_MEMORY_GIB.to_string()).help("Of each machine"))
            }
            key::STORAGE => {
                let choices = vec![
                    Choice::new("tier3", "tier3: 3 operations per second and GiB"),
                    Choice::new("tier1", "tier1: 10 operations per second and GiB"),
                    Choice::new("tier0", "tier0: 25 operations per second and GiB"),
                    Choice::new("tier5k", "tier5k: 5000 operations per second"),
                ];
                Composed::ask(Question::select(titled("Storage tier"), choices).help("Speed of the disks"))
            }
            _ => {
                let levels =
                    [("", "As the operating system has it"), ("off", "Off: one"), ("2", "2"), ("4", "4"), ("8", "8")];
                let choices = levels.map(|(value, label)| Choice::new(value, label)).to_vec();
                Composed::ask(Question::select(titled("Threads per processor (SMT)"), choices))
            }
        }
    }

    async fn systems(&self, answers: &Answers) -> Result<Vec<Choice>, Error> {
        let datacenter = self.client(answers)?.datacenter().await?;
        Ok(datacenter.systems().iter().map(|kind| Choice::new(kind, kind)).collect())
    }
}

fn processor_type(is_worker: bool, answers: &Answers) -> Option<&str> {
    answers.text(if is_worker { key::WORKER_PROCESSOR_TYPE } else { key::PROCESSOR_TYPE })
}

/// The config's own rule for a number, next to what is known already.
fn rule(key: Key, is_worker: bool, answers: &Answers) -> Rule {
    let mut known = section(answers);
    if is_worker || answers.is_given(key::PROCESSOR_TYPE) {
        known["defaultMachinePlatform"]["procType"] = json!(processor_type(is_worker, answers));
    }
    Field::number(key).rule(&json!({ "platform": { "powervs": known } }))
}
