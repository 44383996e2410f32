//! The survey of an account.
//!
//! First the connection (which API, with which key), then the project, the place and the servers, chosen from what the account
//! and the market have; then how machines boot, and how traffic gets to them. An API that cannot be reached may be left aside:
//! then ids and codes are typed.

mod boot;
mod connection;
mod network;
mod project;
mod section;
mod servers;

use std::{error::Error as StdError, path::PathBuf};

use async_trait::async_trait;
use landfall_platform::{
    Environment,
    survey::{self, Answer, Answers, Composed, Field, Key, PoolAnswers, Question, Questions, SurveyError, Verdict},
};
use landfall_wire::{Limits, Trust};
use secrecy::ExposeSecret as _;
use serde_json::Value;

use crate::{Client, Credentials, Error};

/// The platform's name as the install-config spells it.
const PLATFORM: &str = "packet";

/// Keys that are paths fill the field of the install-config that they name; the others fill none by themselves.
mod key {
    use landfall_platform::survey::Key;

    /// Whether to use the credentials that are there.
    pub(super) const REUSE: Key = "packet.reuse";
    /// The API's address.
    pub(super) const URL: Key = "packet.url";
    /// What to do about an API that cannot be reached.
    pub(super) const OFFLINE: Key = "packet.offline";
    /// A PEM file with the CA of an API that the system does not trust.
    pub(super) const CA_FILE: Key = "packet.ca-file";
    /// The API key.
    pub(super) const API_KEY: Key = "packet.api-key";

    /// Learned: why the API cannot be reached.
    pub(super) const UNREACHABLE: Key = "packet.unreachable";
    /// Learned: that the system does not trust the API's certificate.
    pub(super) const UNTRUSTED: Key = "packet.untrusted";
    /// Learned: the CA to trust, as PEM text.
    pub(super) const CA_BUNDLE: Key = "packet.ca-bundle";
    /// Learned: that the user's own file says not to verify.
    pub(super) const INSECURE: Key = "packet.insecure";

    /// Never asked: whoever gives it wants a project to be made.
    pub(super) const NEW_PROJECT: Key = "platform.packet.newProject";
    pub(super) const PROJECT: Key = "platform.packet.project";
    pub(super) const ORGANIZATION: Key = "platform.packet.newProject.organization";
    pub(super) const CONSOLE_KEYS: Key = "platform.packet.consoleSshKeys";

    pub(super) const METRO: Key = "platform.packet.metros";
    /// Metros to try when the first has no servers.
    pub(super) const FURTHER_METROS: Key = "packet.further-metros";
    /// Asked where there are no metros.
    pub(super) const FACILITY: Key = "platform.packet.facilities";
    pub(super) const MASTER_PLAN: Key = "controlPlane.platform.packet.plans";
    pub(super) const WORKER_PLAN: Key = "packet.worker-plan";
    /// Plans to try when there is no server of the first.
    pub(super) const FURTHER_MASTER_PLANS: Key = "packet.further-master-plans";
    pub(super) const FURTHER_WORKER_PLANS: Key = "packet.further-worker-plans";
    pub(super) const BOOTSTRAP_PLAN: Key = "platform.packet.bootstrap.plans";
    /// How masters and workers are paid.
    pub(super) const MASTERS_PAID: Key = "packet.masters-paid";
    pub(super) const WORKERS_PAID: Key = "packet.workers-paid";
    /// Which reserved hardware they use.
    pub(super) const MASTERS_RESERVED: Key = "controlPlane.platform.packet.hardwareReservations";
    pub(super) const WORKERS_RESERVED: Key = "packet.workers-reserved";
    /// Most that is paid for a spot instance.
    pub(super) const SPOT_PRICE: Key = "packet.spot-price";
    pub(super) const BILLING: Key = "platform.packet.billingCycle";

    pub(super) const OS: Key = "platform.packet.os";
    pub(super) const KERNEL: Key = "platform.packet.os.ipxe.kernel";
    pub(super) const INITRAMFS: Key = "platform.packet.os.ipxe.initramfs";
    pub(super) const ROOTFS: Key = "platform.packet.os.ipxe.rootfs";
    pub(super) const DISK: Key = "platform.packet.os.ipxe.installDisk";
    pub(super) const ASSET_HOST: Key = "platform.packet.assetHost";
    pub(super) const ASSET_PUBLIC: Key = "platform.packet.assetHost.landfall.public";
    pub(super) const ASSET_URL: Key = "platform.packet.assetHost.url";
    pub(super) const BUCKET: Key = "platform.packet.assetHost.bucket.name";
    pub(super) const BUCKET_ENDPOINT: Key = "platform.packet.assetHost.bucket.endpoint";
    pub(super) const BUCKET_REGION: Key = "platform.packet.assetHost.bucket.region";

