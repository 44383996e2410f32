//! Which engine, whom to trust, and as whom.

use landfall_platform::{
    ErrorClass,
    survey::{Answer, Answers, Choice, Composed, Key, Notice, Question, Rule, Verdict},
};
use landfall_wire::Trust;
use secrecy::SecretString;

use super::{Survey, engine, is_offline, key, trust};
use crate::{Certificate, Client, Credentials, EngineUrl, Error, fetch_authority, probe};

const USE_STORED: &str = "stored";
const ASK: &str = "ask";
const BACK: &str = "back";
const CONTINUE: &str = "continue";
const TRUST: &str = "trust";
const FILE: &str = "file";

const DEFAULT_USER: &str = "admin@internal";
/// More could lock the account.
const TRIES: u32 = 3;

/// Whether a file with the CA is asked for: the user has one, or nothing could be fetched.
pub(super) fn asks_for_ca_file(answers: &Answers) -> bool {
    answers.text(key::CA) == Some(FILE) || is_offline(answers) && answers.text(key::REUSE) != Some(USE_STORED)
}

pub(super) fn compose_offline(answers: &Answers) -> Composed {
    let reason = answers.text(key::UNREACHABLE).unwrap_or_default().to_owned();
    let choices = vec![
        Choice::new(BACK, "Go back, to change the address or try again"),
        Choice::new(CONTINUE, "Continue without the engine and type ids and names"),
    ];
    let question = Question::select("The engine cannot be reached. What now?", choices)
        .help("Without the engine nothing you type about it can be checked until the installation begins.");
    Composed::Ask(question, vec![Notice::Warning(reason)])
}

pub(super) fn judge_offline(choice: &str) -> Verdict {
    if choice == CONTINUE { Verdict::accept() } else { Verdict::Back }
}

pub(super) fn compose_ca_file(answers: &Answers) -> Composed {
    let question = if is_offline(answers) {
        Question::text("File with the engine's CA certificate", Rule::anything())
            .help("A PEM file. Leave it empty if this system trusts the engine's certificate anyway.")
    } else {
        Question::text("File with the engine's CA certificate", Rule::something())
            .help("A PEM file with the CA that issued the certificate of the engine's web server.")
    };
    Composed::ask(question)
}

pub(super) fn compose_password(answers: &Answers) -> Composed {
    let message = format!("Password of {}", answers.text(key::USER).unwrap_or_default());
    let help = if is_offline(answers) {
        "It is not shown. Without the engine it cannot be checked now."
    } else {
        "It is not shown, is checked with the engine now, and is stored in the credentials file only."
    };
    Composed::ask(Question::secret(message, Rule::something()).help(help))
}

impl Survey {
    pub(super) fn compose_reuse(&self) -> Composed {
        let Some(Credentials { engine, user, trust, .. }) = &self.stored else { return Composed::known(ASK) };
        let mut notices: Vec<Notice> = self.file.exposure().map(Notice::Warning).into_iter().collect();
        if *trust == Trust::Unverified {
            let path = self.file.path().display();
            notices
                .push(Notice::Warning(format!("{path} says not to verify the engine's certificate (ovirt_insecure)")));
        }
        let choices = vec![
            Choice::new(USE_STORED, format!("{user} at {engine}, from {}", self.file.path().display())),
            Choice::new(ASK, "Another engine or user"),
        ];
        let question = Question::select("oVirt engine and user", choices)
            .help("Another engine or user will take the place of the stored one in the file.");
        Composed::Ask(question, notices)
    }

    pub(super) async fn judge_reuse(&mut self, choice: &str) -> Verdict {
        let Some(stored) = self.stored.clone().filter(|_| choice == USE_STORED) else { return Verdict::accept() };
        let mut learned = vec![
            text(key::URL, stored.engine.api().as_str()),
            text(key::USER, &stored.user),
            (key::PASSWORD, Answer::Secret(stored.password.clone())),
        ];
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
        let rule = Rule::new(|text| text.parse::<EngineUrl>().map(drop).map_err(|error| error.to_string()));
        let question = Question::text("oVirt engine", rule)
            .help("The engine's host name, with :port if it is not 443, or any URL of it. It is contacted now.");
        Composed::ask(match &self.stored {
            Some(stored) => question.preset_text(stored.engine.host()),
            None => question,
        })
    }

    pub(super) fn compose_user(&self) -> Composed {
        let rule = Rule::new(|text| match text.trim().rsplit_once('@') {
            Some((name, profile)) if !name.is_empty() && !profile.is_empty() => Ok(()),
            _ => Err("a user name has a profile, as in admin@internal".to_owned()),
        });
        let known = self.stored.as_ref().map_or(DEFAULT_USER, |stored| &stored.user);
        let question = Question::text("Engine user", rule)
            .help("User name with its profile. With Keycloak the administrator is admin@ovirt@internalsso.");
        Composed::ask(question.preset_text(known))
    }

