//! Configs for masters that take the place of others.
//!
//! The bootstrap machine leaves the masters' config and the root of their credentials in the Secret `kube-system/landfall-config-master`. A credential
//! opens nothing by itself: the config is served only while the cluster awaits that master, and then with the authorities' keys from this machine,
//! since the machine that would hand them over is long gone.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use jiff::Timestamp;
use landfall_assets::{NodeFile, node::paths, with_files, with_text_file};
use landfall_machine_api::Credential;
use landfall_platform::error_chain;
use serde_json::json;

use super::{Fleet, Roots};
use crate::{
    Error,
    join::authorities,
    kube::Access,
    kubeadm::{Amendments, Discovery, amend},
};

pub(super) const ROLE: &str = "master";
/// The Secret with the masters' config.
const SECRET: &str = "api/v1/namespaces/kube-system/secrets/landfall-config-master";
/// Its keys.
const CONFIG: &str = "config.ign";
const ROOT: &str = "root";
/// Age at which knowledge of who is awaited ends: three times the interval between questions. The authorities' keys are not served on older word, so
/// that a cluster that cannot be asked closes the window.
pub(super) const FRESH: Duration = Duration::from_secs(30);
/// What a Secret can hold, with room for what is around it.
const LARGEST: usize = 1000 << 10;

/// What masters that take the place of others are told, as the cluster is now.
#[derive(Default)]
pub(super) struct Successors {
    /// Who may ask; none if nobody.
    pub(super) roots: Option<Roots>,
    /// What is answered, and when the cluster was asked; none while no master is awaited.
    config: Option<(Bytes, Instant)>,
}

impl Successors {
    /// Asks the cluster.
    pub(super) async fn read(access: &Access, discovery: &Discovery, fleet: &Fleet, pki: &Path) -> Result<Self, Error> {
        // Before the question, which may take its time.
        let asked = Instant::now();
        let Some(secret) = access.get("reading the masters' config", SECRET).await? else { return Ok(Self::default()) };
        let field = |key: &str| secret["data"][key].as_str().and_then(|text| STANDARD.decode(text).ok());
        let (Some(base), Some(root)) = (field(CONFIG), field(ROOT)) else { return Ok(Self::default()) };
        let roots = Roots::new([(ROLE, String::from_utf8_lossy(&root).as_ref())]);
        let is_awaited = fleet.awaits(ROLE, Timestamp::now());
        let config = if is_awaited { Some((render(&base, discovery, pki)?, asked)) } else { None };
        Ok(Self { roots: Some(roots), config })
    }

    /// Returns what is answered now: nothing unless the cluster said of late that a master is awaited.
    pub(super) fn config(&self, now: Instant) -> Option<Bytes> {
        let (config, asked) = self.config.as_ref()?;
        (now.saturating_duration_since(*asked) < FRESH).then(|| config.clone())
    }

    /// Forgets what is answered, and not who may ask: a machine that is refused gives up, and this may pass.
    pub(super) fn close(&mut self) {
        self.config = None;
    }

    #[cfg(test)]
    pub(super) fn awaiting(root: &str, config: Bytes, asked: Instant) -> Self {
        Self { roots: Some(Roots::new([(ROLE, root)])), config: Some((config, asked)) }
    }

    pub(super) fn admits(&self, credential: &Credential) -> bool {
        self.roots.as_ref().is_some_and(|roots| roots.admit(ROLE, credential))
    }
}

/// Leaves what masters' successors are served in the cluster: the config that a master of this cluster is served, and the root of their
/// credentials. A config that an administrator has put there is kept.
pub(crate) async fn leave(access: &Access, config: &[u8], root: &str) -> Result<(), Error> {
    let there = access.get("reading the masters' config", SECRET).await?;
    let kept = there.as_ref().and_then(|secret| secret["data"][CONFIG].as_str()).map(str::to_owned);
    let config = match kept {
        Some(kept) => kept,
        None => STANDARD.encode(without_key(config)?),
    };
    if config.len() / 4 * 3 > LARGEST {
        // Not worth a failed installation.
        tracing::warn!(
            bytes = config.len() / 4 * 3,
            "the masters' config is too large for a Secret; masters cannot be replaced"
        );
        return Ok(());
    }
    let object = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": { "name": "landfall-config-master", "namespace": "kube-system" },
        "data": { CONFIG: config, ROOT: STANDARD.encode(root) },
    });
    access.apply("keeping the masters' config", SECRET, &object).await
}

/// The config without the key to what is not in the cluster any more.
fn without_key(config: &[u8]) -> Result<Vec<u8>, Error> {
    amended(config, Amendments { has_authorities: true, ..Amendments::default() })
}

/// The config with what a master joins with now.
fn render(base: &[u8], discovery: &Discovery, pki: &Path) -> Result<Bytes, Error> {
    let amendments = Amendments { discovery: Some(discovery), has_authorities: true, ..Amendments::default() };
    let config = amended(base, amendments)?;
    let mut files = Vec::new();
    for name in authorities::FILES {
        let path = pki.join(name);
        let contents = std::fs::read(&path).map_err(Error::file("read", &path))?;
        files.push(NodeFile::private(format!("{}/{name}", paths::AUTHORITIES), contents));
    }
    let config = with_files("the config of masters", &config, files);
    config.map(Bytes::from).map_err(|error| Error::NotYet(error_chain(&error)))
}

