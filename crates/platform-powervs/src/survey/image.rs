//! What the machines boot from.

use landfall_config::powervs;
use landfall_platform::survey::{Answers, Choice, Composed, Field, Key, Notice, Question, Rule, Verdict};
use serde_json::Value;

use super::{NEW, Survey, key, or_by_hand};
use crate::Error;

/// An OVA in object storage of the user's.
pub(super) const OWN: &str = "own";
const PRIVATE: &str = "private";
const PUBLIC: &str = "public";

pub(super) fn applies(key: Key, answers: &Answers) -> bool {
    let chosen = answers.text(key::IMAGE).filter(|_| !answers.is_given(key::IMAGE));
    match key {
        key::REGIONAL => chosen == Some(NEW),
        _ => chosen == Some(OWN),
    }
}

impl Survey {
    pub(super) async fn compose_image(&mut self, key: Key, answers: &Answers) -> Composed {
        const MESSAGE: &str = "Image";
        const HELP: &str = "That the machines boot from";
        let typed = |message: &str, help: &str| Question::text(message, Field::text(key).rule(&Value::Null)).help(help);
        match key {
            key::IMAGE => {
                let by_hand = Question::text("Image that the workspace has", Rule::something()).help(HELP);
                or_by_hand(self.images(answers).await, MESSAGE, HELP, by_hand)
            }
            key::REGIONAL => Composed::ask(typed(
                "Object of the public bucket",
                "For example rhcos-9.6.20250701-0-ppc64le-powervs.ova.gz",
            )),
            key::BUCKET => Composed::ask(typed("Name of the bucket", "In object storage of your own")),
            key::OBJECT => Composed::ask(typed("Name of the object", "An OVA, perhaps compressed (.ova.gz)")),
            key::BUCKET_REGION => {
                let question = typed("Region of the bucket", "The image is imported from there");
                let near = answers.text(key::ZONE).and_then(powervs::zone).and_then(|zone| zone.cos_region);
                Composed::ask(match near {
                    Some(region) => question.preset_text(region),
                    None => question,
                })
            }
            _ => {
                let choices =
                    vec![Choice::new(PRIVATE, "Those who have an HMAC key"), Choice::new(PUBLIC, "Everybody")];
                Composed::ask(Question::select("Who may read the bucket?", choices))
            }
        }
    }

    async fn images(&self, answers: &Answers) -> Result<Vec<Choice>, Error> {
        let client = self.client(answers)?;
        let mut choices = vec![
            Choice::new(NEW, "Imported from the public bucket next to the zone"),
            Choice::new(OWN, "Imported from object storage of your own"),
        ];
        if let Some(workspace) = Self::workspace(&client, answers).await? {
            let images = client.images(&workspace).await?;
            choices.extend(images.into_iter().map(|image| Choice::new(&image.name, &image.name)));
        }
        Ok(choices)
    }

    /// The key of a private bucket is a credential, and not asked for here.
    pub(super) fn judge_access(&self, access: &str) -> Verdict {
        let has_key = self.proposed().is_some_and(|proposed| proposed.hmac.is_some());
        let notices = if access == PRIVATE && !has_key {
            let text = "set IBMCLOUD_HMAC_ACCESS_KEY_ID and IBMCLOUD_HMAC_SECRET_ACCESS_KEY before you install";
            vec![Notice::Warning(format!("there is no HMAC key for the bucket yet: {text}"))]
        } else {
            Vec::new()
        };
        Verdict::Accept { learned: Vec::new(), notices }
    }
}
