//! Which API, whom to trust, and with which key.

use landfall_platform::{
    ErrorClass,
    survey::{Answer, Answers, Choice, Composed, Key, Notice, Question, Rule, Verdict},
};
use landfall_wire::Trust;
use secrecy::SecretString;
use url::Url;

use super::{Survey, is_offline, key, trust};
use crate::{Client, Credentials, Error, client::Account, credentials::API};

const USE_STORED: &str = "stored";
const ASK: &str = "ask";
const BACK: &str = "back";
const CONTINUE: &str = "continue";

/// More could lock the account.
const TRIES: u32 = 3;

pub(super) fn compose_offline(answers: &Answers) -> Composed {
    let reason = answers.text(key::UNREACHABLE).unwrap_or_default().to_owned();
    let choices = vec![
        Choice::new(BACK, "Go back, to change the address or try again"),
        Choice::new(CONTINUE, "Continue without the API and type ids and codes"),
    ];
    let question = Question::select("The API cannot be reached. What now?", choices)
        .help("Without it nothing you type can be checked until the installation begins");
    Composed::Ask(question, vec![Notice::Warning(reason)])
}

pub(super) fn judge_offline(choice: &str) -> Verdict {
    if choice == CONTINUE { Verdict::accept() } else { Verdict::Back }
}

pub(super) fn compose_ca_file() -> Composed {
    let question = Question::text("File with the API's CA certificate", Rule::something())
        .help("This system does not trust the API's certificate: a PEM file with the CA that issued it");
    Composed::ask(question)
}

impl Survey {
    pub(super) fn compose_reuse(&self) -> Composed {
        let Some(Credentials { api, trust, .. }) = &self.stored else { return Composed::known(ASK) };
        let mut notices = Vec::new();
        let place = if let Some(variable) = self.variable {
            variable.to_owned()
        } else {
            notices.extend(landfall_wire::exposure(&self.path).map(Notice::Warning));
            self.path.display().to_string()
        };
        if *trust == Trust::Unverified {
            let path = self.path.display();
            notices.push(Notice::Warning(format!("{path} says not to verify the API's certificate (insecure)")));
        }
        let choices = vec![
            Choice::new(USE_STORED, format!("The key in {place}, for {api}")),
            Choice::new(ASK, "Another API or key"),
        ];
        let question = Question::select("Packet API and key", choices)
            .help("Another API or key will take the place of the stored one in the file");
        Composed::Ask(question, notices)
    }

    pub(super) async fn judge_reuse(&mut self, choice: &str) -> Verdict {
        let Some(stored) = self.stored.clone().filter(|_| choice == USE_STORED) else {
            let notices = self.variable.map(|variable| {
                Notice::Warning(format!("{variable} is set and goes before the file: unset it to use another key"))
            });
            return Verdict::Accept { learned: Vec::new(), notices: notices.into_iter().collect() };
        };
        let mut learned = vec![text(key::URL, stored.api.as_str()), (key::API_KEY, Answer::Secret(stored.key.clone()))];
        match &stored.trust {
            Trust::System => {}
            Trust::Only(pem) => learned.push(text(key::CA_BUNDLE, pem)),
            Trust::Unverified => learned.push((key::INSECURE, Answer::Flag(true))),
        }
        match self.connect(&stored).await {
            Ok(notice) => Verdict::Accept { learned, notices: vec![notice] },
            Err(error) if error.class() == ErrorClass::Transient => {
                learned.push(text(key::UNREACHABLE, &error.chain()));
                Verdict::Accept { learned, notices: Vec::new() }
            }
            Err(error) => Verdict::Again(format!("the stored credentials cannot be used: {}", error.chain())),
        }
    }

