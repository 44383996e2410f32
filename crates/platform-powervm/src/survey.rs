//! The survey of servers: where they are and who may use them, then storage, image and network, chosen from what they have.

use std::{collections::BTreeSet, error::Error as StdError, path::PathBuf, sync::Arc};

use async_trait::async_trait;
use futures::future::try_join_all;
use landfall_config::powervm::Host;
use landfall_platform::{
    Environment, ErrorClass, error_chain,
    survey::{self, Answer, Answers, Choice, Composed, Key, Notice, Question, Questions, Rule, SurveyError, Verdict},
};
use landfall_wire::Trust;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::{Client, Credentials, Error, client::ConsoleUrl, steps::pool_units};

/// The platform's name as the install-config spells it.
const PLATFORM: &str = "powervm";
/// What is before the name of a volume group among the choices of storage.
const GROUP: &str = "volume group ";

mod key {
    use landfall_platform::survey::Key;

    pub(super) const HOSTS: Key = "platform.powervm.hosts";
    /// User, password and trust fill no field of the install-config.
    pub(super) const USER: Key = "powervm.user";
    pub(super) const CA_FILE: Key = "powervm.caFile";
    pub(super) const PASSWORD: Key = "powervm.password";
    pub(super) const STORAGE: Key = "platform.powervm.storage";
    pub(super) const IMAGE: Key = "platform.powervm.image";
    pub(super) const VLAN: Key = "platform.powervm.network";
}

/// All questions, in order.
const QUESTIONS: [Key; 7] = [key::HOSTS, key::USER, key::CA_FILE, key::PASSWORD, key::STORAGE, key::IMAGE, key::VLAN];

/// The survey of servers.
#[derive(Debug)]
pub struct Survey {
    path: PathBuf,
    stored: Option<Credentials>,
}

/// A server that answered.
struct Server {
    client: Arc<Client>,
    system: String,
}

impl Survey {
    /// A survey for the user of this environment. Reads the credentials, so that a file that cannot be understood is reported before
    /// anything is asked.
    pub fn new(environment: &Environment) -> Result<Self, Error> {
        Ok(Self { path: Credentials::path(environment)?, stored: Credentials::read_if_there(environment)? })
    }

    fn credentials(&self, answers: &Answers, asked: Option<&SecretString>) -> Result<Option<Credentials>, Error> {
        let password = asked.or_else(|| answers.secret(key::PASSWORD));
        let (Some(user), Some(password)) = (answers.text(key::USER), password) else { return Ok(self.stored.clone()) };
        Ok(Some(Credentials::of_user(user.trim().to_owned(), password.clone(), &trust(answers)?)))
    }

    /// Asks each server who it is.
    async fn connect(&self, answers: &Answers, password: Option<&SecretString>) -> Result<Vec<Server>, Error> {
        let Some(credentials) = self.credentials(answers, password)? else { return Ok(Vec::new()) };
        let servers = hosts(answers.text(key::HOSTS).unwrap_or_default()).into_iter().map(|host| {
            let client = credentials.client(&host);
            async move {
                let client = client?;
                let systems = client.systems().await?;
                Ok::<_, Error>(Server {
                    client,
                    system: systems.first().map_or_else(String::new, |one| one.id.clone()),
                })
            }
        });
        try_join_all(servers).await
    }

    /// What all servers have in common.
    async fn choices(&self, key: Key, answers: &Answers) -> Result<Vec<Choice>, Error> {
        let servers = self.connect(answers, None).await?;
        let lists = try_join_all(servers.iter().map(|server| async move {
            Ok::<_, Error>(match key {
                key::STORAGE => storage(&server.client).await?,
                key::IMAGE => images(&server.client, answers.text(key::STORAGE)).await?,
                _ => vlans(server).await?,
            })
        }));
        let mut lists = lists.await?.into_iter();
        let first = lists.next().unwrap_or_default();
        let common = lists.fold(first, |common, next| common.into_iter().filter(|one| next.contains(one)).collect());
        Ok(common.into_iter().map(|one| Choice::new(&one, &one)).collect())
    }
}

/// Servers by their addresses: the first part of its name is what a server is called.
fn hosts(text: &str) -> Vec<Host> {
    let addresses = text.split([',', ' ']).map(str::trim).filter(|address| !address.is_empty());
    let name = |number: usize, address: &str| {
        let bare = address.split("://").last().unwrap_or_default();
        let first: String = bare.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        if first.is_empty() || first.chars().all(|c| c.is_ascii_digit()) { format!("server-{number}") } else { first }
    };
    addresses.enumerate().map(|(i, address)| Host { name: name(i + 1, address), address: address.to_owned() }).collect()
}

fn trust(answers: &Answers) -> Result<Trust, Error> {
    match answers.text(key::CA_FILE).map(str::trim).filter(|path| !path.is_empty()) {
        None => Ok(Trust::System),
        Some(path) => match std::fs::read_to_string(path) {
            Ok(bundle) => Ok(Trust::Only(bundle)),
            Err(source) => Err(Error::File { path: path.into(), source }),
        },
    }
}

async fn storage(client: &Client) -> Result<BTreeSet<String>, Error> {
    let mut found: BTreeSet<String> = client.pools().await?.into_iter().map(|pool| pool.name).collect();
    for vios in client.vioses(&[]).await? {
        let groups = client.volume_groups(&vios.partition.id).await?;
        found.extend(groups.into_iter().map(|group| format!("{GROUP}{}", group.name)));
    }
    Ok(found)
}

