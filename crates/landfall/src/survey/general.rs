//! The questions that every cluster has, around those of its platform.

use async_trait::async_trait;
use landfall_config::{DEFAULT_KUBERNETES_VERSION, Distribution, parse_tree, tree};
use landfall_platform::{
    Environment,
    survey::{
        Answer, Answers, Choice, Composed, Field, Key, Notice, PoolAnswers, Prompter, Question, Questions, Rule,
        Survey, SurveyError, Verdict,
    },
};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::{dns, given, platforms, ssh_keys, summary};

const SSH_KEY: Key = "sshKey";
const PLATFORM: Key = "platform";
const MACHINE_NETWORK: Key = "networking.machineNetwork";
const API_VIPS: Key = "api_vips";
const INGRESS_VIPS: Key = "ingress_vips";
const BASE_DOMAIN: Key = "baseDomain";
const NAME: Key = "metadata.name";
const DISTRIBUTION: Key = "distribution";
const VERSION: Key = "version";
const PULL_SECRET: Key = "pullSecret";
const CONFIRM: Key = "confirm";

/// Asked before the platform's own questions.
const BEFORE: [Key; 2] = [SSH_KEY, PLATFORM];
/// Asked after them. The machine network comes before the addresses that must lie in it.
const AFTER: [Key; 14] = [
    MACHINE_NETWORK,
    API_VIPS,
    INGRESS_VIPS,
    BASE_DOMAIN,
    NAME,
    dns::BACKEND,
    dns::SERVER,
    dns::KEY_NAME,
    dns::KEY_FILE,
    dns::TOKEN_FILE,
    DISTRIBUTION,
    VERSION,
    PULL_SECRET,
    CONFIRM,
];

const WRITE: &str = "write";
const BACK: &str = "back";
const STOP: &str = "stop";

/// The whole survey: the general questions, and those of the platform once it is known.
pub(super) struct General<'a> {
    /// What was given beforehand.
    partial: Value,
    environment: &'a Environment,
    platform: Option<Box<dyn Survey>>,
}

impl<'a> General<'a> {
    /// Takes over what was given beforehand. What is wrong with it is said before anything is asked.
    pub(super) fn new(
        mut partial: Value,
        environment: &'a Environment,
        answers: &mut Answers,
    ) -> Result<Self, SurveyError> {
        if partial.is_null() {
            partial = json!({});
        }
        if partial.get("apiVersion").is_none() {
            tree::merge(&mut partial, json!({ "apiVersion": "v1" }));
        }
        let wrong = given::problems(&partial);
        if !wrong.is_empty() {
            let lines: Vec<String> = wrong.iter().map(ToString::to_string).collect();
            return Err(SurveyError::Given(lines.join("\n")));
        }
        let mut general = Self { partial, environment, platform: None };
        let chosen =
            general.partial.get(PLATFORM).and_then(Value::as_object).and_then(|platforms| platforms.keys().next());
        if let Some(name) = chosen.cloned() {
            general.choose_platform(&name)?;
            answers.give(PLATFORM, Answer::Text(name));
        }
        for key in general.keys(answers).into_iter().filter(|key| *key != PLATFORM) {
            if let Some(value) = general.given(key) {
                answers.give(key, Answer::Text(value));
            }
        }
        Ok(general)
    }

    /// Stores the credentials and returns the install-config. Called when everything is answered and confirmed.
    pub(super) fn finish(mut self, prompter: &mut dyn Prompter, answers: &Answers) -> Result<Value, SurveyError> {
        let tree = self.tree(answers);
        let Some(survey) = &mut self.platform else { return Ok(tree) };
        let platform = survey.platform();
        let stored = survey.store_credentials(answers);
        if let Some(path) = stored.map_err(|source| SurveyError::Credentials { platform, source })? {
            let text = format!("the credentials are in {}", path.display());
            prompter.notice(&Notice::Info(text)).map_err(SurveyError::Terminal)?;
        }
        Ok(tree)
    }

    fn choose_platform(&mut self, name: &str) -> Result<(), SurveyError> {
        if self.platform.as_ref().is_none_or(|survey| survey.platform() != name) {
            self.platform = Some(platforms::survey(name, self.environment)?);
        }
        Ok(())
    }

    /// The field that a general question fills, if it fills one.
    fn field(&self, key: Key) -> Option<Field> {
        let in_platform = |field: Key| {
            self.platform.as_ref().map(|survey| Field::texts(format!("platform.{}.{field}", survey.platform())))
        };
        match key {
            SSH_KEY | VERSION => Some(Field::text(key).optional()),
            MACHINE_NETWORK => Some(Field::networks(key)),
            API_VIPS | INGRESS_VIPS => in_platform(key),
            BASE_DOMAIN
            | NAME
            | DISTRIBUTION
            | PULL_SECRET
            | dns::SERVER
            | dns::KEY_NAME
            | dns::KEY_FILE
            | dns::TOKEN_FILE => Some(Field::text(key)),
            _ => None,
        }
    }

