//! The first control plane, on the bootstrap machine.

use landfall_config::Role;
use serde_json::{Value, json};

use super::{API_VERSION, registration::node_registration};
use crate::{Cluster, Secrets};

pub(super) fn configuration(cluster: &Cluster<'_>, secrets: &Secrets) -> Value {
    let mut registration = node_registration(&json!([
        { "key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule" },
        // Also keeps away what tolerates masters, such as CoreDNS: this machine goes away.
        { "key": "node-role.kubernetes.io/bootstrap", "effect": "NoSchedule" },
    ]));
    registration["name"] = cluster.bootstrap_name().into();
    json!({
        "apiVersion": API_VERSION,
        "kind": "InitConfiguration",
        "bootstrapTokens": [
            token(secrets, Role::Master, "Masters join during the installation", "24h0m0s"),
            // Workers are made whenever somebody scales a MachineSet. The masters' config servers hand out a token that is
            // valid then, and make one when there is none.
            token(secrets, Role::Worker, "Workers join after the installation", "24h0m0s"),
        ],
        "certificateKey": secrets.certificate_key().expose(),
        "nodeRegistration": registration,
    })
}

fn token(secrets: &Secrets, role: Role, description: &str, ttl: &str) -> Value {
    json!({
        "token": secrets.bootstrap_token(role).expose(),
        "description": description,
        "ttl": ttl,
        "usages": ["signing", "authentication"],
        "groups": ["system:bootstrappers:kubeadm:default-node-token"],
    })
}
