//! Configs for masters that take the place of others.
//!
//! The bootstrap machine leaves the masters' config and the digest of their token in the Secret `kube-system/landfall-config-master`. The token
//! opens nothing by itself: the config is served only while the cluster awaits a master, and then with the authorities' keys from this machine,
//! since whoever would hand them over is long gone.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use jiff::Timestamp;
use landfall_assets::{NodeFile, node::paths, with_files, with_text_file};
use landfall_machine_api::{GROUP, NAMESPACE, ROLE_LABEL, VERSION};
use landfall_platform::error_chain;
use serde_json::{Value, json};

use super::Tokens;
use crate::{
    Error,
    join::authorities,
    kube::{Access, ClusterNode},
    kubeadm::{Amendments, Discovery, amend},
};

pub(super) const ROLE: &str = "master";
/// The Secret with the masters' config.
const SECRET: &str = "api/v1/namespaces/kube-system/secrets/landfall-config-master";
/// Its keys.
const CONFIG: &str = "config.ign";
const DIGEST: &str = "token.sha256";
/// For how long after its object was made a master may fetch its config.
const WINDOW: Duration = Duration::from_hours(2);
/// Age at which knowledge of who is awaited ends: three times the interval between questions. The authorities' keys are not served on older word, so
/// that a cluster that cannot be asked closes the window.
pub(super) const FRESH: Duration = Duration::from_secs(30);
/// What a Secret can hold, with room for what is around it.
const LARGEST: usize = 1000 << 10;

/// What masters that take the place of others are told, as the cluster is now.
#[derive(Default)]
pub(super) struct Successors {
    /// Who may ask; none if nobody.
    pub(super) tokens: Option<Tokens>,
    /// What is answered, and when the cluster was asked; none while no master is awaited.
    config: Option<(Bytes, Instant)>,
}

impl Successors {
    /// Asks the cluster.
    pub(super) async fn read(access: &Access, discovery: &Discovery, pki: &Path) -> Result<Self, Error> {
        // Before the questions, which may take their time.
        let asked = Instant::now();
        let Some(secret) = access.get("reading the masters' config", SECRET).await? else { return Ok(Self::default()) };
        let field = |key: &str| secret["data"][key].as_str().and_then(|text| STANDARD.decode(text).ok());
        let (Some(base), Some(digest)) = (field(CONFIG), field(DIGEST)) else { return Ok(Self::default()) };
        let digest = String::from_utf8_lossy(&digest).into_owned();
        let tokens =
            Tokens::from_digests([(ROLE, digest.as_str())]).map_err(|error| Error::NotYet(error.to_string()))?;
        let role = format!("{}%3D{ROLE}", ROLE_LABEL.replace('/', "%2F"));
        let machines = format!("apis/{GROUP}/{VERSION}/namespaces/{NAMESPACE}/machines?labelSelector={role}");
        let machines = access.get("listing the masters' machines", &machines).await?.unwrap_or_default();
        let config = if is_awaited(&machines, &access.nodes().await?, Timestamp::now()) {
            Some((render(&base, discovery, pki)?, asked))
        } else {
            None
        };
        Ok(Self { tokens: Some(tokens), config })
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
    pub(super) fn awaiting(token: &str, config: Bytes, asked: Instant) -> Self {
        Self { tokens: Some(Tokens::new([(ROLE, token)])), config: Some((config, asked)) }
    }

    pub(super) fn admits(&self, token: &str) -> bool {
        self.tokens.as_ref().is_some_and(|tokens| tokens.admit(ROLE, token))
    }
}

/// Leaves what masters' successors are served in the cluster: the config that a master of this cluster is served, and the digest of the
/// token. A config that somebody has put there is kept.
pub(crate) async fn leave(access: &Access, config: &[u8], digest: &str) -> Result<(), Error> {
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
        "data": { CONFIG: config, DIGEST: STANDARD.encode(digest) },
    });
    access.apply("keeping the masters' config", SECRET, &object).await
}

