//! The platform's own cloud controller manager, for those who want Services of type `LoadBalancer`. Nothing of Landfall needs it.
//!
//! It is told where the API is and which project is the cluster's, and is kept from the address of the Kubernetes API, which
//! Landfall leads. Objects follow those that its project publishes for version 3.8.

use landfall_config::packet::{CloudControllerManager, Platform, ServiceLoadBalancer};
use serde_json::{Value, json};

use super::{Credentials, Manifest, credentials::secret};
use crate::Cluster;

const NAMESPACE: &str = "kube-system";
const NAME: &str = "cloud-provider-equinix-metal";
/// The Secret that holds the manager's configuration.
const CONFIG: &str = "metal-cloud-config";
const IMAGE: &str = "ghcr.io/equinix/cloud-provider-equinix-metal:v3.8.1";
const KUBE_VIP_NAME: &str = "kube-vip-services";

/// All objects of the manager; none where the install-config does not ask for it. Without credentials its Secret is left out,
/// and it waits for it.
pub(crate) fn cloud_controller_manager(cluster: &Cluster<'_>, credentials: Option<&Credentials>) -> Vec<Manifest> {
    let Some(platform) = cluster.config.platform.packet() else { return Vec::new() };
    let Some(wanted) = &platform.cloud_controller_manager else { return Vec::new() };
    let mut objects = vec![service_account(NAME), role(), binding(NAME, NAME), daemon_set(wanted)];
    if wanted.services == ServiceLoadBalancer::KubeVip {
        objects.extend(kube_vip(platform.kube_vip_image()));
    }
    let secret = credentials.map(|credentials| configuration(platform, wanted, credentials));
    let secret = secret.map(|secret| Manifest::private("45-cloud-controller-config.yaml", vec![secret]));
    secret.into_iter().chain([Manifest::public("46-cloud-controller.yaml", objects)]).collect()
}

fn configuration(platform: &Platform, wanted: &CloudControllerManager, credentials: &Credentials) -> Value {
    let known = |key: &str| credentials.get(key).cloned().unwrap_or_default();
    let mut settings = json!({
        "apiKey": known("api_key"),
        "projectId": platform.project.map_or_else(|| known("project_id"), |id| id.to_string()),
        "loadbalancer": match wanted.services {
            ServiceLoadBalancer::KubeVip => "kube-vip://",
            ServiceLoadBalancer::Metallb => "metallb:///metallb-system?crdConfiguration=true",
            ServiceLoadBalancer::None => "",
        },
    });
    // Masters announce the address of the API, or have it assigned, by themselves; Services are for workers.
    settings["bgpNodeSelector"] = json!("!node-role.kubernetes.io/control-plane");
    if let Some(url) = credentials.get("api_url") {
        settings["base-url"] = json!(url);
    }
    for (field, places) in [("metro", &platform.metros), ("facility", &platform.facilities)] {
        if let Some(first) = places.first() {
            settings[field] = json!(first);
        }
    }
    secret(CONFIG, NAMESPACE, [("cloud-sa.json", settings.to_string().as_str())])
}

fn daemon_set(wanted: &CloudControllerManager) -> Value {
    let labels = json!({ "app": NAME });
    json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": { "name": NAME, "namespace": NAMESPACE, "labels": labels },
        "spec": {
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
                        { "key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule" },
                        { "key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule" },
                        { "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoSchedule" },
                    ],
                    "containers": [{
                        "name": NAME,
                        "image": wanted.image.as_deref().unwrap_or(IMAGE),
                        "command": [
                            format!("./{NAME}"),
                            "--cloud-provider=equinixmetal",
                            "--leader-elect=true",
                            "--authentication-skip-lookup=true",
                            "--cloud-config=/etc/cloud-sa/cloud-sa.json",
                        ],
                        "resources": { "requests": { "cpu": "100m", "memory": "50Mi" } },
                        "volumeMounts": [{ "name": "config", "mountPath": "/etc/cloud-sa", "readOnly": true }],
                    }],
                    "volumes": [{ "name": "config", "secret": { "secretName": CONFIG } }],
                },
            },
        },
    })
}

/// What the manager may do: nodes, Services and their addresses, and the resources of `MetalLB`.
fn role() -> Value {
    let rule = |groups: &[&str], resources: &[&str], verbs: &[&str]| json!({ "apiGroups": groups, "resources": resources, "verbs": verbs });
    let writes = ["create", "get", "list", "watch", "update", "patch"];
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": { "name": NAME },
        "rules": [
            rule(&[""], &["namespaces"], &["get"]),
            rule(&[""], &["endpoints", "services", "configmaps", "events"], &writes),
            rule(&[""], &["nodes"], &["*"]),
            rule(&[""], &["nodes/status", "services/status"], &["list", "patch", "update", "watch"]),
            rule(&["coordination.k8s.io"], &["leases"], &writes),
            rule(
                &["metallb.io"],
                &["ipaddresspools", "bgppeers", "bgpadvertisements"],
                &["get", "list", "create", "update", "patch", "delete"],
            ),
        ],
    })
}

/// kube-vip on workers, which announces addresses of Services to the peers that the manager writes on nodes.
fn kube_vip(image: &str) -> Vec<Value> {
    let labels = json!({ "app": KUBE_VIP_NAME });
    let setting = |name: &str, value: &str| json!({ "name": name, "value": value });
    let reads = ["list", "get", "watch", "update"];
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": { "name": KUBE_VIP_NAME },
        "rules": [
            { "apiGroups": [""], "resources": ["services", "services/status", "endpoints"], "verbs": reads },
            { "apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "get", "watch", "update", "patch"] },
            { "apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": reads },
            {
                "apiGroups": ["coordination.k8s.io"],
                "resources": ["leases"],
                "verbs": ["list", "get", "watch", "update", "create"],
            },
        ],
    });
    let daemon_set = json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": { "name": KUBE_VIP_NAME, "namespace": NAMESPACE, "labels": labels },
        "spec": {
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "serviceAccountName": KUBE_VIP_NAME,
                    "hostNetwork": true,
                    "affinity": { "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{ "matchExpressions": [
                            { "key": "node-role.kubernetes.io/control-plane", "operator": "DoesNotExist" },
                        ] }],
                    } } },
                    "containers": [{
                        "name": "kube-vip",
                        "image": image,
                        "args": ["manager"],
                        "env": [
                            setting("vip_interface", "lo"),
                            setting("vip_cidr", "32"),
                            setting("svc_enable", "true"),
                            setting("vip_leaderelection", "false"),
                            setting("bgp_enable", "true"),
                            setting("annotations", "metal.equinix.com"),
                        ],
                        "securityContext": { "capabilities": { "add": ["NET_ADMIN", "NET_RAW"] } },
                    }],
                },
            },
        },
    });
    vec![service_account(KUBE_VIP_NAME), role, binding(KUBE_VIP_NAME, KUBE_VIP_NAME), daemon_set]
}

fn service_account(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": name, "namespace": NAMESPACE } })
}

fn binding(name: &str, role: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": { "name": name },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role },
        "subjects": [{ "kind": "ServiceAccount", "name": name, "namespace": NAMESPACE }],
    })
}