    pub(super) async fn judge_url(&mut self, url: &str) -> Result<Verdict, Error> {
        let engine: EngineUrl = url.parse()?;
        let learned = match probe(&engine, &Trust::System, self.limits).await {
            Ok(()) => Vec::new(),
            Err(error) if error.is_untrusted() => vec![(key::UNTRUSTED, Answer::Flag(true))],
            Err(error) => vec![text(key::UNREACHABLE, &error.chain())],
        };
        Ok(Verdict::Accept { learned, notices: Vec::new() })
    }

    pub(super) async fn compose_ca(&mut self, answers: &Answers) -> Composed {
        let Some(engine) = engine(answers) else { return Composed::Impossible("no engine is named".to_owned()) };
        let own = Choice::new(FILE, "No, I have a file with the right CA certificate");
        let (choices, notice) = match fetch_authority(&engine, self.limits).await {
            Ok(certificates) => {
                let shown: Vec<String> = certificates.iter().map(ToString::to_string).collect();
                let shown = format!("the engine at {engine} presents this CA certificate:\n{}", shown.join("\n"));
                self.presented = certificates;
                (vec![own, Choice::new(TRUST, "Yes, the fingerprint is right")], Notice::Info(shown))
            }
            Err(error) => (vec![own], Notice::Warning(error.chain())),
        };
        let question = Question::select("Trust this CA?", choices).help(
            "Nothing vouches for it yet: compare the fingerprint with the one on the engine \
             (openssl x509 -noout -sha256 -fingerprint -in /etc/pki/ovirt-engine/ca.pem).",
        );
        Composed::Ask(question, vec![notice])
    }

    pub(super) async fn judge_ca(&mut self, choice: &str, answers: &Answers) -> Verdict {
        match engine(answers).filter(|_| choice == TRUST) {
            // What was shown is what is trusted: it is not fetched a second time.
            Some(engine) => self.judge_authority(&engine, &self.presented).await,
            None => Verdict::accept(),
        }
    }

    pub(super) async fn judge_ca_file(&mut self, path: &str, answers: &Answers) -> Verdict {
        let path = path.trim();
        if path.is_empty() {
            return Verdict::accept();
        }
        let pem = match std::fs::read_to_string(path) {
            Ok(pem) => pem,
            Err(error) => return Verdict::Again(format!("{path} cannot be read: {error}")),
        };
        let certificates = match Certificate::read_all(&pem, path) {
            Ok(certificates) => certificates,
            Err(error) => return Verdict::Again(error.chain()),
        };
        match engine(answers).filter(|_| !is_offline(answers)) {
            Some(engine) => self.judge_authority(&engine, &certificates).await,
            None => trusting(&certificates),
        }
    }

    /// Whether the CA really issued the engine's certificate; a CA that did not would fail at the first real call.
    async fn judge_authority(&self, engine: &EngineUrl, certificates: &[Certificate]) -> Verdict {
        match probe(engine, &Trust::Only(Certificate::bundle(certificates)), self.limits).await {
            Ok(()) => trusting(certificates),
            Err(error) if error.is_untrusted() => Verdict::Again(format!(
                "this CA did not issue the certificate of the engine's web server, which has one of its own: {}",
                error.chain()
            )),
            Err(error) => Verdict::Again(error.chain()),
        }
    }

    pub(super) async fn judge_password(
        &mut self,
        password: &SecretString,
        answers: &Answers,
    ) -> Result<Verdict, Error> {
        let (Some(engine), Some(user)) = (engine(answers), answers.text(key::USER)) else { return Ok(Verdict::Back) };
        if is_offline(answers) {
            return Ok(Verdict::accept());
        }
        let user = user.trim().to_owned();
        let credentials = Credentials { engine, user, password: password.clone(), trust: trust(answers) };
        match self.connect(&credentials).await {
            Ok(notice) => Ok(Verdict::Accept { learned: Vec::new(), notices: vec![notice] }),
            Err(error @ Error::Login { .. }) => {
                let account = format!("{} at {}", credentials.user, credentials.engine);
                let tries = if self.refusals.0 == account { self.refusals.1 + 1 } else { 1 };
                self.refusals = (account, tries);
                if tries == TRIES {
                    return Err(error);
                }
                Ok(Verdict::Again(format!("{} (try {tries} of {TRIES})", error.chain())))
            }
            Err(error) => Ok(Verdict::Again(error.chain())),
        }
    }

    /// Logs in and keeps the session for the questions that follow.
    async fn connect(&mut self, credentials: &Credentials) -> Result<Notice, Error> {
        let Credentials { engine, user, password, trust } = credentials.clone();
        let client = Client::new(engine, &trust, self.limits, user, password)?;
        let product = client.product().await?;
        self.client = Some(client);
        Ok(Notice::Info(format!("connected to {product} at {} as {}", credentials.engine, credentials.user)))
    }
}

fn trusting(certificates: &[Certificate]) -> Verdict {
    Verdict::Accept { learned: vec![text(key::CA_BUNDLE, &Certificate::bundle(certificates))], notices: Vec::new() }
}

fn text(key: Key, text: &str) -> (Key, Answer) {
    (key, Answer::Text(text.to_owned()))
}
