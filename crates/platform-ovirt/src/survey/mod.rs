//! The survey of an oVirt engine.
//!
//! First the connection (which engine, whom to trust, as whom), then the place of the machines, chosen from what the engine
//! has. An engine that cannot be reached may be left aside: then ids and names are typed.

mod connection;
mod placement;

use std::{error::Error as StdError, path::PathBuf};

use async_trait::async_trait;
use landfall_platform::{
    Environment,
    survey::{self, Answer, Answers, Composed, Key, Questions, SurveyError, Verdict},
};
use landfall_wire::{Limits, Trust};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::{Certificate, Client, Credentials, CredentialsFile, EngineUrl, Error};

/// The platform's name as the install-config spells it.
const PLATFORM: &str = "ovirt";

/// Questions about the connection. They fill no field of the install-config.
mod key {
    use landfall_platform::survey::Key;

    /// Whether to use the credentials file as it is.
    pub(super) const REUSE: Key = "ovirt.reuse";
    /// The engine's address.
    pub(super) const URL: Key = "ovirt.url";
    /// What to do about an engine that cannot be reached.
    pub(super) const OFFLINE: Key = "ovirt.offline";
    /// Whether to trust the CA that the engine hands out.
    pub(super) const CA: Key = "ovirt.ca";
    /// A PEM file with the CA.
    pub(super) const CA_FILE: Key = "ovirt.ca-file";
    /// The user.
    pub(super) const USER: Key = "ovirt.user";
    /// The password.
    pub(super) const PASSWORD: Key = "ovirt.password";

    /// Learned: why the engine cannot be reached.
    pub(super) const UNREACHABLE: Key = "ovirt.unreachable";
    /// Learned: that the system does not trust the engine's certificate.
    pub(super) const UNTRUSTED: Key = "ovirt.untrusted";
    /// Learned: the CA to trust, as PEM text.
    pub(super) const CA_BUNDLE: Key = "ovirt.ca-bundle";
    /// Learned: that the user's own file says not to verify.
    pub(super) const INSECURE: Key = "ovirt.insecure";

    pub(super) const CLUSTER: Key = "platform.ovirt.ovirt_cluster_id";
    pub(super) const STORAGE_DOMAIN: Key = "platform.ovirt.ovirt_storage_domain_id";
    pub(super) const NETWORK: Key = "platform.ovirt.ovirt_network_name";
    pub(super) const VNIC_PROFILE: Key = "platform.ovirt.vnicProfileID";
    /// Which kind of source the machines' disks have.
    pub(super) const IMAGE: Key = "platform.ovirt.image";
    pub(super) const TEMPLATE: Key = "platform.ovirt.image.template";
    pub(super) const DISK: Key = "platform.ovirt.image.disk";
}

/// All questions, in order.
const QUESTIONS: [Key; 14] = [
    key::REUSE,
    key::URL,
    key::OFFLINE,
    key::CA,
    key::CA_FILE,
    key::USER,
    key::PASSWORD,
    key::CLUSTER,
    key::STORAGE_DOMAIN,
    key::NETWORK,
    key::VNIC_PROFILE,
    key::IMAGE,
    key::TEMPLATE,
    key::DISK,
];

/// The survey of an oVirt engine.
#[derive(Debug)]
pub struct Survey {
    file: CredentialsFile,
    stored: Option<Credentials>,
    limits: Limits,
    client: Option<Client>,
    /// The CA certificates that the engine presented and the user was shown.
    presented: Vec<Certificate>,
    /// Who was refused, and how often.
    refusals: (String, u32),
}

impl Survey {
    /// A survey for the user of this environment. Reads the credentials file, so that one that cannot be understood is
    /// reported before anything is asked.
    pub fn new(environment: &Environment, limits: Limits) -> Result<Self, Error> {
        let file = CredentialsFile::locate(environment)?;
        let stored = file.read_if_complete()?;
        Ok(Self { file, stored, limits, client: None, presented: Vec::new(), refusals: Default::default() })
    }

    fn credentials(answers: &Answers) -> Option<Credentials> {
        Some(Credentials {
            engine: engine(answers)?,
            user: answers.text(key::USER)?.trim().to_owned(),
            password: answers.secret(key::PASSWORD)?.clone(),
            trust: trust(answers),
        })
    }
}

#[async_trait]
impl Questions for Survey {
    fn keys(&self, _answers: &Answers) -> Vec<Key> {
        QUESTIONS.to_vec()
    }

