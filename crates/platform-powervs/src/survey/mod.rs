//! The survey of an account at IBM Cloud.
//!
//! First the API key, then the place of the machines and what is there already, chosen from what the account has; then the image and
//! the machines. Services that cannot be reached may be left aside: then names and ids are typed.

mod connection;
mod image;
mod machines;
mod place;
mod section;

use std::{error::Error as StdError, path::PathBuf};

use async_trait::async_trait;
use landfall_config::powervs::ServiceEndpoints;
use landfall_platform::{
    Environment, error_chain,
    survey::{self, Answer, Answers, Choice, Composed, Key, PoolAnswers, Question, Questions, SurveyError, Verdict},
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::{Client, Credentials, Error, Whereabouts};

/// The platform's name as the install-config spells it.
const PLATFORM: &str = "powervs";
/// What stands for something that is made for the cluster.
const NEW: &str = "new";
/// The network that the DHCP server is proposed to serve.
const NETWORK: &str = "192.168.124.0/24";

/// Keys that are paths fill the field of the install-config that they name.
mod key {
    use landfall_platform::survey::Key;

    /// The API key. It fills no field of the install-config.
    pub(super) const API_KEY: Key = "powervs.apikey";
    /// Never asked: only taken from those who give them.
    pub(super) const ENDPOINTS: Key = "platform.powervs.serviceEndpoints";
    pub(super) const ZONE: Key = "platform.powervs.zone";
    pub(super) const GROUP: Key = "platform.powervs.powervsResourceGroup";
    pub(super) const WORKSPACE: Key = "platform.powervs.serviceInstanceGUID";
    pub(super) const VPC: Key = "platform.powervs.vpcName";
    pub(super) const SUBNETS: Key = "platform.powervs.vpcSubnets";
    pub(super) const PUBLISH: Key = "platform.powervs.publish";
    pub(super) const GATEWAY: Key = "platform.powervs.tgName";
    /// Which kind of image.
    pub(super) const IMAGE: Key = "platform.powervs.image";
    pub(super) const REGIONAL: Key = "platform.powervs.image.regional";
    pub(super) const BUCKET: Key = "platform.powervs.image.object.bucket";
    pub(super) const OBJECT: Key = "platform.powervs.image.object.object";
    pub(super) const BUCKET_REGION: Key = "platform.powervs.image.object.region";
    pub(super) const ACCESS: Key = "platform.powervs.image.object.access";
    pub(super) const MASTERS: Key = "controlPlane.replicas";
    pub(super) const WORKERS: Key = "compute.0.replicas";
    pub(super) const SYSTEM: Key = "platform.powervs.defaultMachinePlatform.sysType";
    pub(super) const PROCESSOR_TYPE: Key = "platform.powervs.defaultMachinePlatform.procType";
    pub(super) const PROCESSORS: Key = "platform.powervs.defaultMachinePlatform.processors";
    pub(super) const MEMORY: Key = "platform.powervs.defaultMachinePlatform.memoryGiB";
    pub(super) const STORAGE: Key = "platform.powervs.defaultMachinePlatform.storageType";
    pub(super) const THREADS: Key = "platform.powervs.defaultMachinePlatform.smtLevel";
    /// Whether workers are like masters.
    pub(super) const LIKENESS: Key = "powervs.workers";
    pub(super) const WORKER_SYSTEM: Key = "compute.0.platform.powervs.sysType";
    pub(super) const WORKER_PROCESSOR_TYPE: Key = "compute.0.platform.powervs.procType";
    pub(super) const WORKER_PROCESSORS: Key = "compute.0.platform.powervs.processors";
    pub(super) const WORKER_MEMORY: Key = "compute.0.platform.powervs.memoryGiB";
    pub(super) const WORKER_STORAGE: Key = "compute.0.platform.powervs.storageType";
    pub(super) const WORKER_THREADS: Key = "compute.0.platform.powervs.smtLevel";
}

/// All questions, in order.
const QUESTIONS: [Key; 30] = [
    key::API_KEY,
    key::ENDPOINTS,
    key::ZONE,
    key::GROUP,
    key::WORKSPACE,
    key::VPC,
    key::SUBNETS,
    key::PUBLISH,
    key::GATEWAY,
    key::IMAGE,
    key::REGIONAL,
    key::BUCKET,
    key::OBJECT,
    key::BUCKET_REGION,
    key::ACCESS,
    key::MASTERS,
    key::WORKERS,
    key::SYSTEM,
    key::PROCESSOR_TYPE,
    key::PROCESSORS,
    key::MEMORY,
    key::STORAGE,
    key::THREADS,
    key::LIKENESS,
    key::WORKER_SYSTEM,
    key::WORKER_PROCESSOR_TYPE,
    key::WORKER_PROCESSORS,
    key::WORKER_MEMORY,
    key::WORKER_STORAGE,
    key::WORKER_THREADS,
];

/// The survey of an account.
pub struct Survey {
    environment: Environment,
    path: PathBuf,
    stored: Option<Credentials>,
    /// How often a key was refused.
    refusals: u32,
}

impl Survey {
    /// A survey for the user of this environment. Reads the credentials, so that a file that cannot be understood is reported before
    /// anything is asked.
    pub fn new(environment: &Environment) -> Result<Self, Error> {
        let stored = match Credentials::read(environment) {
            Ok(credentials) => Some(credentials),
            Err(landfall_wire::ibm_cloud::Error::NoKey { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let path = Credentials::path(environment)?;
        Ok(Self { environment: environment.clone(), path, stored, refusals: 0 })
    }

    /// What environment and file say besides the key, which may be missing.
    fn proposed(&self) -> Option<Credentials> {
        self.stored.clone().or_else(|| Credentials::read_with_key(&self.environment, SecretString::default()).ok())
    }

    /// A client for the zone that was chosen, with the key that is known.
    fn client(&self, answers: &Answers) -> Result<Client, Error> {
        let key = answers.secret(key::API_KEY).cloned().unwrap_or_default();
        let whereabouts = Whereabouts {
            zone: answers.text(key::ZONE).unwrap_or_default().to_owned(),
            endpoints: endpoints(answers),
            ..Whereabouts::default()
        };
        whereabouts.client(&Credentials::read_with_key(&self.environment, key)?)
    }
}

/// Where services are, if the install-config says so.
fn endpoints(answers: &Answers) -> ServiceEndpoints {
    answers.text(key::ENDPOINTS).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// A choice from what the account has; what is typed if the account cannot be asked.
fn or_by_hand(choices: Result<Vec<Choice>, Error>, message: &str, help: &str, by_hand: Question) -> Composed {
    match choices {
        Ok(choices) => match choices.as_slice() {
            [] => Composed::Impossible(format!("the account offers none: {message}")),
            [only] => Composed::known(&only.value),
            _ => Composed::ask(Question::select(message, choices).help(help)),
        },
        Err(error) => Composed::Unavailable { reason: error_chain(&error), by_hand },
    }
}

#[async_trait]
impl Questions for Survey {
    fn keys(&self, _: &Answers) -> Vec<Key> {
        QUESTIONS.to_vec()
    }

    fn applies(&self, key: Key, answers: &Answers) -> bool {
        match key {
            key::ENDPOINTS => false,
            key::SUBNETS | key::PUBLISH => place::has_vpc(answers),
            key::REGIONAL | key::BUCKET | key::OBJECT | key::BUCKET_REGION | key::ACCESS => {
                image::applies(key, answers)
            }
            key => machines::applies(key, answers),
        }
    }

    async fn compose(&mut self, key: Key, answers: &Answers) -> Result<Composed, SurveyError> {
        Ok(match key {
            key::API_KEY => self.compose_api_key(answers).await,
            key::IMAGE | key::REGIONAL | key::BUCKET | key::OBJECT | key::BUCKET_REGION | key::ACCESS => {
                self.compose_image(key, answers).await
            }
            key::ZONE | key::GROUP | key::WORKSPACE | key::VPC | key::SUBNETS | key::PUBLISH | key::GATEWAY => {
                self.compose_place(key, answers).await
            }
            _ => self.compose_machines(key, answers).await,
        })
    }

    async fn judge(&mut self, key: Key, answer: &Answer, answers: &Answers) -> Result<Verdict, SurveyError> {
        match (key, answer) {
            (key::API_KEY, Answer::Secret(secret)) => self.judge_api_key(secret, answers).await.map_err(fatal),
            (key::SUBNETS, Answer::Text(text)) => Ok(self.judge_subnets(text, answers).await),
            (key::ACCESS, Answer::Text(access)) => Ok(self.judge_access(access)),
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

    async fn machine_network(&mut self, _: &Answers) -> Option<String> {
        Some(NETWORK.to_owned())
    }

    fn section(&self, answers: &Answers) -> Value {
        section::section(answers)
    }

    fn pools(&self, answers: &Answers) -> PoolAnswers {
        section::pools(answers)
    }

    /// The names of load balancers become known during an installation.
    fn needs_dns(&self, _: &Answers) -> bool {
        true
    }

    async fn dns_backends(&mut self, answers: &Answers) -> Vec<Choice> {
        self.own_zones(answers).await
    }

    fn store_credentials(&mut self, answers: &Answers) -> Result<Option<PathBuf>, Box<dyn StdError + Send + Sync>> {
        let Some(key) = answers.secret(key::API_KEY) else { return Ok(None) };
        if self.stored.as_ref().is_some_and(|stored| stored.api_key.expose_secret() == key.expose_secret()) {
            return Ok(None);
        }
        landfall_wire::ibm_cloud::store_key(&self.path, key)?;
        Ok(Some(self.path.clone()))
    }
}

fn fatal(error: Error) -> SurveyError {
    SurveyError::Platform { platform: PLATFORM, source: Box::new(error) }
}
