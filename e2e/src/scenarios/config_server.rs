//! Who gets a config, and who does not.

use std::io::Read as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use futures::future::join_all;
use hmac::{Hmac, Mac as _};
use serde_json::Value;
use sha2::Sha256;

use crate::cluster::{Cluster, config_server};
use crate::waiting::until;

/// Machines that boot at once.
const CROWD: usize = 1000;
/// What a machine joins with.
const KUBEADM: &str = "/etc/landfall/kubeadm.yaml";

/// Authority and credential with which a machine asks.
struct Pointer {
    authority: String,
    token: String,
}

impl Pointer {
    /// Returns the pointer of a machine, or of one that would be created from an object with this uid.
    fn read(cluster: &Cluster<'_>, role: &str, subject: &str) -> anyhow::Result<Self> {
        let path = cluster.file(&format!("{role}.ign"));
        let config: Value = serde_json::from_slice(&std::fs::read(&path)?)?;
        ensure!(!config.to_string().contains("Authorization"), "what all machines have in common opens something");
        let authority = config["ignition"]["security"]["tls"]["certificateAuthorities"][0]["source"].as_str();
        let authority = inline(authority.context("the pointer config pins no authority")?)?;
        let tokens: Value = serde_json::from_slice(&std::fs::read(cluster.file(".landfall/secrets/tokens.json"))?)?;
        let root = tokens["machine"][role].as_str().context("the role has no root")?;
        let mut mac = Hmac::<Sha256>::new_from_slice(root.as_bytes())?;
        mac.update(subject.as_bytes());
        Ok(Self { authority, token: format!("Bearer {subject}.{:x}", mac.finalize().into_bytes()) })
    }

    /// What a machine with this pointer gets.
    async fn fetch(&self, role: &str) -> anyhow::Result<Value> {
        let headers =
            [("accept", "application/vnd.coreos.ignition+json;version=3.3.0"), ("authorization", self.token.as_str())];
        let answer = config_server(&self.authority)?.send("GET", &format!("/config/{role}"), &headers, "").await?;
        ensure!(answer.status == 200, "a {role} got {}", answer.status);
        Ok(serde_json::from_slice(&answer.body)?)
    }
}

/// A worker of which there is nothing but its object: the machine controller is not running, so it makes no machine from it.
struct Newcomer<'a> {
    cluster: &'a Cluster<'a>,
    pointer: Pointer,
}

const NEWCOMER: &str = "newcomer";
const SYSTEM: &str = "--namespace=landfall-system";
const CONTROLLER: &str = "deployment/landfall-machine-controller";

impl<'a> Newcomer<'a> {
    async fn announce(cluster: &'a Cluster<'a>) -> anyhow::Result<Self> {
        scale_controller(cluster, 0).await?;
        match Self::create(cluster).await {
            Ok(newcomer) => Ok(newcomer),
            Err(error) => {
                scale_controller(cluster, 2).await?;
                Err(error)
            }
        }
    }

    /// Creates the object, with the provider spec of the workers' set.
    async fn create(cluster: &'a Cluster<'a>) -> anyhow::Result<Self> {
        let gone =
            ["wait", SYSTEM, "--for=delete", "pod", "--selector=app=landfall-machine-controller", "--timeout=60s"];
        cluster.kubectl(&gone).await?;
        let sets = cluster.kubectl(&["get", SYSTEM, "machinesets.machine.openshift.io", "--output=json"]).await?;
        let sets: Value = serde_json::from_str(&sets)?;
        let machine = serde_json::json!({
            "apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine",
            "metadata": { "name": NEWCOMER, "namespace": "landfall-system",
                "labels": { "machine.openshift.io/cluster-api-machine-role": "worker" } },
            "spec": { "providerSpec": sets["items"][0]["spec"]["template"]["spec"]["providerSpec"] },
        });
        cluster.apply(&machine.to_string()).await?;
        let get = ["get", SYSTEM, "machines.machine.openshift.io", NEWCOMER, "--output=jsonpath={.metadata.uid}"];
        let uid = cluster.kubectl(&get).await?;
        let pointer = Pointer::read(cluster, "worker", &format!("{NEWCOMER}/{}", uid.trim()))?;
        Ok(Self { cluster, pointer })
    }

