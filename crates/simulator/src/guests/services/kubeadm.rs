//! What kubeadm leaves in the cluster and on a machine.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::core::clock::parse_duration;
use crate::guests::facts::{BootstrapToken, ClusterConfiguration, InitConfiguration};
use crate::guests::kube::{ADMIN_BINDING, Key, Store, now};
use crate::guests::pki::{CertificateKey, PkiError};

/// The kubelet's connection to the cluster.
pub(super) const KUBELET_CONFIG: &str = "/etc/kubernetes/kubelet.conf";
/// With this file the kubelet runs an API server.
pub(super) const API_SERVER_MANIFEST: &str = "/etc/kubernetes/manifests/kube-apiserver.yaml";

/// The kubelet's connection to the cluster, and how it registers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct KubeletConfig {
    pub(super) node: String,
    pub(super) endpoint: String,
    pub(super) ca: String,
    /// A bootstrap token; none on the first machine, which signs a certificate for itself.
    pub(super) token: Option<String>,
    pub(super) taints: Vec<Value>,
}

/// How the API server on a machine is run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ApiServerManifest {
    pub(super) port: u16,
    pub(super) names: Vec<String>,
    /// Directory with the authority.
    pub(super) pki: String,
}

/// Puts into an empty store what the API server and `kubeadm init` put there: namespaces, how to find and join the cluster,
/// the authorities for further masters, and who may do what.
pub(super) fn furnish(
    store: &Store,
    init: &InitConfiguration,
    cluster: &ClusterConfiguration,
    ca: (&str, &str),
) -> Result<(), PkiError> {
    let add = |key: Key, object: Value| drop(store.create(key, object));
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        let object = json!({ "apiVersion": "v1", "kind": "Namespace", "status": { "phase": "Active" } });
        add(Key::core("namespaces", "", name), object);
    }
    add(
        Key::core("configmaps", "kube-public", "cluster-info"),
        config_map(&json!({
            "kubeconfig": serde_saphyr::to_string(&json!({
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{ "name": "", "cluster": {
                    "server": format!("https://{}", cluster.control_plane_endpoint),
                    "certificate-authority-data": STANDARD.encode(ca.0),
                } }],
            })).unwrap_or_default(),
        })),
    );
    add(
        Key::core("configmaps", "kube-system", "kubeadm-config"),
        config_map(&json!({
            "ClusterConfiguration": serde_saphyr::to_string(&json!({
                "kind": "ClusterConfiguration",
                "kubernetesVersion": cluster.kubernetes_version,
                "controlPlaneEndpoint": cluster.control_plane_endpoint,
                "certificatesDir": cluster.certificates_dir,
                "apiServer": { "certSANs": cluster.api_server.cert_sans },
            })).unwrap_or_default(),
            "version": cluster.kubernetes_version,
        })),
    );
    for token in &init.bootstrap_tokens {
        if let Some((name, object)) = token_secret(token) {
            add(Key::core("secrets", "kube-system", &name), object);
        }
    }
    if let Some(key) = &init.certificate_key {
        let key = CertificateKey::parse(key)?;
        let sealed = |text: &str| key.seal(text).map(|bytes| STANDARD.encode(bytes));
        let data = json!({ "ca.crt": sealed(ca.0)?, "ca.key": sealed(ca.1)? });
        let object = json!({ "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": data });
        add(Key::core("secrets", "kube-system", "kubeadm-certs"), object);
    }
    add(
        Key::new("rbac.authorization.k8s.io", "clusterrolebindings", "", ADMIN_BINDING),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin" },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": ADMIN_BINDING }],
        }),
    );
    Ok(())
}

fn config_map(data: &Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": data })
}

fn token_secret(token: &BootstrapToken) -> Option<(String, Value)> {
    let (id, secret) = token.token.split_once('.')?;
    let mut data = json!({
        "token-id": STANDARD.encode(id),
        "token-secret": STANDARD.encode(secret),
        "description": STANDARD.encode(&token.description),
        "usage-bootstrap-authentication": STANDARD.encode("true"),
        "usage-bootstrap-signing": STANDARD.encode("true"),
    });
    let life = parse_duration(&token.ttl).ok().filter(|life| *life > Duration::ZERO);
    if let Some(end) = life.and_then(|life| jiff::Timestamp::now().checked_add(life).ok()) {
        data["expiration"] = STANDARD.encode(end.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()).into();
    }
    let object = json!({ "apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token", "data": data });
    Some((format!("bootstrap-token-{id}"), object))
}

/// A condition of a node, as a kubelet reports it.
pub(super) fn ready_condition(status: &str, reason: &str, message: &str) -> Value {
    json!({
        "type": "Ready",
        "status": status,
        "reason": reason,
        "message": message,
        "lastHeartbeatTime": now(),
        "lastTransitionTime": now(),
    })
}
