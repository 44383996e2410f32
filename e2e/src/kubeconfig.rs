//! The administrator's kubeconfig, as a TLS client needs it.

use std::path::Path;

use anyhow::Context as _;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;

/// Who the API is, and who the administrator is.
pub(crate) struct Credentials {
    pub(crate) authority: String,
    pub(crate) certificate: String,
    pub(crate) key: String,
}

#[derive(Deserialize)]
struct Kubeconfig {
    clusters: Vec<NamedCluster>,
    users: Vec<NamedUser>,
}

#[derive(Deserialize)]
struct NamedCluster {
    cluster: ClusterEntry,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct ClusterEntry {
    certificate_authority_data: String,
}

#[derive(Deserialize)]
struct NamedUser {
    user: UserEntry,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct UserEntry {
    client_certificate_data: String,
    client_key_data: String,
}

impl Credentials {
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let config: Kubeconfig = serde_saphyr::from_str(&text).context("cannot read the kubeconfig")?;
        let cluster = &config.clusters.first().context("the kubeconfig has no cluster")?.cluster;
        let user = &config.users.first().context("the kubeconfig has no user")?.user;
        let decode = |data: &str| anyhow::Ok(String::from_utf8(STANDARD.decode(data)?)?);
        Ok(Self {
            authority: decode(&cluster.certificate_authority_data)?,
            certificate: decode(&user.client_certificate_data)?,
            key: decode(&user.client_key_data)?,
        })
    }
}
