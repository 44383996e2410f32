//! The administrator's kubeconfig.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::json;

use crate::{Certificates, Cluster, Error, Secrets, cluster::API_PORT, yaml};

/// Name of cluster, user and context in it.
const USER: &str = "admin";

/// A kubeconfig for the API's public name, with the administrator's certificate in it.
pub(crate) fn admin(cluster: &Cluster<'_>, secrets: &Secrets, certificates: &Certificates) -> Result<String, Error> {
    let name = &cluster.config.metadata.name;
    let encoded = |pem: &str| BASE64_STANDARD.encode(pem);
    let document = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{
            "name": name,
            "cluster": {
                "server": format!("https://{}:{API_PORT}", cluster.api_name()),
                "certificate-authority-data": encoded(secrets.cluster_ca().certificate()),
            },
        }],
        "users": [{
            "name": USER,
            "user": {
                "client-certificate-data": encoded(&certificates.admin.pem),
                "client-key-data": encoded(&secrets.admin_key().to_pem()),
            },
        }],
        "contexts": [{ "name": USER, "context": { "cluster": name, "user": USER } }],
        "current-context": USER,
    });
    yaml::document("auth/kubeconfig", &document)
}
