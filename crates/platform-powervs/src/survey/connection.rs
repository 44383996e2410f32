//! The API key.

use landfall_platform::{
    ErrorClass, error_chain,
    survey::{Answer, Answers, Composed, Notice, Question, Rule, Verdict},
};
use secrecy::SecretString;

use super::{Survey, endpoints};
use crate::{Credentials, Error, Whereabouts};

/// More could lock the account.
const TRIES: u32 = 3;

impl Survey {
    /// A key that is there and good is no question.
    pub(super) async fn compose_api_key(&mut self, answers: &Answers) -> Composed {
        let question = Question::secret("API key", Rule::something())
            .help("Of the account at IBM Cloud; it is kept in the credentials file, not in the install-config");
        let Some(stored) = self.stored.clone().filter(|_| self.refusals == 0) else { return Composed::ask(question) };
        let place = match Credentials::variable(&self.environment) {
            Some(variable) => variable.to_owned(),
            None => self.path.display().to_string(),
        };
        match self.account(&stored.api_key, answers).await {
            Ok(account) => {
                let notice = Notice::Info(format!("the API key in {place} is used, for account {account}"));
                Composed::Known(Answer::Secret(stored.api_key), vec![notice])
            }
            Err(error) if error.class() == ErrorClass::Auth => {
                let notice = Notice::Warning(format!("the API key in {place} is refused: {}", error_chain(&error)));
                Composed::Ask(question, vec![notice])
            }
            Err(error) => Composed::Unavailable { reason: error_chain(&error), by_hand: question },
        }
    }

    pub(super) async fn judge_api_key(&mut self, key: &SecretString, answers: &Answers) -> Result<Verdict, Error> {
        match self.account(key, answers).await {
            Ok(account) => {
                let mut notices = vec![Notice::Info(format!("account {account}"))];
                let variable = Credentials::variable(&self.environment);
                notices.extend(variable.map(|variable| {
                    Notice::Warning(format!("{variable} is set and goes before the file: unset it to use another key"))
                }));
                Ok(Verdict::Accept { learned: Vec::new(), notices })
            }
            Err(error) if error.class() == ErrorClass::Auth => {
                self.refusals += 1;
                if self.refusals >= TRIES {
                    return Err(error);
                }
                Ok(Verdict::Again(format!("{} (try {} of {TRIES})", error_chain(&error), self.refusals)))
            }
            Err(error) if error.class() == ErrorClass::Transient => {
                let text = format!("the key could not be checked: {}", error_chain(&error));
                Ok(Verdict::Accept { learned: Vec::new(), notices: vec![Notice::Warning(text)] })
            }
            Err(error) => Err(error),
        }
    }

    /// Whose key it is.
    async fn account(&self, key: &SecretString, answers: &Answers) -> Result<String, Error> {
        let credentials = Credentials::read_with_key(&self.environment, key.clone())?;
        let client = Whereabouts { endpoints: endpoints(answers), ..Whereabouts::default() }.client(&credentials)?;
        Ok(client.account().await?.to_owned())
    }
}
