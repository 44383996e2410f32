//! The controller that keeps machines as the objects say, and what it may do.

use landfall_config::Platform;
use landfall_machine_api::{CONTROLLER as NAME, permissions};
use serde_json::{Value, json};

use super::{Manifest, machine_namespace};
use crate::{Cluster, node};

/// Where the controller serves health and figures, to its own machine only.
const PORT: u16 = 9447;

/// Which controllers are Landfall's matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duties {
    /// All of them.
    All,
    /// The machines; the distribution has controllers of its own for sets, health and certificates.
    MachinesOnly,
}

/// The controller's Deployment, service account and permissions.
pub(crate) fn machine_controller(cluster: &Cluster<'_>, duties: Duties) -> Manifest {
    let namespace = machine_namespace(cluster.config.distribution);
    let mut objects = permissions(NAME, namespace, duties == Duties::All);
    objects.push(deployment(cluster, namespace, duties));
    Manifest::public("40-machine-controller.yaml", objects)
}

/// The Deployment.
///
/// The controller has no image of its own. Its program is static and already on every master, so it is mounted from the
/// host into the pause image, which is there too, for all architectures, and brings nothing that could be in the way. It
/// uses the host's network, because it must work before a pod network does: it is what makes the workers.
fn deployment(cluster: &Cluster<'_>, namespace: &str, duties: Duties) -> Value {
    let program = node::agent_path(cluster);
    let labels = json!({ "app": NAME });
    let probe = |path: &str| json!({ "httpGet": { "host": "127.0.0.1", "port": PORT, "path": path } });
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
                    // Two of them on one machine would want one port.
                    "affinity": { "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [{
                        "labelSelector": { "matchLabels": labels },
                        "topologyKey": "kubernetes.io/hostname",
                    }] } },
                    "containers": [{
                        "name": "controller",
                        "image": node::PAUSE_IMAGE,
                        "command": [program, "machines", "controller"],
                        "args": arguments(cluster, duties),
                        "env": [
                            field("POD_NAMESPACE", "metadata.namespace"),
                            field("POD_NAME", "metadata.name"),
                        ],
                        "livenessProbe": probe("/healthz"),
                        "readinessProbe": probe("/readyz"),
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

fn arguments(cluster: &Cluster<'_>, duties: Duties) -> Vec<String> {
    let mut arguments = vec![format!("--infra-id={}", cluster.infra_id), format!("--listen=127.0.0.1:{PORT}")];
    let addresses = cluster.config.api_vips().iter().chain(cluster.config.ingress_vips());
    arguments.extend(addresses.map(|address| format!("--virtual-address={address}")));
    let networking = &cluster.config.networking;
    if matches!(cluster.config.platform, Platform::Ovirt(_) | Platform::Powervm(_)) {
        // Guests report their addresses there.
        let machines = networking.machine_network.iter().map(|network| network.cidr);
        arguments.extend(machines.map(|network| format!("--machine-network={network}")));
    }
    let taken = networking.cluster_network.iter().map(|network| network.cidr).chain(networking.service_network.clone());
    arguments.extend(taken.map(|network| format!("--taken-network={network}")));
    if duties == Duties::MachinesOnly {
        arguments.push("--only-machines".to_owned());
    }
    arguments
}

fn field(name: &str, path: &str) -> Value {
    json!({ "name": name, "valueFrom": { "fieldRef": { "fieldPath": path } } })
}