    /// What was given beforehand for a question, as text.
    fn given(&self, key: Key) -> Option<String> {
        let path = self.field(key).map_or(key.to_owned(), |field| field.path().to_owned());
        let at = |path: &str| self.partial.pointer(&format!("/{}", path.replace('.', "/")));
        let found = match key {
            // One address had a spelling of its own once: api_vip.
            API_VIPS | INGRESS_VIPS => at(&path).or_else(|| at(path.trim_end_matches('s'))),
            _ => at(&path),
        };
        let value = found.filter(|value| !value.is_null())?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// The install-config as far as it is known.
    fn tree(&self, answers: &Answers) -> Value {
        let mut tree = self.partial.clone();
        if let Some(survey) = &self.platform {
            let section = json!({ PLATFORM: { survey.platform(): survey.section(answers) } });
            tree::merge(&mut tree, section);
            add_pools(&mut tree, survey.platform(), survey.pools(answers));
        }
        tree::merge(&mut tree, dns::section(answers));
        for key in BEFORE.into_iter().chain(AFTER).filter(|key| !answers.is_given(key)) {
            if let (Some(field), Some(answer)) = (self.field(key), answers.get(key)) {
                match answer {
                    Answer::Text(text) => field.put(&mut tree, text),
                    Answer::Secret(secret) => field.put(&mut tree, secret.expose_secret()),
                    Answer::Flag(_) => {}
                }
            }
        }
        tree
    }

    fn rule(&self, key: Key, answers: &Answers) -> Rule {
        self.field(key).map_or_else(Rule::something, |field| field.rule(&self.tree(answers)))
    }

    fn has_managed_vips(&self) -> bool {
        !self.is_user_managed() && self.platform.as_ref().is_some_and(|survey| survey.has_vips())
    }

    fn needs_dns(&self, answers: &Answers) -> bool {
        !self.is_user_managed() && self.platform.as_ref().is_some_and(|survey| survey.needs_dns(answers))
    }

    fn is_user_managed(&self) -> bool {
        self.partial.get("loadBalancer").is_some_and(|value| value == "userManaged")
    }

    fn compose_ssh_key(&self, answers: &Answers) -> Composed {
        let directory = self.environment.home().map(|home| home.join(".ssh"));
        let rule = self.rule(SSH_KEY, answers);
        let mut choices = directory.as_deref().map(|directory| ssh_keys::find(directory, &rule)).unwrap_or_default();
        if choices.is_empty() {
            let place = directory.map_or("~/.ssh".to_owned(), |directory| directory.display().to_string());
            let text = format!("no SSH public key in {place}: nobody will be able to log in to the machines");
            return Composed::Known(Answer::Text(String::new()), vec![Notice::Warning(text)]);
        }
        choices.push(Choice::new("", "None"));
        Composed::ask(
            Question::select("SSH public key", choices)
                .help("From ~/.ssh; it may log in to the machines as user core when something goes wrong"),
        )
    }

    async fn compose_machine_network(&mut self, answers: &Answers) -> Composed {
        let guess = match &mut self.platform {
            Some(survey) => survey.machine_network(answers).await,
            None => None,
        };
        let rule = self.rule(MACHINE_NETWORK, answers);
        let question = Question::text("Machine network", rule.clone())
            .help("Where the machines have their addresses, like 192.0.2.0/24; dual stack: two, with a comma");
        Composed::ask(match guess.filter(|guess| rule.judge(guess).is_ok()) {
            Some(guess) => question.preset_text(guess),
            None => question,
        })
    }

    fn compose_version(&self, answers: &Answers) -> Composed {
        let rule = self.rule(VERSION, answers);
        Composed::ask(match answers.text(DISTRIBUTION) {
            Some(name) if name != Distribution::Kubernetes.name() => {
                Question::text("Version", rule).help("Leave it empty for the version of the openshift-install program")
            }
            _ => Question::text("Version of Kubernetes", rule).preset_text(DEFAULT_KUBERNETES_VERSION),
        })
    }

    /// Shows the result; one that is still not right (because of what was given beforehand) is not offered for writing.
    fn compose_confirm(&self, answers: &Answers) -> Composed {
        match parse_tree(self.tree(answers)) {
            Ok(parsed) => {
                let mut notices = vec![Notice::Info(summary::of(&parsed.config))];
                notices.extend(parsed.notices.iter().map(|notice| Notice::Warning(notice.to_string())));
                let choices = vec![
                    Choice::new(WRITE, "Yes"),
                    Choice::new(BACK, "No, go back"),
                    Choice::new(STOP, "No, stop without writing anything"),
                ];
                Composed::Ask(Question::select("Write this install-config?", choices), notices)
            }
            Err(error) => Composed::Impossible(error.to_string()),
        }
    }
}

/// Adds what was answered about pools to those that were given, or else to the usual ones.
fn add_pools(tree: &mut Value, platform: &str, answered: PoolAnswers) {
    let over = |replicas: Option<u32>, answered: Value| {
        let mut pool = json!({});
        if let Some(replicas) = replicas {
            pool["replicas"] = json!(replicas);
        }
        if answered.as_object().is_some_and(|fields| !fields.is_empty()) {
            pool["platform"] = json!({ platform: answered });
        }
        pool
    };
    let says = |pool: &Value| pool.as_object().is_some_and(|fields| !fields.is_empty());
    let masters = over(answered.masters, answered.control_plane);
    if says(&masters) {
        tree::merge(tree, json!({ "controlPlane": masters }));
    }
    let over = over(answered.workers, answered.compute);
    if says(&over) {
        if let Some(pools) = tree.get_mut("compute").and_then(Value::as_array_mut) {
            for pool in pools {
                tree::merge(pool, over.clone());
            }
        } else {
            let mut pool = json!({ "name": "worker" });
            tree::merge(&mut pool, over);
            tree::merge(tree, json!({ "compute": [pool] }));
        }
    }
}

#[async_trait]
impl Questions for General<'_> {
    fn keys(&self, answers: &Answers) -> Vec<Key> {
        let platform = self.platform.as_ref().map(|survey| survey.keys(answers)).unwrap_or_default();
        BEFORE.into_iter().chain(platform).chain(AFTER).collect()
    }

