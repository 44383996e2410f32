//! The pods of Deployments, on the machines of the control plane: as many as are asked for, on one machine each.

use std::collections::BTreeSet;
use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::kubeadm::ApiServerManifest;
use super::{Host, api_server};
use crate::guests::console::chain;
use crate::guests::pki::Identity;
use crate::guests::pods::Pod;

/// Runs the pods that find a place on this machine, until it is off.
pub(super) async fn run(host: Host, manifest: ApiServerManifest) {
    let Some(store) = host.system.etcd() else { return };
    let mut revisions = store.revisions();
    let mut known = BTreeSet::new();
    let mut pods = JoinSet::new();
    loop {
        for deployment in store.list("apps", "deployments", None).0 {
            if known.insert(deployment["metadata"]["uid"].to_string()) {
                pods.spawn(keep(host.clone(), manifest.clone(), deployment));
            }
        }
        // The store has the sender, so waiting cannot fail.
        let _ = revisions.changed().await;
    }
}

/// Runs one pod of a Deployment here once there is a place for it, again and again.
async fn keep(host: Host, manifest: ApiServerManifest, deployment: Arc<Value>) {
    let uid = deployment["metadata"]["uid"].as_str().unwrap_or_default();
    let replicas = deployment.pointer("/spec/replicas").and_then(Value::as_u64).unwrap_or(1);
    let Ok(_place) = host.clusters.places(uid, replicas).acquire_owned().await else { return };
    let name = deployment["metadata"]["name"].as_str().unwrap_or_default();
    host.persist(name, async || {
        let pod = pod(&host, &manifest, &deployment)?;
        match host.programs.start(pod) {
            // A program that nobody brought is not there, and not missed.
            None => Ok(()),
            Some(program) => Err(program.await.err().unwrap_or_else(|| "it has ended".to_owned())),
        }
    })
    .await;
}

fn pod(host: &Host, manifest: &ApiServerManifest, deployment: &Value) -> Result<Pod, String> {
    let text = |path: &str| deployment.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (name, namespace) = (text("/metadata/name"), text("/metadata/namespace"));
    let container = deployment.pointer("/spec/template/spec/containers/0").unwrap_or(&Value::Null);
    let words = |field: &str| container[field].as_array().into_iter().flatten().filter_map(Value::as_str);
    let address = host.address.to_string();
    Ok(Pod {
        command: words("command").chain(words("args")).map(|word| word.replace("127.0.0.1", &address)).collect(),
        kubeconfig: kubeconfig(host, manifest)?,
        name: format!("{name}-{}", host.hostname),
        namespace,
        address: host.address,
        speed: host.times.speed,
    })
}

/// The way to the API server beside the pod. What service accounts may do is not modelled.
fn kubeconfig(host: &Host, manifest: &ApiServerManifest) -> Result<String, String> {
    let authority = api_server::authority(host, &manifest.pki)?;
    let identity = authority.issue_client("landfall:pod", "system:masters").map_err(|error| chain(&error))?;
    let ca = host.system.text(&format!("{}/ca.crt", manifest.pki))?;
    let Identity { certificate, key } = identity;
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "pod",
        "clusters": [{ "name": "own", "cluster": {
            "server": format!("https://{}:{}", host.address, manifest.port),
            "certificate-authority-data": STANDARD.encode(ca),
        } }],
        "users": [{ "name": "pod", "user": {
            "client-certificate-data": STANDARD.encode(pem("CERTIFICATE", &certificate)),
            "client-key-data": STANDARD.encode(pem("PRIVATE KEY", key.secret_der())),
        } }],
        "contexts": [{ "name": "pod", "context": { "cluster": "own", "user": "pod" } }],
    });
    Ok(config.to_string())
}

fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}
