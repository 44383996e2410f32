//! The kubelet: registers the machine as a node, reports its state, and runs the control plane where it is told to.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::client::Client;
use super::kubeadm::{API_SERVER_MANIFEST, ApiServerManifest, KUBELET_CONFIG, KubeletConfig, ready_condition};
use super::{Host, api_server, pods};
use crate::guests::console::chain;
use crate::guests::kube::{Key, Store};
use crate::guests::pki;

/// Runs until the machine is off, once something has configured it.
pub(super) async fn run(host: Host, has_runtime: bool) {
    host.note(|progress| progress.configured |= host.system.file(KUBELET_CONFIG).is_some());
    host.until(|progress| progress.configured).await;
    let config: KubeletConfig = host.persist("kubelet", async || read(&host, KUBELET_CONFIG)).await;

    let mut running = JoinSet::new();
    let is_master = host.system.file(API_SERVER_MANIFEST).is_some();
    if is_master {
        let manifest: ApiServerManifest = host.persist("kubelet", async || read(&host, API_SERVER_MANIFEST)).await;
        running.spawn(api_server::run(host.clone(), manifest));
    }

    let client = host.persist("kubelet", async || client(&host, &config)).await;
    let boot = uuid::Uuid::new_v4().to_string();
    let status = status(&host, &boot);
    host.persist("kubelet", async || register(&client, &node(&config, is_master, &status)).await).await;
    host.console.print(format!("kubelet: registered as {}", config.node));
    let _heartbeat = Heartbeat::new(&host, &config, boot);
    host.note(|progress| progress.registered = true);

    tokio::time::sleep(host.times.scaled(host.times.ready)).await;
    if has_runtime {
        let ready = ready_condition("True", "KubeletReady", "kubelet is posting ready status");
        let path = format!("/api/v1/nodes/{}/status", config.node);
        let change = json!({ "status": { "conditions": [ready] } });
        let report = host.persist("kubelet", async || client.patch(&path, &change).await);
        if Box::pin(host.retired.run_until_cancelled(report)).await.is_some() {
            host.console.print("kubelet: ready");
            host.agent.report();
            if let Ok(manifest) = read::<ApiServerManifest>(&host, API_SERVER_MANIFEST)
                && !is_temporary(&host)
            {
                running.spawn(pods::run(host.clone(), manifest));
            }
        }
    } else {
        host.console.print("kubelet: no container runtime is enabled on this machine");
    }
    host.retired.cancelled().await;
    // The pods get to finish what is in flight.
    while running.join_next().await.is_some() {}
}

/// Whether the machine is the bootstrap machine, which takes no pods: it is about to go.
fn is_temporary(host: &Host) -> bool {
    host.facts().is_ok_and(|facts| facts.bootstrap.is_some())
}

fn read<T: serde::de::DeserializeOwned>(host: &Host, path: &str) -> Result<T, String> {
    serde_json::from_str(&host.system.text(path)?).map_err(|error| format!("cannot read {path}: {error}"))
}

fn client(host: &Host, config: &KubeletConfig) -> Result<Client, String> {
    let identity = if config.token.is_some() {
        None
    } else {
        let manifest: ApiServerManifest = read(host, API_SERVER_MANIFEST)?;
        let authority = api_server::authority(host, &manifest.pki)?;
        let own = authority.issue_client(&format!("system:node:{}", config.node), "system:nodes");
        Some(own.map_err(|error| chain(&error))?)
    };
    let tls = pki::client(&config.ca, identity).map_err(|error| chain(&error))?;
    let link = host.link.clone();
    Ok(Client { link, endpoint: config.endpoint.clone(), tls, token: config.token.clone() })
}

/// Adds the node, or takes up the one of an earlier boot.
async fn register(client: &Client, node: &Value) -> Result<(), String> {
    if client.create("/api/v1/nodes", node).await? {
        return Ok(());
    }
    let name = node["metadata"]["name"].as_str().unwrap_or_default();
    let mut change = json!({ "status": node["status"] });
    // Two addresses of one kind cannot be told apart by their key.
    if let Some(addresses) = change["status"]["addresses"].as_array_mut() {
        addresses.push(json!({ "$patch": "replace" }));
    }
    client.patch(&format!("/api/v1/nodes/{name}/status"), &change).await
}

fn node(config: &KubeletConfig, is_master: bool, status: &Value) -> Value {
    let mut labels = json!({
        "kubernetes.io/hostname": config.node,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
    });
    if is_master {
        labels["node-role.kubernetes.io/control-plane"] = "".into();
    }
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": { "name": config.node, "labels": labels },
        "spec": { "taints": config.taints },
        "status": status,
    })
}

fn status(host: &Host, boot: &str) -> Value {
    let memory = format!("{}Mi", host.memory_mib);
    let own = host.own_addresses.iter().map(|address| json!({ "type": "InternalIP", "address": address }));
    let name = json!({ "type": "Hostname", "address": host.hostname });
    let resources = json!({ "cpu": host.cpus.to_string(), "memory": memory, "pods": "110" });
    json!({
        "capacity": resources,
        "allocatable": resources,
        "addresses": own.chain([name]).collect::<Vec<_>>(),
        "conditions": [ready_condition("False", "KubeletNotReady", "container runtime network not ready")],
        "nodeInfo": {
            "architecture": "amd64",
            "operatingSystem": "linux",
            "osImage": "Landfall light guest",
            "kubeletVersion": kubelet_version(host),
            "bootID": boot,
        },
    })
}

/// The version of the kubelet that the machine's config has it download.
fn kubelet_version(host: &Host) -> String {
    let downloads = host.system.downloads();
    let archive = downloads.iter().find(|url| url.contains("kubernetes-node"));
    let is_version =
        |segment: &&str| segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    archive.and_then(|url| url.split('/').find(is_version)).unwrap_or("unknown").to_owned()
}

/// A node whose kubelet falls silent is taken for lost after a while. Thousands of kubelets that report every ten seconds
/// would do nothing but that, so the silence itself is noticed.
struct Heartbeat {
    host: Host,
    node: String,
    boot: String,
    pin: Option<String>,
}

impl Heartbeat {
    fn new(host: &Host, config: &KubeletConfig, boot: String) -> Self {
        Self { host: host.clone(), node: config.node.clone(), boot, pin: pki::pin(&config.ca).ok() }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        let Some(store) = self.pin.as_ref().and_then(|pin| self.host.clusters.find(pin)) else { return };
        let grace = self.host.times.scaled(self.host.times.lost);
        let (node, boot) = (self.node.clone(), self.boot.clone());
        // The store must not live on for this alone.
        let store = Arc::downgrade(&store);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                tokio::time::sleep(grace).await;
                if let Some(store) = store.upgrade() {
                    lose(&store, &node, &boot);
                }
            });
        }
    }
}

/// Marks a node as lost, unless its machine has booted again meanwhile.
fn lose(store: &Store, node: &str, boot: &str) {
    let lost = ready_condition("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.");
    // A node that is gone needs no mark.
    let _ = store.change(&Key::core("nodes", "", node), |old| {
        let mut new = old.clone();
        if new["status"]["nodeInfo"]["bootID"] == boot {
            new["status"]["conditions"] = json!([lost]);
        }
        new
    });
}
