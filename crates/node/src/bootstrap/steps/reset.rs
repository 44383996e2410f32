//! The end of the control plane on this machine.

use landfall_platform::Context;

use crate::{Error, kubeadm::Kubeadm};

/// Stops and removes what kubeadm made here. etcd's member has left already.
pub(in crate::bootstrap) struct Reset;

super::step!(Reset);

impl Reset {
    async fn act(&self, _: &Context) -> Result<(), Error> {
        Kubeadm::reset(true).await
    }
}
