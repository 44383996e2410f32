//! The platform's credentials, for the machine controller.

use std::collections::BTreeMap;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};

use super::{Manifest, machine_namespace};
use crate::Cluster;

/// A platform's credentials as the keys of a Secret, for example `ovirt_url`. They come from the user's credential file.
pub type Credentials = BTreeMap<String, String>;

/// Name of the Secret, which machine objects refer to.
pub(super) fn secret_name(cluster: &Cluster<'_>) -> String {
    format!("{}-credentials", cluster.config.platform.name())
}

/// The Secret with the credentials.
pub(crate) fn credentials_secret(cluster: &Cluster<'_>, credentials: &Credentials) -> Manifest {
    let data = credentials.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let object = secret(&secret_name(cluster), machine_namespace(cluster.config.distribution), data);
    Manifest::private("20-credentials.yaml", vec![object])
}

/// A Secret with text values.
pub(super) fn secret<'a>(name: &str, namespace: &str, data: impl IntoIterator<Item = (&'a str, &'a str)>) -> Value {
    let data: Map<String, Value> =
        data.into_iter().map(|(key, value)| (key.to_owned(), BASE64_STANDARD.encode(value).into())).collect();
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": { "name": name, "namespace": namespace },
        "type": "Opaque",
        "data": data,
    })
}
