//! Taking back what kubeadm allows.
//!
//! kubeadm binds two roles by which the controller manager approves client certificates of kubelets without a look at who asks: any holder of a
//! join token may become any node, and a node of which the cluster has let go may renew its certificate for ever. Every `kubeadm init` and
//! `kubeadm upgrade` binds them again.
//!
//! In clusters with a machine controller the controller manager runs without the controller that would use these permissions (`controllers` among its
//! arguments, which upgrades keep), so the bindings do nothing. Deleting them too guards clusters whose administrator changed the arguments.

use std::time::Duration;

use landfall_platform::error_chain;
use tokio::time::sleep;

use super::rounds::has_controller;
use crate::{Error, kube::Access};

const BINDINGS: [&str; 2] = ["kubeadm:node-autoapprove-bootstrap", "kubeadm:node-autoapprove-certificate-rotation"];
const INTERVAL: Duration = Duration::from_secs(15);

/// Makes sure that the controller manager approves no certificates of kubelets, in a cluster that has somebody who knows its machines.
pub async fn withdraw(access: &Access) -> Result<(), Error> {
    if !has_controller(access).await? {
        return Ok(());
    }
    for binding in BINDINGS {
        let path = format!("apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{binding}");
        if access.get("looking for what kubeadm allows", &path).await?.is_some() {
            access.delete("taking back what kubeadm allows", &path).await?;
            tracing::info!(binding, "certificates are not approved by this binding any more");
        }
    }
    Ok(())
}

/// Sees to it for as long as the future is polled.
pub async fn keep_withdrawn(access: &Access) {
    // waits: a service, which goes on for as long as its future is polled
    loop {
        if let Err(error) = withdraw(access).await {
            tracing::debug!(error = error_chain(&error), "cannot look at what kubeadm allows");
        }
        sleep(INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing;

    #[tokio::test]
    async fn what_kubeadm_allows_is_taken_back_on_a_real_api_server() {
        let dir = tempfile::tempdir().unwrap();
        let (_plane, access) = testing::real_api(dir.path());
        withdraw(&access).await.unwrap();
        let path = |name: &str| format!("apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{name}");
        let group = |name: &str| json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": name });
        for name in [BINDINGS[0], BINDINGS[1], "kubeadm:kubelet-bootstrap"] {
            let binding = json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": { "name": name },
                "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                    "name": "system:certificates.k8s.io:certificatesigningrequests:nodeclient" },
                "subjects": [group("system:bootstrappers:kubeadm:default-node-token")],
            });
            access.apply("binding as kubeadm does", &path(name), &binding).await.unwrap();
        }
        withdraw(&access).await.unwrap();
        let still = access.get("looking", &path(BINDINGS[0])).await.unwrap();
        assert!(still.is_some(), "where nobody knows the machines it stays as kubeadm has it");
        testing::make_controller(&access).await;
        withdraw(&access).await.unwrap();
        for name in BINDINGS {
            assert!(access.get("looking", &path(name)).await.unwrap().is_none(), "{name}");
        }
        let kept = access.get("looking", &path("kubeadm:kubelet-bootstrap")).await.unwrap();
        assert!(kept.is_some(), "machines may still ask");
    }
}
