//! `landfall-node bootstrap`: the first control plane, and the pivot to the masters.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::client::Client;
use super::kubeadm::{self, API_SERVER_MANIFEST, ApiServerManifest, KUBELET_CONFIG, KubeletConfig};
use super::{Host, api_server, manifests};
use crate::guests::console::chain;
use crate::guests::facts::{Bootstrap, ClusterConfiguration, Facts, InitConfiguration};
use crate::guests::kube::Store;
use crate::guests::pki;

/// Left when the control plane has moved to the masters.
pub(super) const DONE: &str = "/var/lib/landfall/bootstrap.done";
/// What the config server tells those who ask how far the machine is.
pub(super) const PROGRESS: &str = "/var/lib/landfall/progress.json";
/// Name and group of the client that needs no permission.
const ADMIN: (&str, &str) = ("kubernetes-super-admin", "system:masters");

/// Brings up the control plane, waits for the masters, and hands it over to them.
pub(super) async fn run(host: Host) {
    let plan = host.persist("landfall-node bootstrap", async || Plan::read(&host)).await;
    host.persist("landfall-node bootstrap", async || plan.initialise(&host)).await;
    let local = format!("{}:{}", host.address, plan.facts.api.port);
    let client = host.persist("landfall-node bootstrap", async || plan.admin(&host, &local)).await;
    let directory = &plan.bootstrap.manifests;
    host.persist("landfall-node bootstrap", async || manifests::apply(&host, &client, directory).await).await;
    host.console.print(format!("landfall-node bootstrap: applied {directory}"));

    tell(&host, "running");

    plan.masters(&host).await;
    host.console.print(format!("landfall-node bootstrap: {} masters are ready, handing over", plan.bootstrap.masters));
    host.retired.cancel();
    let client = host.persist("landfall-node bootstrap", async || plan.admin(&host, &plan.facts.api.endpoint)).await;
    host.persist("landfall-node bootstrap", async || plan.complete(&client).await).await;
    for path in [API_SERVER_MANIFEST, KUBELET_CONFIG] {
        host.system.remove(path);
    }
    host.system.set_etcd(None);
    tell(&host, "done");
    host.system.write(DONE, "");
    host.console.print("landfall-node bootstrap: complete");
    host.agent.report();
}

/// Tells how far the machine is, as far as it is modelled, and its SSH host keys.
fn tell(host: &Host, state: &str) {
    let masters = json!({ "id": "masters", "title": "masters in the cluster", "state": state });
    let status = if state == "done" { "complete" } else { "progressing" };
    let progress = json!({ "status": status, "steps": [masters], "sshHostKeys": [ssh_host_key(&host.hostname)] });
    host.system.write(PROGRESS, progress.to_string());
}

/// The key of a machine of this name, in the form of RFC 8709.
fn ssh_host_key(hostname: &str) -> String {
    const KIND: &str = "ssh-ed25519";
    let mut key = Vec::new();
    for part in [KIND.as_bytes(), Sha256::digest(hostname).as_slice()] {
        key.extend(u32::try_from(part.len()).unwrap_or_default().to_be_bytes());
        key.extend(part);
    }
    format!("{KIND} {}", STANDARD.encode(key))
}

/// What the machine's files say.
struct Plan {
    facts: Facts,
    bootstrap: Bootstrap,
    init: InitConfiguration,
    cluster: ClusterConfiguration,
    node: String,
    ca: (String, String),
}

impl Plan {
    fn read(host: &Host) -> Result<Self, String> {
        let facts = host.facts()?;
        let bootstrap = facts.bootstrap.clone().ok_or("node.json is not that of a bootstrap machine")?;
        let init: InitConfiguration = facts.kubeadm(&host.system, "InitConfiguration")?;
        let cluster: ClusterConfiguration = facts.kubeadm(&host.system, "ClusterConfiguration")?;
        // Without its key kubeadm would take the CA for one that somebody else signs with, and stop.
        api_server::authority(host, &cluster.certificates_dir)?;
        let text = |name: &str| host.system.text(&format!("{}/{name}", cluster.certificates_dir));
        let ca = (text("ca.crt")?, text("ca.key")?);
        let node = init.node_registration.name.clone().unwrap_or_else(|| host.hostname.clone());
        Ok(Self { facts, bootstrap, init, cluster, node, ca })
    }

