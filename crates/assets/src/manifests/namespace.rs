//! Namespaces.

use landfall_config::Distribution;
use landfall_machine_api::NAMESPACE as SYSTEM;
use serde_json::json;

use super::Manifest;

/// The namespace of machines: where OpenShift and OKD have it, there; elsewhere Landfall's own.
pub(crate) fn machine_namespace(distribution: Distribution) -> &'static str {
    if distribution.is_openshift() { "openshift-machine-api" } else { SYSTEM }
}

/// A namespace whose pods may use the host, which the machine controller does.
pub(crate) fn namespace(name: &str) -> Manifest {
    let object = json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": { "name": name, "labels": { "pod-security.kubernetes.io/enforce": "privileged" } },
    });
    Manifest::public(format!("00-namespace-{name}.yaml"), vec![object])
}