fn amended(config: &[u8], amendments: Amendments<'_>) -> Result<Vec<u8>, Error> {
    let path = Path::new(paths::KUBEADM_CONFIG);
    with_text_file("the config of masters", config, paths::KUBEADM_CONFIG, |text| amend(path, text, amendments))
        .map_err(|error| Error::NotYet(error_chain(&error)))?
}

#[cfg(test)]
mod tests {
    use landfall_machine_api::Subject;
    use serde_json::Value;

    use super::*;
    use crate::{
        config_server::{ClusterUses, Peers},
        testing,
    };

    fn credential(root: &str) -> Credential {
        Credential::parse(&Subject::of_object("demo-x7k2p-master-9", "u9").credential(root)).unwrap()
    }

    /// The whole way on a real API server: left by the bootstrap machine, served while a master is awaited.
    #[tokio::test]
    async fn a_master_is_served_while_it_is_awaited_on_a_real_api_server() {
        let dir = tempfile::tempdir().unwrap();
        let pki = authority_files(dir.path());
        let (_plane, access) = crate::testing::real_api(dir.path());
        let discovery = Discovery { token: "new.token".to_owned(), pins: Vec::new() };
        let uses = ClusterUses::new(access.clone(), Peers::default());
        let read = async || {
            uses.refresh().await.unwrap();
            let fleet = uses.fleet().as_ref().unwrap().0.clone();
            Successors::read(&access, &discovery, &fleet, &pki).await.unwrap()
        };
        assert!(!read().await.admits(&credential("root")), "nothing was left");
        leave(&access, base().as_bytes(), "root").await.unwrap();
        leave(&access, b"another", "root").await.unwrap();
        let idle = read().await;
        assert!(idle.admits(&credential("root")) && !idle.admits(&credential("wrong")));
        assert_eq!(idle.config(Instant::now()), None, "nobody is awaited, and there are not even definitions");

        testing::define_machines(&access).await;
        let name = "demo-x7k2p-master-9";
        testing::make_machine(&access, name, ROLE).await;
        let served = read().await.config(Instant::now()).expect("a master is awaited");
        assert!(String::from_utf8_lossy(&served).contains("/etc/landfall/authorities/etcd/ca.key"));

        let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name } });
        access.apply("joining", &format!("api/v1/nodes/{name}"), &node).await.unwrap();
        assert_eq!(read().await.config(Instant::now()), None, "it has come");
    }

    #[test]
    fn word_of_an_awaited_master_ends() {
        let asked = Instant::now();
        let mut known = Successors { roots: None, config: Some((Bytes::from_static(b"keys"), asked)) };
        assert!(known.config(asked).is_some() && known.config(asked + FRESH / 2).is_some());
        assert_eq!(known.config(asked + FRESH), None, "the cluster was not asked since");
        known.close();
        assert_eq!(known.config(asked), None);
    }

    fn authority_files(directory: &Path) -> std::path::PathBuf {
        let pki = directory.join("pki");
        std::fs::create_dir_all(pki.join("etcd")).unwrap();
        for file in authorities::FILES {
            std::fs::write(pki.join(file), format!("this is {file}")).unwrap();
        }
        pki
    }

    fn base() -> String {
        let kubeadm = "kind: JoinConfiguration\ndiscovery: {bootstrapToken: {token: old.old}}\ncontrolPlane: {certificateKey: abc}\n";
        let source = format!("data:;base64,{}", STANDARD.encode(kubeadm));
        let file = json!({ "path": paths::KUBEADM_CONFIG, "contents": { "source": source } });
        json!({ "ignition": { "version": "3.3.0" }, "storage": { "files": [file] } }).to_string()
    }

    #[test]
    fn a_successor_gets_authorities_and_a_token_instead_of_a_key_to_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let pki = authority_files(dir.path());
        let kept = without_key(base().as_bytes()).unwrap();
        let discovery = Discovery { token: "new.token".to_owned(), pins: vec!["sha256:new".to_owned()] };
        let served: Value = serde_json::from_slice(&render(&kept, &discovery, &pki).unwrap()).unwrap();
        let contents = |path: &str| {
            let files = served["storage"]["files"].as_array().unwrap();
            let file = files.iter().find(|file| file["path"] == path).unwrap_or_else(|| panic!("no {path}"));
            let source = file["contents"]["source"].as_str().unwrap().to_owned();
            let text = source.strip_prefix("data:;base64,").map(|text| STANDARD.decode(text).unwrap());
            (String::from_utf8(text.unwrap()).unwrap(), file["mode"].clone())
        };
        let (key, mode) = contents("/etc/landfall/authorities/etcd/ca.key");
        assert_eq!((key.as_str(), mode), ("this is etcd/ca.key", json!(0o600)));
        let document: Value = serde_json::from_str(&contents(paths::KUBEADM_CONFIG).0).unwrap();
        assert_eq!(document["discovery"]["bootstrapToken"]["token"], "new.token");
        assert_eq!(document["controlPlane"], json!({}), "still a master, without the key");
        std::fs::remove_file(pki.join("sa.key")).unwrap();
        assert!(render(&kept, &discovery, &pki).is_err(), "half of the authorities are none");
    }
}