    /// What `kubeadm init` does: etcd, the control plane's manifests, the kubelet's configuration. Once is enough.
    fn initialise(&self, host: &Host) -> Result<(), String> {
        if host.system.etcd().is_none() {
            let failed = |error: pki::PkiError| chain(&error);
            let store = host.clusters.found(&pki::pin(&self.ca.0).map_err(failed)?);
            kubeadm::furnish(&store, &self.init, &self.cluster, (&self.ca.0, &self.ca.1)).map_err(failed)?;
            host.system.set_etcd(Some(store));
        }
        let mut names = self.cluster.api_server.cert_sans.clone();
        names.extend(pki::api_server_names(&host.hostname, host.address, &self.cluster.control_plane_endpoint));
        let port = self.facts.api.port;
        let manifest = ApiServerManifest { port, names, pki: self.cluster.certificates_dir.clone() };
        let kubelet = KubeletConfig {
            node: self.node.clone(),
            endpoint: format!("{}:{port}", host.address),
            ca: self.ca.0.clone(),
            token: None,
            taints: self.init.node_registration.taints.clone().unwrap_or_default(),
        };
        let text = |value: serde_json::Result<String>| value.map_err(|error| error.to_string());
        host.system.write(API_SERVER_MANIFEST, text(serde_json::to_string(&manifest))?);
        host.system.write(KUBELET_CONFIG, text(serde_json::to_string(&kubelet))?);
        host.note(|progress| progress.configured = true);
        Ok(())
    }

    /// A client with all rights.
    fn admin(&self, host: &Host, endpoint: &str) -> Result<Client, String> {
        let authority = api_server::authority(host, &self.cluster.certificates_dir)?;
        let identity = authority.issue_client(ADMIN.0, ADMIN.1).map_err(|error| chain(&error))?;
        let tls = pki::client(&self.ca.0, Some(identity)).map_err(|error| chain(&error))?;
        Ok(Client { link: host.link.clone(), endpoint: endpoint.to_owned(), tls, token: None })
    }

    /// Waits until all masters are ready.
    async fn masters(&self, host: &Host) {
        let Some(store) = host.system.etcd() else { return };
        let mut revisions = store.revisions();
        while ready_masters(&store, &self.node) < self.bootstrap.masters {
            // The store has the sender, so waiting cannot fail.
            let _ = revisions.changed().await;
        }
    }

    /// Removes this machine's node and says, through the endpoint that a master holds by now, that all is done.
    async fn complete(&self, client: &Client) -> Result<(), String> {
        client.delete(&format!("/api/v1/nodes/{}", self.node)).await?;
        let maps = "/api/v1/namespaces/kube-system/configmaps";
        let map = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": { "name": "bootstrap", "namespace": "kube-system" },
            "data": { "status": "complete" },
        });
        if !client.create(maps, &map).await? {
            client.patch(&format!("{maps}/bootstrap"), &json!({ "data": { "status": "complete" } })).await?;
        }
        Ok(())
    }
}

/// How many nodes other than `own` run a control plane and are ready.
fn ready_masters(store: &Store, own: &str) -> usize {
    let is_ready = |node: &Value| {
        let conditions = node.pointer("/status/conditions").and_then(Value::as_array);
        conditions.into_iter().flatten().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
    };
    let is_master = |node: &Value| {
        node["metadata"]["name"] != own
            && node.pointer("/metadata/labels/node-role.kubernetes.io~1control-plane").is_some()
    };
    store.list("", "nodes", None).0.iter().filter(|node| is_master(node) && is_ready(node)).count()
}
