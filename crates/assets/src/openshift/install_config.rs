//! The install-config that the release's own installer reads.

use landfall_config::InstallConfig;
use serde_json::{Value, json};

/// The file that the program looks for in its directory.
pub(super) const FILE: &str = "install-config.yaml";

/// The install-config for `openshift-install`, in YAML. It holds the pull secret.
///
/// Platform `external` has the release render everything that does not depend on where the cluster runs, and nothing
/// else. Three things are not obvious:
/// - The compute pools are given as one, named `worker`, with all their machines. The release makes no machine objects on
///   this platform, but it counts: with none it would let workloads run on the masters and expect ingress there.
/// - A trust bundle is passed on with policy `Always`. The release's own default is to use it only behind a proxy, while
///   in Landfall's install-config it means what it says.
/// - Mirrors are `imageDigestSources`. The older `imageContentSources` was replaced in the release that brought platform
///   `external`, so it is never needed here.
pub fn install_config(config: &InstallConfig) -> String {
    let architecture = config.architecture().name();
    let pool = |name: &str, replicas: u32| json!({ "name": name, "replicas": replicas, "architecture": architecture });
    let workers = config.compute.iter().map(|pool| pool.replicas).sum();
    let mut document = json!({
        "apiVersion": "v1",
        "metadata": { "name": config.metadata.name },
        "baseDomain": config.base_domain.trim_end_matches('.'),
        "controlPlane": pool("master", config.control_plane.replicas),
        "compute": [pool("worker", workers)],
        "networking": networking(config),
        "platform": { "external": { "platformName": config.platform.name(), "cloudControllerManager": "" } },
        "publish": "External",
    });
    let mut set = |field: &str, value: Value| document[field] = value;
    set("pullSecret", json!(config.pull_secret.as_ref().map_or("", |secret| secret.expose())));
    if let Some(key) = &config.ssh_key {
        set("sshKey", json!(key.trim_end()));
    }
    if let Some(proxy) = &config.proxy {
        set("proxy", json!(proxy));
    }
    if let Some(bundle) = &config.additional_trust_bundle {
        set("additionalTrustBundle", json!(bundle));
        set("additionalTrustBundlePolicy", json!("Always"));
    }
    if !config.image_mirrors.is_empty() {
        set("imageDigestSources", json!(config.image_mirrors));
    }
    serde_saphyr::to_string(&document).expect("the keys are texts, so YAML can hold them")
}

fn networking(config: &InstallConfig) -> Value {
    json!({
        // The only one that the release has; Landfall's other kinds are for Kubernetes.
        "networkType": "OVNKubernetes",
        "machineNetwork": config.networking.machine_network,
        "clusterNetwork": config.networking.cluster_network,
        "serviceNetwork": config.networking.service_network,
    })
}

#[cfg(test)]
mod tests {
    use landfall_config::{ImageMirror, MachinePool, Proxy};

    use super::*;
    use crate::openshift::testing;

    #[test]
    fn passes_on_what_a_plain_cluster_needs() {
        insta::assert_snapshot!(install_config(&testing::config()));
    }

    #[test]
    fn passes_on_everything_that_a_shielded_site_sets() {
        let mut config = testing::config();
        config.compute.push(MachinePool { name: "gpu".to_owned(), replicas: 4, ..config.compute[0].clone() });
        config.proxy = Some(Proxy {
            http_proxy: Some("http://proxy.example.com:3128".to_owned()),
            https_proxy: None,
            no_proxy: Some(".example.com".to_owned()),
        });
        config.additional_trust_bundle =
            Some("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n".to_owned());
        config.image_mirrors = vec![ImageMirror {
            source: "quay.io/openshift-release-dev/ocp-release".to_owned(),
            mirrors: vec!["mirror.example.com:5000/ocp".to_owned()],
        }];
        insta::assert_snapshot!(install_config(&config));
    }
}
