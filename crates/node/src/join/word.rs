//! What the cluster says about this machine.

use landfall_assets::MachineRole;
use landfall_platform::error_chain;
use serde_json::Value;

use super::remains::Remains;
use crate::{Error, kube::Access, machine::Machine};

/// What the cluster says about this machine. Only an answer is one: silence says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// It has joined.
    Complete,
    /// It has not joined, or only in part.
    Incomplete,
    /// The machine's credentials were not accepted, or cannot be used.
    Refused(String),
    /// The cluster does not answer.
    Silent(String),
    /// There are no credentials to ask with.
    NotAsked,
}

impl Word {
    /// Asks the cluster. kubeadm labels a master last of all, so a label that is there means that nothing is missing; a worker is done when
    /// its kubelet has registered.
    pub(super) async fn ask(machine: &Machine, remains: Remains) -> Self {
        if !remains.credentials {
            return Self::NotAsked;
        }
        match Access::of(machine).node(&machine.name).await {
            Ok(Some(node)) if is_complete(machine.facts.role, &node) => Self::Complete,
            Ok(_) => Self::Incomplete,
            Err(error @ Error::NoWay { is_refused: true, .. }) => Self::Refused(error_chain(&error)),
            Err(error) => Self::Silent(error_chain(&error)),
        }
    }
}

fn is_complete(role: MachineRole, node: &Value) -> bool {
    role != MachineRole::Master || node["metadata"]["labels"].get("node-role.kubernetes.io/control-plane").is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_master_has_joined_when_it_is_labelled() {
        let bare = json!({ "metadata": { "labels": {} } });
        let labelled = json!({ "metadata": { "labels": { "node-role.kubernetes.io/control-plane": "" } } });
        assert!(!is_complete(MachineRole::Master, &bare));
        assert!(is_complete(MachineRole::Master, &labelled));
        assert!(is_complete(MachineRole::Worker, &bare));
    }
}
