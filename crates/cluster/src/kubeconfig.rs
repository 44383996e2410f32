//! Kubeconfigs: the administrator's, as Landfall writes it, and those that kubeadm leaves on machines.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

use crate::Error;

/// How to reach a cluster, and as whom.
#[derive(Clone, Debug)]
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

// The names are those of the file.
#[allow(clippy::struct_field_names)]
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct User {
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
    client_certificate: Option<String>,
    client_key: Option<String>,
}

impl Kubeconfig {
    /// Reads a kubeconfig with one cluster and one user, their certificates inside.
    pub fn read(text: &str) -> Result<Self, Error> {
        Self::read_with(text, |path| Err(Error::Kubeconfig(format!("it refers to the file {path}"))))
    }

    /// Reads a kubeconfig of this machine. A kubelet's refers to files, which the kubelet exchanges when it renews its
    /// certificate, so it is to be read anew from time to time.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let file = |path: &Path| {
            std::fs::read_to_string(path)
                .map_err(|error| Error::Kubeconfig(format!("{} cannot be read: {error}", path.display())))
        };
        Self::read_with(&file(path)?, |referred| file(Path::new(referred)))
    }

    fn read_with(text: &str, file: impl Fn(&str) -> Result<String, Error>) -> Result<Self, Error> {
        let document: Document = serde_saphyr::from_str(text)
            .map_err(|_| Error::Kubeconfig("it is not YAML of the expected form".to_owned()))?;
        let missing = |what: &str| Error::Kubeconfig(format!("it names no {what}"));
        let cluster = document.clusters.into_iter().next().ok_or_else(|| missing("cluster"))?.cluster;
        let user = document.users.into_iter().next().ok_or_else(|| missing("user"))?.user;
        let pem = |data: Option<String>, path: Option<String>, field: &str| match (data, path) {
            (Some(data), _) => decode(&data, field),
            (None, Some(path)) => file(&path),
            (None, None) => Err(missing(field)),
        };
        Ok(Self {
            server: cluster.server,
            authority: decode(&cluster.certificate_authority_data, "certificate-authority-data")?,
            certificate: pem(user.client_certificate_data, user.client_certificate, "client-certificate-data")?,
            key: pem(user.client_key_data, user.client_key, "client-key-data")?.into(),
        })
    }
}

fn decode(text: &str, field: &str) -> Result<String, Error> {
    let bytes = STANDARD.decode(text.trim()).map_err(|_| Error::Kubeconfig(format!("{field} is not base64")))?;
    String::from_utf8(bytes).map_err(|_| Error::Kubeconfig(format!("{field} is not PEM")))
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    const KUBELET: &str = "apiVersion: v1
kind: Config
clusters: [{name: default, cluster: {server: 'https://192.0.2.5:6443', certificate-authority-data: Y2E=}}]
users: [{name: default, user: {client-certificate: PATH, client-key: PATH}}]
";

    #[test]
    fn a_kubelets_kubeconfig_refers_to_a_file_with_both() {
        let dir = tempfile::tempdir().unwrap();
        let (pem, kubeconfig) = (dir.path().join("client.pem"), dir.path().join("kubelet.conf"));
        std::fs::write(&pem, "certificate and key").unwrap();
        std::fs::write(&kubeconfig, KUBELET.replace("PATH", pem.to_str().unwrap())).unwrap();
        let read = Kubeconfig::load(&kubeconfig).unwrap();
        assert_eq!((read.authority.as_str(), read.certificate.as_str()), ("ca", "certificate and key"));
        assert_eq!(read.key.expose_secret(), "certificate and key");
    }

    #[test]
    fn one_from_elsewhere_must_not_refer_to_files() {
        let error = Kubeconfig::read(KUBELET).unwrap_err();
        assert_eq!(error.to_string(), "the kubeconfig is not understood: it refers to the file PATH");
    }
}
