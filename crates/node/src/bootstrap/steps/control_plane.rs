//! etcd and the first control plane, by `kubeadm init`.

use std::sync::Arc;

use landfall_platform::Context;

use crate::{
    Error,
    bootstrap::access::keep_admin_config,
    kubeadm::{self, Kubeadm},
    machine::Machine,
};

/// Makes the first control plane.
pub(in crate::bootstrap) struct ControlPlane(pub(in crate::bootstrap) Arc<Machine>);

super::step!(ControlPlane);

impl ControlPlane {
    async fn act(&self, context: &Context) -> Result<(), Error> {
        context.report("kubeadm init");
        kubeadm::remove_empty()?;
        Kubeadm::prepare(&self.0, &["preflight"]).await?.init().await?;
        // The journal will say that it is done.
        kubeadm::store()?;
        keep_admin_config(&self.0)
    }
}
