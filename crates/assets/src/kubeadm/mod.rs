//! kubeadm's configuration: one file per machine role.
//!
//! Token and certificate key are fixed beforehand, so that the files for joining can be made before there is a cluster to
//! join.

mod cluster;
mod components;
mod init;
mod join;

use landfall_config::{InstallConfig, Role};
use serde_json::{Value, json};

use crate::{Cluster, Error, MachineRole, Secrets, yaml};

const API_VERSION: &str = "kubeadm.k8s.io/v1beta4";

/// The kubeadm configuration of a machine.
pub(crate) fn config(cluster: &Cluster<'_>, secrets: &Secrets, role: MachineRole) -> Result<String, Error> {
    let documents = match role {
        MachineRole::Bootstrap => vec![
            init::configuration(cluster, secrets),
            cluster::configuration(cluster),
            components::kubelet(),
            components::kube_proxy(),
        ],
        MachineRole::Master => vec![join::configuration(cluster, secrets, Role::Master)],
        MachineRole::Worker => vec![join::configuration(cluster, secrets, Role::Worker)],
    };
    yaml::documents(&format!("the kubeadm configuration of role {role}"), &documents)
}

/// How a machine registers as a node. `taints` replace kubeadm's own.
fn node_registration(taints: &Value) -> Value {
    json!({
        "criSocket": "unix:///run/containerd/containerd.sock",
        "imagePullSerial": false,
        "taints": taints,
    })
}

/// Masters are kept for the control plane, unless there is nowhere else for workloads to go.
fn master_taints(config: &InstallConfig) -> Value {
    if config.compute.iter().all(|pool| pool.replicas == 0) {
        json!([])
    } else {
        json!([{ "key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule" }])
    }
}

/// Arguments of a component.
fn arguments(arguments: impl IntoIterator<Item = (&'static str, String)>) -> Vec<Value> {
    arguments.into_iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
}
