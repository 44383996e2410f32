//! How machines register as nodes.

use landfall_config::InstallConfig;
use serde_json::{Value, json};

/// How a machine registers as a node. `taints` replace kubeadm's own.
pub(super) fn node_registration(taints: &Value) -> Value {
    json!({
        "criSocket": "unix:///run/containerd/containerd.sock",
        "imagePullSerial": false,
        "taints": taints,
    })
}

/// Masters are kept for the control plane, unless there is nowhere else for workloads to go.
pub(super) fn master_taints(config: &InstallConfig) -> Value {
    if config.compute.iter().all(|pool| pool.replicas == 0) {
        json!([])
    } else {
        json!([{ "key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule" }])
    }
}
