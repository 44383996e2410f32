//! What machines may read of each other.

use serde_json::json;

use super::Manifest;

const NAME: &str = "landfall:node-reader";

/// Lets every node read all nodes, with its kubelet's identity.
///
/// Pod routes, names and the members of the ingress addresses follow from the list of nodes. Since Kubernetes 1.32 a kubelet
/// by itself reads only its own node.
pub(crate) fn node_reader() -> Manifest {
    let api_version = "rbac.authorization.k8s.io/v1";
    let role = json!({
        "apiVersion": api_version,
        "kind": "ClusterRole",
        "metadata": { "name": NAME },
        "rules": [{ "apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"] }],
    });
    let binding = json!({
        "apiVersion": api_version,
        "kind": "ClusterRoleBinding",
        "metadata": { "name": NAME },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:nodes" }],
    });
    Manifest::public("02-node-reader.yaml", vec![role, binding])
}
