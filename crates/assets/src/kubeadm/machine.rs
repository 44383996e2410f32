//! Which documents a machine gets.

use landfall_config::Role;

use super::{cluster, components, init, join};
use crate::{Cluster, Error, MachineRole, Secrets, yaml};

/// The kubeadm configuration of a machine.
pub(crate) fn config(cluster: &Cluster<'_>, secrets: &Secrets, role: MachineRole) -> Result<String, Error> {
    let documents = match role {
        MachineRole::Bootstrap => vec![
            init::configuration(cluster, secrets),
            cluster::configuration(cluster),
            components::kubelet(cluster.config.manages_machines()),
            components::kube_proxy(),
        ],
        MachineRole::Master => vec![join::configuration(cluster, secrets, Role::Master)],
        MachineRole::Worker => vec![join::configuration(cluster, secrets, Role::Worker)],
    };
    yaml::documents(&format!("the kubeadm configuration of role {role}"), &documents)
}
