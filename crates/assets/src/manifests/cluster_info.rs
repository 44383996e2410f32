//! What the cluster was installed from, kept in the cluster.

use landfall_config::InstallConfig;
use serde_json::json;
use url::Url;

use super::Manifest;
use crate::{Cluster, ClusterMetadata};

/// The object `kube-system/landfall` with the install-config, less its secrets, and the metadata, so that a cluster can be
/// destroyed and understood by somebody who does not have the install directory.
pub(crate) fn cluster_info(cluster: &Cluster<'_>, metadata: &ClusterMetadata) -> Manifest {
    let object = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": "landfall", "namespace": "kube-system" },
        "data": {
            "install-config.yaml": redacted(cluster.config).to_yaml(),
            "metadata.json": metadata.to_json(),
        },
    });
    Manifest::public("01-cluster-info.yaml", vec![object])
}

/// The install-config without pull secret and without passwords in URLs.
fn redacted(config: &InstallConfig) -> InstallConfig {
    let mut config = config.clone();
    config.pull_secret = None;
    if let Some(proxy) = &mut config.proxy {
        for url in [&mut proxy.http_proxy, &mut proxy.https_proxy].into_iter().flatten() {
            *url = without_password(url);
        }
    }
    if let Some(agent) = &mut config.node_agent {
        agent.url = without_password(&agent.url);
    }
    if let Some(mirror) = &mut config.binary_mirror {
        remove_password(mirror);
    }
    config
}

/// A text that is no URL is returned as it is: nothing in it can be a URL's password.
fn without_password(text: &str) -> String {
    match text.parse::<Url>() {
        Ok(mut url) if url.password().is_some() || !url.username().is_empty() => {
            remove_password(&mut url);
            url.into()
        }
        _ => text.to_owned(),
    }
}

fn remove_password(url: &mut Url) {
    // Fails only for URLs that cannot have a user, which then have no password either.
    let _ = url.set_password(None);
    let _ = url.set_username("");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_users_and_passwords_from_urls() {
        assert_eq!(without_password("http://me:secret@proxy:3128/"), "http://proxy:3128/");
        assert_eq!(without_password("http://token@proxy:3128"), "http://proxy:3128/");
        assert_eq!(without_password("http://proxy:3128"), "http://proxy:3128");
        assert_eq!(without_password("https://example.com/{arch}/node"), "https://example.com/{arch}/node");
    }
}