    pub(super) const ENDPOINT: Key = "platform.packet.endpoint";
    /// Given by those who have addresses already.
    pub(super) const API_ADDRESS: Key = "platform.packet.apiAddress";
    pub(super) const INGRESS_ADDRESS: Key = "platform.packet.ingressAddress";
    pub(super) const IPV6: Key = "platform.packet.ipv6";
    /// Whether workers have public IPv4 addresses.
    pub(super) const WORKERS_PUBLIC: Key = "packet.workers-public";
    pub(super) const NETWORK: Key = "platform.packet.virtualNetworks";
    pub(super) const TAGS: Key = "platform.packet.tags";
}

/// All questions, in order.
const QUESTIONS: [Key; 41] = [
    key::REUSE,
    key::URL,
    key::OFFLINE,
    key::CA_FILE,
    key::API_KEY,
    key::NEW_PROJECT,
    key::PROJECT,
    key::ORGANIZATION,
    key::METRO,
    key::FURTHER_METROS,
    key::FACILITY,
    key::MASTER_PLAN,
    key::FURTHER_MASTER_PLANS,
    key::WORKER_PLAN,
    key::FURTHER_WORKER_PLANS,
    key::BOOTSTRAP_PLAN,
    key::MASTERS_PAID,
    key::MASTERS_RESERVED,
    key::WORKERS_PAID,
    key::WORKERS_RESERVED,
    key::SPOT_PRICE,
    key::BILLING,
    key::OS,
    key::KERNEL,
    key::INITRAMFS,
    key::ROOTFS,
    key::DISK,
    key::ASSET_HOST,
    key::ASSET_PUBLIC,
    key::ASSET_URL,
    key::BUCKET,
    key::BUCKET_ENDPOINT,
    key::BUCKET_REGION,
    key::ENDPOINT,
    key::API_ADDRESS,
    key::INGRESS_ADDRESS,
    key::IPV6,
    key::WORKERS_PUBLIC,
    key::NETWORK,
    key::CONSOLE_KEYS,
    key::TAGS,
];

/// The survey of an account.
#[derive(Debug)]
pub struct Survey {
    path: PathBuf,
    /// The variable of the environment that holds the key, if one does.
    variable: Option<&'static str>,
    stored: Option<Credentials>,
    limits: Limits,
    client: Option<Client>,
    /// How often a key was refused.
    refusals: u32,
}

impl Survey {
    /// A survey for the user of this environment. Reads the credentials, so that a file that cannot be understood is reported
    /// before anything is asked.
    pub fn new(environment: &Environment, limits: Limits) -> Result<Self, Error> {
        let path = Credentials::path(environment)?;
        let stored = Credentials::read_if_there(environment)?;
        Ok(Self { path, variable: Credentials::variable(environment), stored, limits, client: None, refusals: 0 })
    }

    fn credentials(answers: &Answers) -> Option<Credentials> {
        Some(Credentials {
            api: answers.text(key::URL)?.trim().parse().ok()?,
            key: answers.secret(key::API_KEY)?.clone(),
            trust: trust(answers),
        })
    }

    /// The client, unless the user chose to go on without the API.
    fn client(&self, answers: &Answers) -> Option<&Client> {
        self.client.as_ref().filter(|_| !is_offline(answers))
    }
}

/// Why a question cannot be composed from what the account has.
enum Stop {
    Api(Box<Error>),
    Impossible(String),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Api(Box::new(error))
    }
}

/// The question, or the one that can be answered without the API.
fn or_by_hand(composed: Result<Composed, Stop>, by_hand: Question) -> Composed {
    match composed {
        Ok(composed) => composed,
        Err(Stop::Api(error)) => Composed::Unavailable { reason: error.chain(), by_hand },
        Err(Stop::Impossible(reason)) => Composed::Impossible(reason),
    }
}

/// A question for a field of the install-config that is typed.
fn typed(message: &str, field: Field, help: &str) -> Question {
    Question::text(message, field.rule(&Value::Null)).help(help)
}

#[async_trait]
impl Questions for Survey {
    fn keys(&self, _answers: &Answers) -> Vec<Key> {
        QUESTIONS.to_vec()
    }