    fn applies(&self, key: Key, answers: &Answers) -> bool {
        let image = answers.text(key::IMAGE).filter(|_| !answers.is_given(key::IMAGE));
        match key {
            key::REUSE => self.stored.is_some(),
            key::OFFLINE => answers.has(key::UNREACHABLE),
            key::CA => answers.has(key::UNTRUSTED),
            key::CA_FILE => connection::asks_for_ca_file(answers),
            key::TEMPLATE => image == Some(placement::TEMPLATE),
            key::DISK => image == Some(placement::DISK),
            _ => true,
        }
    }

    async fn compose(&mut self, key: Key, answers: &Answers) -> Result<Composed, SurveyError> {
        Ok(match key {
            key::REUSE => self.compose_reuse(),
            key::URL => self.compose_url(),
            key::OFFLINE => connection::compose_offline(answers),
            key::CA => self.compose_ca(answers).await,
            key::CA_FILE => connection::compose_ca_file(answers),
            key::USER => self.compose_user(),
            key::PASSWORD => connection::compose_password(answers),
            _ => self.compose_placement(key, answers).await,
        })
    }

    async fn judge(&mut self, key: Key, answer: &Answer, answers: &Answers) -> Result<Verdict, SurveyError> {
        match (key, answer) {
            (key::REUSE, Answer::Text(choice)) => Ok(self.judge_reuse(choice).await),
            (key::URL, Answer::Text(url)) => self.judge_url(url).await.map_err(fatal),
            (key::OFFLINE, Answer::Text(choice)) => Ok(connection::judge_offline(choice)),
            (key::CA, Answer::Text(choice)) => Ok(self.judge_ca(choice, answers).await),
            (key::CA_FILE, Answer::Text(path)) => Ok(self.judge_ca_file(path, answers).await),
            (key::PASSWORD, Answer::Secret(password)) => self.judge_password(password, answers).await.map_err(fatal),
            _ => Ok(Verdict::accept()),
        }
    }
}

#[async_trait]
impl survey::Survey for Survey {
    fn platform(&self) -> &'static str {
        PLATFORM
    }

    fn has_vips(&self) -> bool {
        true
    }

    async fn machine_network(&mut self, answers: &Answers) -> Option<String> {
        self.guess_machine_network(answers).await.ok().flatten()
    }

    fn section(&self, answers: &Answers) -> Value {
        let mut section = json!({});
        for (key, field) in [
            (key::CLUSTER, "ovirt_cluster_id"),
            (key::STORAGE_DOMAIN, "ovirt_storage_domain_id"),
            (key::NETWORK, "ovirt_network_name"),
            (key::VNIC_PROFILE, "vnicProfileID"),
        ] {
            let asked = answers.text(key).filter(|_| !answers.is_given(key)).map(str::trim);
            if let Some(text) = asked.filter(|text| !text.is_empty()) {
                section[field] = json!(text);
            }
        }
        for (key, kind) in [(key::TEMPLATE, "template"), (key::DISK, "disk")] {
            if let Some(text) = answers.text(key) {
                section["image"] = json!({ kind: text.trim() });
            }
        }
        section
    }

    fn store_credentials(&mut self, answers: &Answers) -> Result<Option<PathBuf>, Box<dyn StdError + Send + Sync>> {
        let Some(credentials) = Self::credentials(answers) else { return Ok(None) };
        let unchanged = self.stored.as_ref().is_some_and(|stored| same(stored, &credentials));
        if unchanged {
            return Ok(None);
        }
        self.file.write(&credentials)?;
        Ok(Some(self.file.path().to_owned()))
    }
}

fn same(a: &Credentials, b: &Credentials) -> bool {
    (&a.engine, &a.user, &a.trust) == (&b.engine, &b.user, &b.trust)
        && a.password.expose_secret() == b.password.expose_secret()
}

/// The engine that was named.
fn engine(answers: &Answers) -> Option<EngineUrl> {
    answers.text(key::URL)?.parse().ok()
}

/// Whom the answers so far say to trust.
fn trust(answers: &Answers) -> Trust {
    match answers.text(key::CA_BUNDLE) {
        Some(pem) => Trust::Only(pem.to_owned()),
        None if answers.flag(key::INSECURE) => Trust::Unverified,
        None => Trust::System,
    }
}

/// Whether the user chose to go on without the engine.
fn is_offline(answers: &Answers) -> bool {
    answers.has(key::OFFLINE)
}

fn fatal(error: Error) -> SurveyError {
    SurveyError::Platform { platform: PLATFORM, source: Box::new(error) }
}
