//! Whose machines they are: the project, the organisation that pays for a new one, and who may use consoles.

use landfall_platform::survey::{Answers, Choice, Composed, Field, Key, Question};

use super::{Stop, Survey, key, or_by_hand, typed};
use crate::Client;

/// Makes a project.
pub(super) const NEW: &str = "new";
const NONE: &str = "";

/// Whether a project is made for the cluster.
pub(super) fn makes_one(answers: &Answers) -> bool {
    answers.text(key::PROJECT) == Some(NEW) || answers.has(key::NEW_PROJECT)
}

/// The project that is there already, if it is to be used.
pub(super) fn existing(answers: &Answers) -> Option<&str> {
    answers.text(key::PROJECT).filter(|_| !makes_one(answers)).map(str::trim)
}

impl Survey {
    pub(super) async fn compose_project(&mut self, key: Key, answers: &Answers) -> Composed {
        let by_hand = by_hand(key);
        let Some(client) = self.client(answers) else { return Composed::ask(by_hand) };
        let composed = match key {
            key::PROJECT => projects(client).await,
            key::ORGANIZATION => organizations(client).await,
            _ => console_keys(client, answers).await,
        };
        or_by_hand(composed, by_hand)
    }
}

async fn projects(client: &Client) -> Result<Composed, Stop> {
    let mut choices: Vec<Choice> =
        client.projects().await?.into_iter().map(|project| Choice::new(project.id, project.name)).collect();
    choices.push(Choice::new(NEW, "A new one, which goes with the cluster"));
    Ok(Composed::ask(Question::select("Project", choices).help("Machines and addresses of the cluster belong to it")))
}

async fn organizations(client: &Client) -> Result<Composed, Stop> {
    let all = client.organizations().await?;
    let impossible = "the key may see no organisation, so it can make no project";
    match all.as_slice() {
        [] => Err(Stop::Impossible(impossible.to_owned())),
        [only] => Ok(Composed::known(&only.id)),
        all => {
            let choices = all.iter().map(|one| Choice::new(&one.id, &one.name)).collect();
            Ok(Composed::ask(Question::select("Organisation", choices).help("It pays for the new project")))
        }
    }
}

async fn console_keys(client: &Client, answers: &Answers) -> Result<Composed, Stop> {
    let keys = client.ssh_keys(existing(answers).unwrap_or_default()).await?;
    if keys.is_empty() {
        return Ok(Composed::known(NONE));
    }
    let mut choices = vec![Choice::new(NONE, "Nobody")];
    choices.extend(keys.into_iter().map(|key| Choice::new(key.id, key.label)));
    let question = Question::select("Who may use the machines' out-of-band console?", choices)
        .help("An SSH key of the project; that of the first question gets in over the network in any case");
    Ok(Composed::ask(question))
}

fn by_hand(key: Key) -> Question {
    let field = Field::text(key);
    match key {
        key::PROJECT => typed("Project", field, "The id of the project that machines and addresses belong to"),
        key::ORGANIZATION => typed("Organisation", field.optional(), "The id of the organisation that pays"),
        _ => typed("SSH key for consoles", Field::texts(key).optional(), "The id of a key of the project, or nothing"),
    }
}
