//! What a guest reads of the files that configs put on its disk: `node.json` and kubeadm's configuration.

use std::net::IpAddr;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::system::System;

/// Where `landfall-node` looks for what it must know.
pub(super) const NODE_FACTS: &str = "/etc/landfall/node.json";

/// What a machine knows about its cluster.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Facts {
    pub(super) format: u32,
    #[serde(default)]
    pub(super) role: String,
    pub(super) api: Api,
    pub(super) vips: Option<Vips>,
    pub(super) kubeadm: Option<String>,
    pub(super) config_server: Option<Served>,
    pub(super) boot_script: Option<BootScript>,
    pub(super) bootstrap: Option<Bootstrap>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Api {
    pub(super) endpoint: String,
    pub(super) port: u16,
    pub(super) config_server_port: u16,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Vips {
    pub(super) api: Vec<IpAddr>,
    pub(super) ingress: Vec<IpAddr>,
}

/// What a machine serves to others that boot.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Served {
    pub(super) certificate: String,
    pub(super) key: String,
    pub(super) roles: Vec<ServedRole>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ServedRole {
    #[serde(rename = "role")]
    pub(super) name: String,
    pub(super) config: String,
    pub(super) root: String,
}

/// What a machine serves to others whose firmware boots from the network.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct BootScript {
    pub(super) file: String,
    pub(super) port: u16,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Bootstrap {
    pub(super) manifests: String,
    pub(super) masters: usize,
}

impl Facts {
    /// Reads the facts on a disk.
    pub(super) fn read(system: &System) -> Result<Self, String> {
        let facts: Self = serde_json::from_str(&system.text(NODE_FACTS)?)
            .map_err(|error| format!("cannot read {NODE_FACTS}: {error}"))?;
        if facts.format != 1 {
            return Err(format!("{NODE_FACTS} has format {}, and 1 is read here", facts.format));
        }
        Ok(facts)
    }

    /// The document of a kind in the machine's kubeadm configuration.
    pub(super) fn kubeadm<T: DeserializeOwned>(&self, system: &System, kind: &str) -> Result<T, String> {
        let path = self.kubeadm.as_deref().ok_or_else(|| format!("{NODE_FACTS} names no kubeadm configuration"))?;
        let broken = |error: &dyn std::fmt::Display| format!("cannot read {path}: {error}");
        let documents: Vec<Value> = serde_saphyr::from_multiple(&system.text(path)?).map_err(|error| broken(&error))?;
        let found = documents.into_iter().find(|document| document["kind"] == kind);
        let found = found.ok_or_else(|| format!("there is no {kind} in {path}"))?;
        serde_json::from_value(found).map_err(|error| broken(&error))
    }
}

/// How a machine registers as a node.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct NodeRegistration {
    pub(super) name: Option<String>,
    pub(super) taints: Option<Vec<Value>>,
}

/// `kubeadm init`'s own settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitConfiguration {
    #[serde(default)]
    pub(super) bootstrap_tokens: Vec<BootstrapToken>,
    pub(super) certificate_key: Option<String>,
    #[serde(default)]
    pub(super) node_registration: NodeRegistration,
}

/// A token with which machines join.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct BootstrapToken {
    pub(super) token: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) ttl: String,
}

/// What all masters have in common.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClusterConfiguration {
    pub(super) kubernetes_version: String,
    pub(super) control_plane_endpoint: String,
    #[serde(default = "default_certificates_dir")]
    pub(super) certificates_dir: String,
    #[serde(default)]
    pub(super) api_server: ApiServerSettings,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApiServerSettings {
    #[serde(default, rename = "certSANs")]
    pub(super) cert_sans: Vec<String>,
}

fn default_certificates_dir() -> String {
    "/etc/kubernetes/pki".to_owned()
}

/// `kubeadm join`'s settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JoinConfiguration {
    pub(super) discovery: Discovery,
    #[serde(default)]
    pub(super) node_registration: NodeRegistration,
    pub(super) control_plane: Option<JoinControlPlane>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Discovery {
    pub(super) bootstrap_token: TokenDiscovery,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenDiscovery {
    pub(super) token: String,
    pub(super) api_server_endpoint: String,
    #[serde(default)]
    pub(super) ca_cert_hashes: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JoinControlPlane {
    pub(super) certificate_key: String,
}