    pub(super) fn compose_url(&self) -> Composed {
        let rule = Rule::new(|text| match text.trim().parse::<Url>() {
            Ok(url) if url.scheme() == "https" && url.host_str().is_some() => Ok(()),
            Ok(_) => Err("only https:// keeps the key secret".to_owned()),
            Err(_) => Err(format!("it must be a URL like {API}")),
        });
        let known = self.stored.as_ref().map_or(API, |stored| stored.api.as_str());
        let question =
            Question::text("Packet API", rule).help("The base of its paths; it is contacted now").preset_text(known);
        Composed::ask(question)
    }

    pub(super) async fn judge_url(&mut self, url: &str) -> Verdict {
        let learned = match self.probe(url, &Trust::System).await {
            Ok(()) => Vec::new(),
            Err(error) if error.is_untrusted() => vec![(key::UNTRUSTED, Answer::Flag(true))],
            Err(error) => vec![text(key::UNREACHABLE, &error.chain())],
        };
        Verdict::Accept { learned, notices: Vec::new() }
    }

    pub(super) async fn judge_ca_file(&mut self, path: &str, answers: &Answers) -> Verdict {
        let path = path.trim();
        let pem = match std::fs::read_to_string(path) {
            Ok(pem) => pem,
            Err(error) => return Verdict::Again(format!("{path} cannot be read: {error}")),
        };
        let url = answers.text(key::URL).unwrap_or_default();
        match self.probe(url, &Trust::Only(pem.clone())).await {
            Ok(()) => Verdict::Accept { learned: vec![text(key::CA_BUNDLE, &pem)], notices: Vec::new() },
            Err(error) => Verdict::Again(format!("this CA does not vouch for the API: {}", error.chain())),
        }
    }

    pub(super) fn compose_api_key(&self, answers: &Answers) -> Composed {
        let help = if is_offline(answers) {
            "It is not shown, and cannot be checked without the API".to_owned()
        } else {
            format!("It is not shown, is checked now, and goes to {} only", self.path.display())
        };
        Composed::ask(Question::secret("API key", Rule::something()).help(help))
    }

    pub(super) async fn judge_api_key(&mut self, key: &SecretString, answers: &Answers) -> Result<Verdict, Error> {
        let Some(Ok(api)) = answers.text(key::URL).map(|url| url.trim().parse::<Url>()) else {
            return Ok(Verdict::Back);
        };
        if is_offline(answers) {
            return Ok(Verdict::accept());
        }
        match self.connect(&Credentials { api, key: key.clone(), trust: trust(answers) }).await {
            Ok(notice) => Ok(Verdict::Accept { learned: Vec::new(), notices: vec![notice] }),
            Err(error) if error.class() == ErrorClass::Auth => {
                self.refusals += 1;
                if self.refusals == TRIES {
                    return Err(error);
                }
                Ok(Verdict::Again(format!("{} (try {} of {TRIES})", error.chain(), self.refusals)))
            }
            Err(error) => Ok(Verdict::Again(error.chain())),
        }
    }

    /// Whether the API can be reached: any answer of it will do.
    async fn probe(&self, url: &str, trust: &Trust) -> Result<(), Error> {
        let reason = |error: url::ParseError| error.to_string();
        let api: Url =
            url.trim().parse().map_err(|error| Error::Format { path: self.path.clone(), reason: reason(error) })?;
        let client = Client::new(api, trust, self.limits, SecretString::default())?;
        match client.account().await {
            Ok(_) => Ok(()),
            Err(error) if error.class() == ErrorClass::Auth => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Asks who it is, and keeps the client for the questions that follow.
    async fn connect(&mut self, credentials: &Credentials) -> Result<Notice, Error> {
        let Credentials { api, key, trust } = credentials.clone();
        let client = Client::new(api, &trust, self.limits, key)?;
        let text = match client.account().await? {
            Account::User(email) => format!("connected to {} as {email}", client.host()),
            Account::Project => format!("connected to {} with the key of a project", client.host()),
        };
        self.client = Some(client);
        Ok(Notice::Info(text))
    }
}

fn text(key: Key, text: &str) -> (Key, Answer) {
    (key, Answer::Text(text.to_owned()))
}