async fn images(client: &Client, storage: Option<&str>) -> Result<BTreeSet<String>, Error> {
    let units = pool_units(client, storage).await?;
    Ok(units.into_iter().filter(|(_, unit)| unit.kind == "VirtualIO_Image").map(|(_, unit)| unit.name).collect())
}

async fn vlans(server: &Server) -> Result<BTreeSet<String>, Error> {
    let bridges = server.client.bridges(&server.system).await?;
    Ok(bridges.into_iter().flat_map(|bridge| bridge.vlans).map(|vlan| vlan.to_string()).collect())
}

/// What is asked, and what it is for.
fn wording(key: Key) -> (&'static str, &'static str) {
    match key {
        key::HOSTS => {
            ("NovaLink addresses", "of all servers, separated by commas: novalink-a.example.com, 192.0.2.2:12443")
        }
        key::USER => ("User", "of NovaLink on these servers"),
        key::CA_FILE => {
            ("File with the CA certificate", "that vouches for the servers; empty if this system trusts them")
        }
        key::PASSWORD => ("Password", "it is kept in the credentials file, not in the install-config"),
        key::STORAGE => ("Storage", "a shared storage pool, or a volume group of each server, for the machines' disks"),
        key::IMAGE => ("Image", "in the pool, or the path or URL of a raw image"),
        _ => ("VLAN", "of the machine network, which all servers bridge"),
    }
}

#[async_trait]
impl Questions for Survey {
    fn keys(&self, _: &Answers) -> Vec<Key> {
        QUESTIONS.to_vec()
    }

    fn applies(&self, key: Key, _: &Answers) -> bool {
        !matches!(key, key::USER | key::PASSWORD | key::CA_FILE) || self.stored.is_none()
    }

    async fn compose(&mut self, key: Key, answers: &Answers) -> Result<Composed, SurveyError> {
        let (message, help) = wording(key);
        let by_hand = || Question::text(message, Rule::something()).help(help);
        Ok(match key {
            key::HOSTS => {
                let rule = Rule::new(|text| {
                    match hosts(text).iter().try_for_each(|host| ConsoleUrl::parse(&host.address).map(drop)) {
                        Ok(()) if hosts(text).is_empty() => Err("it must name at least one server".to_owned()),
                        Ok(()) => Ok(()),
                        Err(error) => Err(error.to_string()),
                    }
                });
                Composed::ask(Question::text(message, rule).help(help))
            }
            key::USER => Composed::ask(by_hand().preset_text("admin")),
            key::CA_FILE => Composed::ask(Question::text(message, Rule::new(|_| Ok(()))).help(help)),
            key::PASSWORD => Composed::ask(Question::secret(message, Rule::something()).help(help)),
            _ => match self.choices(key, answers).await {
                Ok(choices) => match choices.as_slice() {
                    [] => Composed::ask(by_hand()),
                    [only] => Composed::known(&only.value),
                    _ => Composed::ask(Question::select(message, choices).help(help)),
                },
                Err(error) => Composed::Unavailable { reason: error_chain(&error), by_hand: by_hand() },
            },
        })
    }

    async fn judge(&mut self, key: Key, answer: &Answer, answers: &Answers) -> Result<Verdict, SurveyError> {
        let (key::PASSWORD, Answer::Secret(password)) = (key, answer) else { return Ok(Verdict::accept()) };
        match self.connect(answers, Some(password)).await {
            Ok(servers) => {
                let notice = Notice::Info(format!("connected to {} servers", servers.len()));
                Ok(Verdict::Accept { learned: Vec::new(), notices: vec![notice] })
            }
            Err(error) if error.class() == ErrorClass::Auth => Ok(Verdict::Again(error_chain(&error))),
            Err(error) => Err(SurveyError::Platform { platform: PLATFORM, source: Box::new(error) }),
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

    async fn machine_network(&mut self, _: &Answers) -> Option<String> {
        None
    }

    fn section(&self, answers: &Answers) -> Value {
        let asked = |key: Key| answers.text(key).filter(|_| !answers.is_given(key)).map(str::trim);
        let mut section = json!({});
        if let Some(text) = asked(key::HOSTS) {
            section["hosts"] = json!(hosts(text));
        }
        let group = asked(key::STORAGE).and_then(|storage| storage.strip_prefix(GROUP));
        match (asked(key::STORAGE), group) {
            (_, Some(group)) => section["storage"] = json!({ "volumeGroup": { "name": group } }),
            (Some(pool), None) => section["storage"] = json!({ "sharedStoragePool": { "name": pool } }),
            (None, None) => {}
        }
        if let Some(image) = asked(key::IMAGE) {
            let is_file = group.is_some() || image.contains(['/', '.']);
            section["image"] = if is_file { json!({ "disk": image }) } else { json!({ "logicalUnit": image }) };
        }
        if let Some(vlan) = asked(key::VLAN) {
            let vlan = vlan.parse::<u16>().map_or_else(|_| json!(vlan), |vlan| json!(vlan));
            section["network"] = json!({ "sharedEthernet": { "vlan": vlan } });
        }
        section
    }

    fn store_credentials(&mut self, answers: &Answers) -> Result<Option<PathBuf>, Box<dyn StdError + Send + Sync>> {
        let (Some(user), Some(password)) = (answers.text(key::USER), answers.secret(key::PASSWORD)) else {
            return Ok(None);
        };
        Credentials::write(&self.path, user.trim(), password, &trust(answers)?)?;
        Ok(Some(self.path.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_called_after_their_addresses() {
        let named: Vec<String> =
            hosts("novalink-a.example.com, https://power9:12443 192.0.2.7").into_iter().map(|host| host.name).collect();
        assert_eq!(named, ["novalink-a", "power9", "server-3"]);
    }
}
