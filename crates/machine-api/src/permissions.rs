//! What the controllers may do in a cluster, and no more.

use serde_json::{Value, json};

use crate::GROUP;

const RBAC: &str = "rbac.authorization.k8s.io";

/// A service account for the controllers, and what it may do. `all` is for clusters where sets, health checks and certificate
/// requests are the controllers' matter too.
pub fn permissions(account: &str, namespace: &str, all: bool) -> Vec<Value> {
    let account_object = json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": { "name": account, "namespace": namespace },
    });
    // Each cluster has one, but tests have many: the name says whose it is.
    let cluster_wide = format!("{namespace}:{account}");
    let mut objects = vec![account_object];
    objects.extend(role("ClusterRole", &cluster_wide, None, (account, namespace), &cluster_rules(all)));
    objects.extend(role("Role", account, Some(namespace), (account, namespace), &namespace_rules(all)));
    if all {
        // Certificate requests belong to no namespace; what is said of them is kept in this one.
        let rules = json!([{ "apiGroups": [""], "resources": ["events"], "verbs": ["create"] }]);
        objects.extend(role("Role", &cluster_wide, Some("default"), (account, namespace), &rules));
    }
    objects
}

/// Nodes, pods and certificate requests, wherever they are.
fn cluster_rules(all: bool) -> Value {
    let mut rules = vec![
        json!({ "apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch", "patch", "delete"] }),
        json!({ "apiGroups": [""], "resources": ["pods"], "verbs": ["list"] }),
        json!({ "apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"] }),
    ];
    if all {
        let certificates = "certificates.k8s.io";
        rules.extend([
            json!({
                "apiGroups": [certificates],
                "resources": ["certificatesigningrequests"],
                "verbs": ["get", "list", "watch"],
            }),
            json!({
                "apiGroups": [certificates],
                "resources": ["certificatesigningrequests/approval"],
                "verbs": ["update"],
            }),
            json!({
                "apiGroups": [certificates],
                "resources": ["signers"],
                "resourceNames": ["kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"],
                "verbs": ["approve"],
            }),
        ]);
    }
    rules.into()
}

/// Machines, what they are made from, and the lease of the leader.
fn namespace_rules(all: bool) -> Value {
    let machine_verbs: &[&str] =
        if all { &["get", "list", "watch", "create", "patch", "delete"] } else { &["get", "list", "watch", "patch"] };
    let mut rules = vec![
        json!({ "apiGroups": [GROUP], "resources": ["machines"], "verbs": machine_verbs }),
        json!({ "apiGroups": [GROUP], "resources": ["machines/status"], "verbs": ["patch"] }),
        json!({ "apiGroups": [GROUP], "resources": ["machines/finalizers"], "verbs": ["update"] }),
        // One at a time and by name: those that provider specs refer to.
        json!({ "apiGroups": [""], "resources": ["secrets"], "verbs": ["get"] }),
        json!({ "apiGroups": [""], "resources": ["events"], "verbs": ["create"] }),
        json!({ "apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"] }),
    ];
    if all {
        rules.extend([
            json!({
                "apiGroups": [GROUP],
                "resources": ["machinesets", "machinehealthchecks"],
                "verbs": ["get", "list", "watch"],
            }),
            json!({
                "apiGroups": [GROUP],
                "resources": ["machinesets/status", "machinehealthchecks/status"],
                "verbs": ["patch"],
            }),
            json!({ "apiGroups": [GROUP], "resources": ["machinesets/finalizers"], "verbs": ["update"] }),
        ]);
    }
    rules.into()
}

/// A role and its binding.
fn role(kind: &str, name: &str, namespace: Option<&str>, account: (&str, &str), rules: &Value) -> [Value; 2] {
    let mut metadata = json!({ "name": name });
    if let Some(namespace) = namespace {
        metadata["namespace"] = namespace.into();
    }
    let api_version = format!("{RBAC}/v1");
    [
        json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata, "rules": rules }),
        json!({
            "apiVersion": api_version,
            "kind": format!("{kind}Binding"),
            "metadata": metadata,
            "roleRef": { "apiGroup": RBAC, "kind": kind, "name": name },
            "subjects": [{ "kind": "ServiceAccount", "name": account.0, "namespace": account.1 }],
        }),
    ]
}