/// Whether a master is awaited: one whose object was made of late and that has no node yet.
fn is_awaited(machines: &Value, nodes: &[ClusterNode], now: Timestamp) -> bool {
    let machines = machines["items"].as_array().into_iter().flatten();
    machines.into_iter().any(|machine| {
        let (metadata, status) = (&machine["metadata"], &machine["status"]);
        let born: Option<Timestamp> = metadata["creationTimestamp"].as_str().and_then(|text| text.parse().ok());
        let is_young = born.is_some_and(|born| now.duration_since(born).unsigned_abs() < WINDOW);
        let has_node = nodes.iter().any(|node| metadata["name"] == node.name.as_str());
        is_young
            && !has_node
            && metadata["deletionTimestamp"].is_null()
            && status["nodeRef"].is_null()
            && status["errorReason"].is_null()
    })
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
    use landfall_assets::MachineRole;

    use super::*;

    fn machine(name: &str, born: &str) -> Value {
        json!({ "metadata": { "name": name, "creationTimestamp": born }, "status": {} })
    }

    #[test]
    fn a_master_is_awaited_until_it_has_come_and_not_for_ever() {
        let now: Timestamp = "2026-05-05T12:00:00Z".parse().unwrap();
        let awaited = |machine: &Value, nodes: &[ClusterNode]| is_awaited(&json!({ "items": [machine] }), nodes, now);
        let young = machine("m3", "2026-05-05T11:30:00Z");
        assert!(awaited(&young, &[]));
        let node =
            ClusterNode { name: "m3".into(), role: MachineRole::Master, addresses: vec![], pod_networks: vec![] };
        assert!(!awaited(&young, &[node]), "it has come");
        assert!(!awaited(&machine("m0", "2026-05-05T09:59:00Z"), &[]), "too long ago");
        for (path, value) in [
            ("/metadata/deletionTimestamp", json!("2026-05-05T11:40:00Z")),
            ("/status/nodeRef", json!({ "name": "m3" })),
            ("/status/errorReason", json!("InvalidConfiguration")),
        ] {
            let mut other = young.clone();
            let (parent, key) = path.rsplit_once('/').unwrap();
            other.pointer_mut(parent).unwrap()[key] = value;
            assert!(!awaited(&other, &[]), "{path}");
        }
        assert!(!is_awaited(&Value::Null, &[], now));
    }

    /// The whole way on a real API server: left by the bootstrap machine, served while a master is awaited.
    #[tokio::test]
    async fn a_master_is_served_while_it_is_awaited_on_a_real_api_server() {
        let dir = tempfile::tempdir().unwrap();
        let pki = authority_files(dir.path());
        let (_plane, access) = crate::testing::real_api(dir.path());
        let discovery = Discovery { token: "new.token".to_owned(), pins: Vec::new() };
        let read = async || Successors::read(&access, &discovery, &pki).await.unwrap();
        assert!(!read().await.admits("secret"), "nothing was left");
        // printf secret | sha256sum
        let digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
        leave(&access, base().as_bytes(), digest).await.unwrap();
        leave(&access, b"another", digest).await.unwrap();
        let idle = read().await;
        assert!(idle.admits("secret") && !idle.admits("wrong"));
        assert_eq!(idle.config(Instant::now()), None, "nobody is awaited, and there are not even definitions");

        for kind in landfall_machine_api::Kind::ALL {
            let definition = landfall_machine_api::definition(kind, None);
            let name = definition["metadata"]["name"].as_str().unwrap().to_owned();
            let path = format!("apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
            access.apply("defining machines", &path, &definition).await.unwrap();
        }
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } });
        access.apply("making a namespace", &format!("api/v1/namespaces/{NAMESPACE}"), &namespace).await.unwrap();
        let name = "demo-x7k2p-master-9";
        let machine = json!({
            "apiVersion": format!("{GROUP}/{VERSION}"), "kind": "Machine",
            "metadata": { "name": name, "namespace": NAMESPACE, "labels": { ROLE_LABEL: ROLE } },
            "spec": { "providerSpec": { "value": { "kind": "Any" } } },
        });
        let path = format!("apis/{GROUP}/{VERSION}/namespaces/{NAMESPACE}/machines/{name}");
        // New definitions are served after a moment.
        let mut made = access.apply("making a machine", &path, &machine).await;
        for _ in 0..100 {
            if made.is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
            made = access.apply("making a machine", &path, &machine).await;
        }
        made.unwrap();
        let served = read().await.config(Instant::now()).expect("a master is awaited");
        assert!(String::from_utf8_lossy(&served).contains("/etc/landfall/authorities/etcd/ca.key"));

        let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name } });
        access.apply("joining", &format!("api/v1/nodes/{name}"), &node).await.unwrap();
        assert_eq!(read().await.config(Instant::now()), None, "it has come");
    }

    #[test]
    fn word_of_an_awaited_master_ends() {
        let asked = Instant::now();
        let mut known = Successors { tokens: None, config: Some((Bytes::from_static(b"keys"), asked)) };
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
