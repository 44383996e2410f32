//! The controller that keeps machines as the objects say, and what it may do.

use serde_json::{Value, json};

use super::{Manifest, machine_namespace};
use crate::{Cluster, node};

const NAME: &str = "landfall-machine-controller";

/// The controller's Deployment, service account and permissions.
pub(crate) fn machine_controller(cluster: &Cluster<'_>) -> Manifest {
    let namespace = machine_namespace(cluster.config.distribution);
    let mut objects = vec![service_account(namespace)];
    objects.extend(cluster_permissions(namespace));
    objects.extend(namespace_permissions(namespace));
    objects.push(deployment(cluster, namespace));
    Manifest::public("40-machine-controller.yaml", objects)
}

fn service_account(namespace: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": NAME, "namespace": namespace } })
}

/// Nodes and certificate requests belong to no namespace.
fn cluster_permissions(namespace: &str) -> [Value; 2] {
    let rules = json!([
        { "apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch", "patch", "delete"] },
        { "apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"] },
        { "apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"] },
        { "apiGroups": ["apps"], "resources": ["daemonsets"], "verbs": ["get", "list"] },
        {
            "apiGroups": ["certificates.k8s.io"],
            "resources": ["certificatesigningrequests"],
            "verbs": ["get", "list", "watch"],
        },
        {
            "apiGroups": ["certificates.k8s.io"],
            "resources": ["certificatesigningrequests/approval"],
            "verbs": ["update", "patch"],
        },
        {
            "apiGroups": ["certificates.k8s.io"],
            "resources": ["signers"],
            "resourceNames": ["kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"],
            "verbs": ["approve"],
        },
    ]);
    permissions("ClusterRole", "ClusterRoleBinding", &json!({ "name": NAME }), namespace, &rules)
}

/// Machines, what they are made from, and the lease of the leader.
fn namespace_permissions(namespace: &str) -> [Value; 2] {
    let rules = json!([
        {
            "apiGroups": ["machine.openshift.io"],
            "resources": ["machines", "machinesets", "machinehealthchecks"],
            "verbs": ["get", "list", "watch", "create", "update", "patch", "delete"],
        },
        {
            "apiGroups": ["machine.openshift.io"],
            "resources": ["machines/status", "machinesets/status", "machinehealthchecks/status", "machines/finalizers"],
            "verbs": ["get", "update", "patch"],
        },
        { "apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "watch"] },
        { "apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"] },
        {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "verbs": ["get", "create", "update", "patch"],
        },
    ]);
    permissions("Role", "RoleBinding", &json!({ "name": NAME, "namespace": namespace }), namespace, &rules)
}

/// A role and its binding to the controller's service account.
fn permissions(role: &str, binding: &str, metadata: &Value, namespace: &str, rules: &Value) -> [Value; 2] {
    let api_version = "rbac.authorization.k8s.io/v1";
    [
        json!({ "apiVersion": api_version, "kind": role, "metadata": metadata, "rules": rules }),
        json!({
            "apiVersion": api_version,
            "kind": binding,
            "metadata": metadata,
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": NAME },
            "subjects": [{ "kind": "ServiceAccount", "name": NAME, "namespace": namespace }],
        }),
    ]
}

/// The Deployment.
///
/// The controller has no image of its own. Its program is static and already on every master, so it is mounted from the
/// host into the pause image, which is there too, for all architectures, and brings nothing that could be in the way. It
/// uses the host's network, because it must work before a pod network does: it is what makes the workers.
fn deployment(cluster: &Cluster<'_>, namespace: &str) -> Value {
    let program = node::agent_path(cluster);
    let labels = json!({ "app": NAME });
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": NAME, "namespace": namespace },
        "spec": {
            "replicas": 2,
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "serviceAccountName": NAME,
                    "hostNetwork": true,
                    "dnsPolicy": "Default",
                    "priorityClassName": "system-cluster-critical",
                    "nodeSelector": { "node-role.kubernetes.io/control-plane": "" },
                    "tolerations": [
                        { "key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule" },
                        { "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoSchedule" },
                    ],
                    "affinity": { "podAntiAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [{
                        "weight": 1,
                        "podAffinityTerm": {
                            "labelSelector": { "matchLabels": labels },
                            "topologyKey": "kubernetes.io/hostname",
                        },
                    }] } },
                    "containers": [{
                        "name": "controller",
                        "image": node::PAUSE_IMAGE,
                        "command": [program, "machines", "controller"],
                        "env": [{
                            "name": "POD_NAMESPACE",
                            "valueFrom": { "fieldRef": { "fieldPath": "metadata.namespace" } },
                        }],
                        "resources": { "requests": { "cpu": "10m", "memory": "32Mi" } },
                        "securityContext": {
                            "allowPrivilegeEscalation": false,
                            "capabilities": { "drop": ["ALL"] },
                            "readOnlyRootFilesystem": true,
                            "runAsNonRoot": true,
                            "runAsUser": 65532,
                        },
                        "volumeMounts": [{ "name": "program", "mountPath": program, "readOnly": true }],
                    }],
                    "volumes": [{ "name": "program", "hostPath": { "path": program, "type": "File" } }],
                },
            },
        },
    })
}
