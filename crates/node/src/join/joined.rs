//! Whether the machine has joined already, without leaving word of it.

use std::path::Path;

use landfall_assets::MachineRole;
use serde_json::Value;

use crate::{
    kube::{ADMIN_CONFIG, Access, KUBELET_CONFIG},
    machine::Machine,
};

/// Whether an earlier attempt began: then there is something to take back.
pub(super) fn has_begun() -> bool {
    Path::new(KUBELET_CONFIG).exists()
        || Path::new("/etc/kubernetes/bootstrap-kubelet.conf").exists()
        || Path::new(ADMIN_CONFIG).exists()
        || Path::new("/etc/kubernetes/manifests").read_dir().is_ok_and(|mut entries| entries.next().is_some())
}

/// Whether the cluster says that the machine has joined. kubeadm labels a master last of all, so a label that is there means
/// that nothing is missing; a worker is done when its kubelet has registered.
pub(super) async fn has_joined(machine: &Machine) -> bool {
    if !Path::new(KUBELET_CONFIG).exists() {
        return false;
    }
    let node = Access::of(machine).node(&machine.name).await.ok().flatten();
    node.is_some_and(|node| is_complete(machine.facts.role, &node))
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
