//! Configs as the cluster is now, on masters.
//!
//! The config that a master booted with knows the token and the authority of that day. Both change: tokens end or are
//! revoked, authorities are replaced. And an administrator who wants new machines to be different should not have to edit a
//! file on every master. So what is served is rendered from
//!
//! - the Secret `kube-system/landfall-config-<role>`, key `config.ign`, or the file on this machine if there is none,
//! - the join token that is valid for longest, which is made when there is none that lasts,
//! - the pins of the authorities in the `ConfigMap` `kube-system/kube-root-ca.crt`.
//!
//! Masters are served while one is awaited ([`successors`]), and only on fresh word of the cluster: their config has the authorities' keys. Which
//! machine may still use its credential the cluster tells too ([`ClusterUses`]).

use std::{
    collections::HashMap,
    net::IpAddr,
    path::Path,
    sync::{Arc, RwLock, RwLockReadGuard},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use jiff::Timestamp;
use landfall_assets::{MachineRole, node::paths, public_key_pins, with_text_file};
use landfall_machine_api::Credential;
use landfall_platform::error_chain;
use serde_json::Value;
use tokio::time::sleep;

use super::{
    Admission, ClusterUses, Configs, DiskFiles, MachineId, Peers, Redemption, Unreadable,
    join_token::JoinToken,
    successors::{self, Successors},
};
use crate::{
    Error,
    kube::{Access, remembered},
    kubeadm::{Amendments, Discovery, amend},
    machine::Machine,
};

/// How long a revoked token may still be handed out.
const INTERVAL: Duration = Duration::from_secs(10);
const TOKENS: &str = "api/v1/namespaces/kube-system/secrets?fieldSelector=type%3Dbootstrap.kubernetes.io%2Ftoken";
const AUTHORITIES: &str = "api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt";

/// The configs of a master. Until the cluster was asked for the first time there are none: what may be outdated is not served.
pub struct Current {
    files: Arc<DiskFiles>,
    rendered: RwLock<HashMap<String, Rendered>>,
    successors: RwLock<Successors>,
    uses: ClusterUses,
}

/// A config, and what it was made from.
struct Rendered {
    source: Source,
    config: Bytes,
}

#[derive(PartialEq, Eq)]
struct Source {
    base: Bytes,
    discovery: Discovery,
}

impl Current {
    /// None yet, and to be made from these files and from what the cluster says.
    pub fn new(files: Arc<DiskFiles>, access: Access, peers: Peers) -> Self {
        Self {
            files,
            rendered: RwLock::default(),
            successors: RwLock::default(),
            uses: ClusterUses::new(access, peers),
        }
    }

    /// Keeps the configs up to date for as long as the future is polled.
    pub async fn keep(&self, machine: &Machine) {
        let access = Access::of(machine);
        let mut failing = false;
        // waits: a service, which goes on for as long as its future is polled
        loop {
            match self.update(machine, &access).await {
                Ok(()) => failing = false,
                Err(error) if !failing => {
                    failing = true;
                    tracing::warn!(
                        error = error_chain(&error),
                        "workers are served as they were last, masters not at all"
                    );
                }
                Err(_) => {}
            }
            sleep(INTERVAL).await;
        }
    }

    fn successors(&self) -> RwLockReadGuard<'_, Successors> {
        self.successors.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    async fn update(&self, machine: &Machine, access: &Access) -> Result<(), Error> {
        self.uses.refresh().await?;
        let discovery = Discovery { token: token(machine, access).await?, pins: pins(access).await? };
        // A config that cannot be rendered keeps no master from being replaced, and the other way round.
        let rendered = self.update_roles(access, &discovery).await;
        let successors = self.update_successors(access, &discovery, Path::new(paths::KUBERNETES_PKI)).await;
        rendered.and(successors)
    }

    async fn update_roles(&self, access: &Access, discovery: &Discovery) -> Result<(), Error> {
        for role in self.files.roles() {
            let base = match in_cluster(access, role).await? {
                Some(config) => Some(config),
                None => self.files.config(role)?,
            };
            let Some(base) = base else { continue };
            let source = Source { base, discovery: discovery.clone() };
            let mut rendered = self.rendered.write().unwrap_or_else(std::sync::PoisonError::into_inner);
            if rendered.get(role).is_some_and(|known| known.source == source) {
                continue;
            }
            let config = render(role, &source)?;
            tracing::info!(role, bytes = config.len(), "what is served has changed");
            rendered.insert(role.to_owned(), Rendered { source, config });
        }
        Ok(())
    }

    /// Opens or closes the window in which masters are served. It closes also if the cluster's answer cannot be read, and by itself if there is
    /// none.
    async fn update_successors(&self, access: &Access, discovery: &Discovery, pki: &Path) -> Result<(), Error> {
        let fleet = self.uses.fleet().as_ref().map(|(fleet, _)| fleet.clone()).unwrap_or_default();
        let read = Successors::read(access, discovery, &fleet, pki).await;
        let mut successors = self.successors.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        match read {
            Ok(read) => *successors = read,
            Err(error) => {
                successors.close();
                return Err(error);
            }
        }
        Ok(())
    }
}

impl Configs for Current {
    fn config(&self, role: &str) -> Result<Option<Bytes>, Unreadable> {
        let rendered = self.rendered.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let known = rendered.get(role).map(|rendered| rendered.config.clone());
        Ok(known.or_else(|| if role == successors::ROLE { self.successors().config(Instant::now()) } else { None }))
    }
}

#[async_trait]
impl Admission for Current {
    fn admits(&self, role: &str, credential: &Credential) -> Result<bool, Unreadable> {
        Ok((role == successors::ROLE && self.successors().admits(credential)) || self.files.admits(role, credential)?)
    }

    async fn redeem(&self, _: &str, machine: MachineId<'_>, peer: IpAddr) -> Result<Redemption, Unreadable> {
        self.uses.redeem(machine, peer, Timestamp::now()).await
    }

    fn knows(&self, role: &str) -> bool {
        role != successors::ROLE || self.files.roles().any(|known| known == role) || self.successors().roots.is_some()
    }
}

/// The token to join with. One is made where none lasts.
async fn token(machine: &Machine, access: &Access) -> Result<String, Error> {
    let now = Timestamp::now();
    let best = JoinToken::best(&access.get("listing join tokens", TOKENS).await?.unwrap_or_default(), now);
    if let Some(token) = &best
        && !JoinToken::is_short(best.as_ref(), place(machine), now)
    {
        return Ok(token.text.clone());
    }
    let token = JoinToken::new(now);
    let (path, secret) = token.secret();
    access.apply("making a join token", &path, &secret).await?;
    tracing::info!("made a token for workers to join with");
    Ok(token.text)
}

/// The place of this machine among the masters.
fn place(machine: &Machine) -> usize {
    let nodes = remembered(machine);
    let masters = nodes.iter().filter(|node| node.role == MachineRole::Master);
    masters.filter(|node| node.name < machine.name).count()
}

async fn pins(access: &Access) -> Result<Vec<String>, Error> {
    let found = access.get("reading the cluster's authorities", AUTHORITIES).await?;
    let text = found.as_ref().and_then(|map| map["data"]["ca.crt"].as_str());
    let text = text.ok_or_else(|| Error::NotYet("the cluster does not publish its authorities yet".to_owned()))?;
    public_key_pins(text).map_err(|error| Error::NotYet(format!("ConfigMap kube-root-ca.crt: {}", error_chain(&error))))
}

/// The config of a role that somebody has put into the cluster.
async fn in_cluster(access: &Access, role: &str) -> Result<Option<Bytes>, Error> {
    let path = format!("api/v1/namespaces/kube-system/secrets/landfall-config-{role}");
    let found = access.get("reading the config of a role", &path).await?;
    found.map(|secret| config_of(&secret, role)).transpose()
}

fn config_of(secret: &Value, role: &str) -> Result<Bytes, Error> {
    let bytes = secret["data"]["config.ign"].as_str().and_then(|text| STANDARD.decode(text).ok());
    bytes.map(Bytes::from).ok_or_else(|| {
        Error::NotYet(format!("Secret kube-system/landfall-config-{role} has no config under the key config.ign"))
    })
}

/// The config with what machines join with now.
fn render(role: &str, source: &Source) -> Result<Bytes, Error> {
    let path = Path::new(paths::KUBEADM_CONFIG);
    let amendments = Amendments { discovery: Some(&source.discovery), ..Amendments::default() };
    let name = format!("the config of role {role}");
    let rendered = with_text_file(&name, &source.base, paths::KUBEADM_CONFIG, |text| amend(path, text, amendments))
        .map_err(|error| Error::NotYet(error_chain(&error)))?;
    rendered.map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use landfall_assets::node::{ConfigServerFacts, ServedRole};
    use landfall_machine_api::{Maker, Subject};
    use serde_json::json;

    use super::*;
    use crate::config_server::Roots;

    fn source(base: &Value, token: &str) -> Source {
        let discovery = Discovery { token: token.to_owned(), pins: vec!["sha256:new".to_owned()] };
        Source { base: base.to_string().into(), discovery }
    }

    /// There is no kubeconfig, so nothing can be asked.
    fn nowhere(directory: &Path) -> Access {
        let machine = crate::testing::machine("master", "demo-x7k2p-master-0", directory);
        Access::only(&machine, &directory.join("admin.conf"), false)
    }

    fn credential() -> Credential {
        Credential::parse(&Subject::of_object("m3", "u3").credential("root")).unwrap()
    }

    #[test]
    fn the_masters_root_is_unknown_until_the_cluster_has_it() {
        let role = |role| ServedRole { role, config: String::new(), root: String::new() };
        let dir = tempfile::tempdir().unwrap();
        let serving = |roles| {
            let facts = ConfigServerFacts { certificate: String::new(), key: String::new(), roles };
            Current::new(Arc::new(DiskFiles::new(&facts, PathBuf::new())), nowhere(dir.path()), Peers::default())
        };
        let master = serving(vec![role(MachineRole::Worker)]);
        assert!(master.knows("worker") && !master.knows("master"));
        master.successors.write().unwrap().roots = Some(Roots::new([("master", "root")]));
        assert!(master.knows("master") && master.admits("master", &credential()).unwrap());
        assert!(serving(vec![role(MachineRole::Master)]).knows("master"));
    }

    /// Errors anywhere in a round must not keep open what an earlier round has opened.
    #[tokio::test]
    async fn the_window_for_masters_closes_when_the_cluster_cannot_be_asked() {
        let dir = tempfile::tempdir().unwrap();
        let facts = ConfigServerFacts { certificate: String::new(), key: String::new(), roles: Vec::new() };
        let access = nowhere(dir.path());
        let current = Current::new(Arc::new(DiskFiles::new(&facts, PathBuf::new())), access.clone(), Peers::default());
        let open = |asked| {
            *current.successors.write().unwrap() = Successors::awaiting("root", Bytes::from_static(b"keys"), asked);
        };
        let served = || current.config("master").unwrap();
        let now = Instant::now();
        open(now);
        assert_eq!(served().unwrap(), "keys");
        // A round that fails before it comes to the masters leaves them to their age.
        open(now.checked_sub(successors::FRESH).unwrap());
        assert_eq!(served(), None);
        open(now);
        let discovery = Discovery { token: "new.token".to_owned(), pins: Vec::new() };
        current.update_successors(&access, &discovery, dir.path()).await.unwrap_err();
        assert_eq!(served(), None);
        assert!(current.admits("master", &credential()).unwrap(), "a machine that asks is told to wait, not refused");
        let machine = MachineId { name: "m3", maker: &Maker::Object("u3".to_owned()) };
        let redeemed = current.redeem("master", machine, [192, 0, 2, 1].into()).await;
        assert!(
            redeemed.is_err(),
            "while the cluster cannot be asked, no use is granted and none is refused: {redeemed:?}"
        );
    }

    #[test]
    fn a_config_is_served_with_what_is_valid_now() {
        let kubeadm = "kind: JoinConfiguration\ndiscovery: {bootstrapToken: {token: old.old}}\n";
        let base = json!({ "ignition": { "version": "3.3.0" }, "storage": { "files": [
            { "path": paths::KUBEADM_CONFIG, "contents": { "source": format!("data:;base64,{}", STANDARD.encode(kubeadm)) } },
            { "path": "/etc/motd", "contents": { "source": "data:,hello" } },
        ] } });
        let served = render("worker", &source(&base, "new.token")).unwrap();
        let served: Value = serde_json::from_slice(&served).unwrap();
        assert_eq!(served["storage"]["files"][1]["contents"]["source"], "data:,hello");
        let text = served["storage"]["files"][0]["contents"]["source"].as_str().unwrap();
        let text = STANDARD.decode(text.strip_prefix("data:;base64,").unwrap()).unwrap();
        let document: Value = serde_json::from_slice(&text).unwrap();
        let expected = json!({ "token": "new.token", "caCertHashes": ["sha256:new"] });
        assert_eq!(document["discovery"]["bootstrapToken"], expected);
    }

    #[test]
    fn a_config_of_the_users_own_is_read_and_nonsense_is_refused() {
        let secret = json!({ "data": { "config.ign": STANDARD.encode("{}") } });
        assert_eq!(config_of(&secret, "worker").unwrap(), "{}");
        let error = config_of(&json!({ "data": {} }), "worker").unwrap_err().to_string();
        assert!(error.contains("kube-system/landfall-config-worker") && error.contains("config.ign"), "{error}");
        assert!(render("worker", &source(&json!({ "ignition": { "version": "9.9.9" } }), "t")).is_err());
    }
}
