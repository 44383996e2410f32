//! The administrator's kubeconfig, as Landfall writes it.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

use crate::Error;

/// How to reach a cluster, and as whom.
#[derive(Debug)]
pub struct Kubeconfig {
    /// The API.
    pub server: Url,
    /// CA certificates in PEM form.
    pub authority: String,
    /// Client certificate in PEM form.
    pub certificate: String,
    /// Client key in PEM form.
    pub key: SecretString,
}

#[derive(Deserialize)]
struct Document {
    clusters: Vec<NamedCluster>,
    users: Vec<NamedUser>,
}

#[derive(Deserialize)]
struct NamedCluster {
    cluster: Cluster,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Cluster {
    server: Url,
    certificate_authority_data: String,
}

#[derive(Deserialize)]
struct NamedUser {
    user: User,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct User {
    client_certificate_data: String,
    client_key_data: String,
}

impl Kubeconfig {
    /// Reads a kubeconfig with one cluster and one user, their certificates inside.
    pub fn read(text: &str) -> Result<Self, Error> {
        let document: Document = serde_saphyr::from_str(text)
            .map_err(|_| Error::Kubeconfig("it is not YAML of the expected form".to_owned()))?;
        let missing = |what: &str| Error::Kubeconfig(format!("it names no {what}"));
        let cluster = document.clusters.into_iter().next().ok_or_else(|| missing("cluster"))?.cluster;
        let user = document.users.into_iter().next().ok_or_else(|| missing("user"))?.user;
        Ok(Self {
            server: cluster.server,
            authority: decode(&cluster.certificate_authority_data, "certificate-authority-data")?,
            certificate: decode(&user.client_certificate_data, "client-certificate-data")?,
            key: decode(&user.client_key_data, "client-key-data")?.into(),
        })
    }
}

fn decode(text: &str, field: &str) -> Result<String, Error> {
    let bytes = STANDARD.decode(text.trim()).map_err(|_| Error::Kubeconfig(format!("{field} is not base64")))?;
    String::from_utf8(bytes).map_err(|_| Error::Kubeconfig(format!("{field} is not PEM")))
}