    fn applies(&self, key: Key, answers: &Answers) -> bool {
        match key {
            API_VIPS | INGRESS_VIPS => self.has_managed_vips(),
            PULL_SECRET => answers.text(DISTRIBUTION).is_some_and(|name| name != Distribution::Kubernetes.name()),
            key if dns::KEYS.contains(&key) => self.needs_dns(answers) && dns::applies(key, answers),
            key if BEFORE.contains(&key) || AFTER.contains(&key) => true,
            key => self.platform.as_ref().is_some_and(|survey| survey.applies(key, answers)),
        }
    }

    async fn compose(&mut self, key: Key, answers: &Answers) -> Result<Composed, SurveyError> {
        Ok(match key {
            SSH_KEY => self.compose_ssh_key(answers),
            PLATFORM => Composed::ask(Question::select("Platform", platforms::choices())),
            MACHINE_NETWORK => self.compose_machine_network(answers).await,
            API_VIPS => Composed::ask(
                Question::text("Address of the API", self.rule(key, answers))
                    .help("An unused address in the machine network, outside of any DHCP range"),
            ),
            INGRESS_VIPS => Composed::ask(
                Question::text("Address of the ingress", self.rule(key, answers))
                    .help("Another unused address in the machine network, outside of any DHCP range"),
            ),
            BASE_DOMAIN => Composed::ask(
                Question::text("Base domain", self.rule(key, answers))
                    .help("The domain under which the cluster's own domain lies, like example.com"),
            ),
            NAME => Composed::ask(
                Question::text("Name of the cluster", self.rule(key, answers))
                    .help("Lower case letters, digits and hyphens; with the base domain it makes the cluster's domain"),
            ),
            DISTRIBUTION => {
                let names =
                    [Distribution::Kubernetes, Distribution::Openshift, Distribution::Okd].map(Distribution::name);
                Composed::ask(Question::select("Distribution", names.map(|name| Choice::new(name, name)).to_vec()))
            }
            VERSION => self.compose_version(answers),
            PULL_SECRET => Composed::ask(
                Question::secret("Pull secret", self.rule(key, answers))
                    .help("The JSON text that the registry hands out, in one line; it is not shown"),
            ),
            CONFIRM => self.compose_confirm(answers),
            dns::BACKEND => {
                let own = match &mut self.platform {
                    Some(survey) => survey.dns_backends(answers).await,
                    None => Vec::new(),
                };
                dns::compose_backend(own)
            }
            key if dns::KEYS.contains(&key) => dns::compose(key, self.rule(key, answers)),
            key => match &mut self.platform {
                Some(survey) => survey.compose(key, answers).await?,
                None => Composed::Impossible("no platform is chosen".to_owned()),
            },
        })
    }

    async fn judge(&mut self, key: Key, answer: &Answer, answers: &Answers) -> Result<Verdict, SurveyError> {
        match (key, answer) {
            (PLATFORM, Answer::Text(name)) => self.choose_platform(name).map(|()| Verdict::accept()),
            (CONFIRM, Answer::Text(choice)) => Ok(match choice.as_str() {
                WRITE => Verdict::accept(),
                BACK => Verdict::Back,
                _ => Verdict::Abort,
            }),
            (key, _) if BEFORE.contains(&key) || AFTER.contains(&key) => Ok(Verdict::accept()),
            (key, answer) => match &mut self.platform {
                Some(survey) => survey.judge(key, answer, answers).await,
                None => Ok(Verdict::accept()),
            },
        }
    }
}