    async fn forget(self) -> anyhow::Result<()> {
        self.cluster.kubectl(&["delete", SYSTEM, "machines.machine.openshift.io", NEWCOMER]).await?;
        scale_controller(self.cluster, 2).await
    }
}

async fn scale_controller(cluster: &Cluster<'_>, replicas: u32) -> anyhow::Result<()> {
    cluster.kubectl(&["scale", SYSTEM, CONTROLLER, &format!("--replicas={replicas}")]).await.map(drop)
}

/// Runs a part of a scenario with the credential of a worker that is awaited. The machine controller runs again afterwards, also if the part
/// failed: later scenarios need it.
async fn as_newcomer<'a>(
    cluster: &'a Cluster<'a>,
    part: impl AsyncFnOnce(&Pointer) -> anyhow::Result<String>,
) -> anyhow::Result<String> {
    let newcomer = Newcomer::announce(cluster).await?;
    let result = part(&newcomer.pointer).await;
    newcomer.forget().await?;
    result
}

/// The text in a data URL, as Ignition reads it.
fn inline(url: &str) -> anyhow::Result<String> {
    let url = data_url::DataUrl::process(url).map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let (bytes, _) = url.decode_to_vec().map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let mut text = String::new();
    match flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(_) => Ok(String::from_utf8(bytes)?),
    }
}

/// The file of a config that begins like this, with its contents.
fn file(config: &Value, path: &str) -> anyhow::Result<String> {
    let files = config["storage"]["files"].as_array().context("the config has no files")?;
    let file = files.iter().find(|file| file["path"] == path).with_context(|| format!("no {path} is served"))?;
    inline(file["contents"]["source"].as_str().unwrap_or_default())
}

/// The id of the token with which a worker would join.
fn join_token(config: &Value) -> anyhow::Result<String> {
    let text = file(config, KUBEADM)?;
    // One JSON document a line, or YAML as the installer wrote it: the token is behind its name in both.
    let (_, rest) =
        text.split_once("token\":\"").or_else(|| text.split_once("token: ")).context("no token is served")?;
    Ok(rest.chars().take_while(char::is_ascii_alphanumeric).collect())
}

/// What is served follows the cluster: a token that was revoked is replaced by one that is valid, and an administrator's own
/// config is served in the place of the installer's.
pub(crate) async fn current(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    as_newcomer(cluster, async |worker| current_as(cluster, worker).await).await
}

async fn current_as(cluster: &Cluster<'_>, worker: &Pointer) -> anyhow::Result<String> {
    let before = worker.fetch("worker").await?;
    let type_of_tokens = "--field-selector=type=bootstrap.kubernetes.io/token";
    cluster.kubectl(&["delete", "secrets", "--namespace=kube-system", type_of_tokens]).await?;
    let began = Instant::now();
    let (old, new) = until("a token that is valid", Duration::from_mins(1), || async {
        let (old, new) = (join_token(&before)?, join_token(&worker.fetch("worker").await?)?);
        ensure!(old != new, "the revoked token {old} is handed out");
        cluster.kubectl(&["get", "secret", "--namespace=kube-system", &format!("bootstrap-token-{new}")]).await?;
        Ok((old, new))
    })
    .await?;
    let replaced = began.elapsed().as_secs_f64();

    let mut own = before;
    let added = serde_json::json!({ "path": "/etc/motd", "contents": { "source": "data:,ours" }, "overwrite": true });
    own["storage"]["files"].as_array_mut().context("the config has no files")?.push(added);
    let path = cluster.lab.home().join("worker.ign");
    std::fs::write(&path, own.to_string())?;
    let from = format!("--from-file=config.ign={}", path.display());
    let secret = ["secret", "landfall-config-worker", "--namespace=kube-system"];
    cluster.kubectl(&[&["create", "secret", "generic"], &secret[1..], &[from.as_str()]].concat()).await?;
    until("the administrator's own config", Duration::from_mins(1), || async {
        let served = worker.fetch("worker").await?;
        ensure!(file(&served, "/etc/motd")? == "ours", "another file is served");
        ensure!(join_token(&served)? == new, "a token from before is served");
        Ok(())
    })
    .await?;
    cluster.kubectl(&[&["delete"], &secret[..]].concat()).await?;
    until("the installer's config again", Duration::from_mins(1), || async {
        ensure!(file(&worker.fetch("worker").await?, "/etc/motd").is_err(), "the deleted config is served");
        Ok(())
    })
    .await?;
    Ok(format!(
        "token {old} was deleted, {new} was handed out {replaced:.1} s later; a config of the user's own was served"
    ))
}

