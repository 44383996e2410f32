//! Machines that join.

use landfall_config::Role;
use serde_json::{Value, json};

use super::{API_VERSION, master_taints, node_registration};
use crate::{Cluster, Secrets};

pub(super) fn configuration(cluster: &Cluster<'_>, secrets: &Secrets, role: Role) -> Value {
    let taints = match role {
        Role::Master => master_taints(cluster.config),
        Role::Worker => json!([]),
    };
    let mut document = json!({
        "apiVersion": API_VERSION,
        "kind": "JoinConfiguration",
        "discovery": {
            "bootstrapToken": {
                "token": secrets.bootstrap_token(role).expose(),
                "apiServerEndpoint": cluster.internal_endpoint(),
                "caCertHashes": [secrets.cluster_ca().public_key_pin()],
            },
        },
        "nodeRegistration": node_registration(&taints),
        // The unit tries again; a long wait here only hides what is wrong.
        "timeouts": { "discovery": "1m0s" },
    });
    if role == Role::Master {
        // etcd takes one new member at a time, and masters join all at once.
        document["timeouts"]["etcdAPICall"] = "5m0s".into();
        document["controlPlane"] = json!({ "certificateKey": secrets.certificate_key().expose() });
    }
    document
}