    fn applies(&self, key: Key, answers: &Answers) -> bool {
        match key {
            key::REUSE => self.stored.is_some(),
            key::OFFLINE => answers.has(key::UNREACHABLE),
            key::CA_FILE => answers.has(key::UNTRUSTED),
            // Only taken from those who give them.
            key::NEW_PROJECT | key::API_ADDRESS | key::INGRESS_ADDRESS => false,
            key::PROJECT => !answers.has(key::NEW_PROJECT),
            key::ORGANIZATION => answers.text(key::PROJECT) == Some(project::NEW),
            key::METRO => !answers.has(key::FACILITY),
            key::FURTHER_METROS => servers::has_metro(answers) && !answers.is_given(key::METRO),
            key::FACILITY => answers.text(key::METRO) == Some(""),
            key::FURTHER_MASTER_PLANS => !answers.is_given(key::MASTER_PLAN),
            key::MASTERS_PAID => !answers.has(key::MASTERS_RESERVED),
            key::MASTERS_RESERVED => answers.text(key::MASTERS_PAID) == Some(servers::RESERVED),
            key::WORKERS_RESERVED => answers.text(key::WORKERS_PAID) == Some(servers::RESERVED),
            key::SPOT_PRICE => answers.text(key::WORKERS_PAID) == Some(servers::SPOT),
            key::CONSOLE_KEYS => !project::makes_one(answers),
            _ => boot::applies(key, answers),
        }
    }

    async fn compose(&mut self, key: Key, answers: &Answers) -> Result<Composed, SurveyError> {
        Ok(match key {
            key::REUSE => self.compose_reuse(),
            key::URL => self.compose_url(),
            key::OFFLINE => connection::compose_offline(answers),
            key::CA_FILE => connection::compose_ca_file(),
            key::API_KEY => self.compose_api_key(answers),
            key::PROJECT | key::ORGANIZATION | key::CONSOLE_KEYS => self.compose_project(key, answers).await,
            key::ENDPOINT | key::IPV6 | key::WORKERS_PUBLIC | key::NETWORK | key::TAGS => {
                self.compose_network(key, answers).await
            }
            key::METRO
            | key::FURTHER_METROS
            | key::FACILITY
            | key::MASTER_PLAN
            | key::FURTHER_MASTER_PLANS
            | key::WORKER_PLAN
            | key::FURTHER_WORKER_PLANS
            | key::BOOTSTRAP_PLAN
            | key::MASTERS_PAID
            | key::MASTERS_RESERVED
            | key::WORKERS_PAID
            | key::WORKERS_RESERVED
            | key::SPOT_PRICE
            | key::BILLING => self.compose_servers(key, answers).await,
            _ => self.compose_boot(key, answers).await,
        })
    }

    async fn judge(&mut self, key: Key, answer: &Answer, answers: &Answers) -> Result<Verdict, SurveyError> {
        match (key, answer) {
            (key::REUSE, Answer::Text(choice)) => Ok(self.judge_reuse(choice).await),
            (key::URL, Answer::Text(url)) => Ok(self.judge_url(url).await),
            (key::OFFLINE, Answer::Text(choice)) => Ok(connection::judge_offline(choice)),
            (key::CA_FILE, Answer::Text(path)) => Ok(self.judge_ca_file(path, answers).await),
            (key::API_KEY, Answer::Secret(key)) => self.judge_api_key(key, answers).await.map_err(fatal),
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
        false
    }

    async fn machine_network(&mut self, answers: &Answers) -> Option<String> {
        self.private_network(answers).await
    }

    fn section(&self, answers: &Answers) -> Value {
        section::section(answers)
    }

    fn pools(&self, answers: &Answers) -> PoolAnswers {
        section::pools(answers)
    }

    fn needs_dns(&self, answers: &Answers) -> bool {
        let known = answers.has(key::API_ADDRESS) && answers.has(key::INGRESS_ADDRESS);
        !known || answers.text(key::ENDPOINT) == Some(network::ROUND_ROBIN)
    }

    fn store_credentials(&mut self, answers: &Answers) -> Result<Option<PathBuf>, Box<dyn StdError + Send + Sync>> {
        let Some(credentials) = Self::credentials(answers) else { return Ok(None) };
        if self.stored.as_ref().is_some_and(|stored| same(stored, &credentials)) {
            return Ok(None);
        }
        credentials.write(&self.path)?;
        Ok(Some(self.path.clone()))
    }
}

fn same(a: &Credentials, b: &Credentials) -> bool {
    (&a.api, &a.trust) == (&b.api, &b.trust) && a.key.expose_secret() == b.key.expose_secret()
}

/// Whom the answers so far say to trust.
fn trust(answers: &Answers) -> Trust {
    match answers.text(key::CA_BUNDLE) {
        Some(pem) => Trust::Only(pem.to_owned()),
        None if answers.flag(key::INSECURE) => Trust::Unverified,
        None => Trust::System,
    }
}

/// Whether the user chose to go on without the API.
fn is_offline(answers: &Answers) -> bool {
    answers.has(key::OFFLINE)
}

fn fatal(error: Error) -> SurveyError {
    SurveyError::Platform { platform: PLATFORM, source: Box::new(error) }
}