/// Machines without a credential of their own get nothing, nor do machines that run; one that is awaited gets its config.
pub(crate) async fn refusals(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    as_newcomer(cluster, async |worker| refusals_as(cluster, worker).await).await
}

async fn refusals_as(cluster: &Cluster<'_>, worker: &Pointer) -> anyhow::Result<String> {
    let nodes = cluster.ready_nodes().await?;
    let node =
        |role: &str| nodes.iter().find(|name| name.contains(role)).with_context(|| format!("no {role} is ready"));
    let master = Pointer::read(cluster, "master", node("-master-")?)?;
    let running = Pointer::read(cluster, "worker", node("-worker-")?)?;
    let unknown = Pointer::read(cluster, "worker", "unknown/00000000-0000-4000-8000-000000000000")?;
    let client = config_server(&worker.authority)?;
    let accept = ("accept", "application/vnd.coreos.ignition+json;version=3.3.0, */*;q=0.1");
    let good = client.send("GET", "/config/worker", &[accept, ("authorization", &worker.token)], "").await?;
    ensure!(good.status == 200 && serde_json::from_slice::<Value>(&good.body).is_ok(), "a worker got {}", good.status);

    let wrong = "Bearer 0000000000000000000000000000000000000000000000000000000000000000";
    let trials: [(&str, &str, Option<&str>); 7] = [
        ("without a token", "worker", None),
        ("with a wrong token", "worker", Some(wrong)),
        ("a worker asking for a master's config", "master", Some(&worker.token)),
        ("a worker that runs", "worker", Some(&running.token)),
        ("a worker without an object", "worker", Some(&unknown.token)),
        ("a master while none is awaited", "master", Some(&master.token)),
        ("a master asking for a worker's config", "worker", Some(&master.token)),
    ];
    let mut refused = Vec::new();
    for (who, role, token) in trials {
        let mut headers = vec![accept];
        headers.extend(token.map(|token| ("authorization", token)));
        let answer = client.send("GET", &format!("/config/{role}"), &headers, "").await?;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        ensure!((400..600).contains(&answer.status), "{who}: got {}", answer.status);
        ensure!(!text.contains("ignition"), "{who}: got a config with the refusal");
        refused.push(format!("{who}: {}", answer.status));
    }
    // The engine's authority is a good one, but not the one that signs config servers.
    let other = config_server(&cluster.lab.authority()?)?;
    let answer = other.send("GET", "/config/worker", &[accept, ("authorization", &worker.token)], "").await;
    ensure!(answer.is_err(), "a machine that pins another authority was served");
    refused.push("another authority: no connection".to_owned());
    Ok(refused.join("; "))
}

/// A thousand fetches of a config at once.
pub(crate) async fn crowd(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    as_newcomer(cluster, async |worker| crowd_as(worker).await).await
}

async fn crowd_as(worker: &Pointer) -> anyhow::Result<String> {
    let client = config_server(&worker.authority)?.within(Duration::from_mins(1));
    let headers = [("accept", "application/vnd.coreos.ignition+json;version=3.3.0"), ("authorization", &worker.token)];
    let began = Instant::now();
    let answers = join_all((0..CROWD).map(|_| client.send("GET", "/config/worker", &headers, ""))).await;
    let took = began.elapsed();
    let mut sizes = Vec::new();
    for answer in answers {
        let answer = answer?;
        ensure!(answer.status == 200, "one of {CROWD} got {}", answer.status);
        sizes.push(answer.body.len());
    }
    ensure!(sizes.iter().all(|size| *size == sizes[0]), "configs of different sizes");
    Ok(format!("{CROWD} fetches of {} bytes in {:.1} s, none refused", sizes[0], took.as_secs_f64()))
}
