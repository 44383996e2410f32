//! kubeadm's own checks, once: they refuse a machine that has a control plane, which a machine that resumes may have.

use std::sync::Arc;

use landfall_platform::Context;

use crate::{Error, kubeadm::Kubeadm, machine::Machine};

/// Checks the machine.
pub(in crate::bootstrap) struct Preflight(pub(in crate::bootstrap) Arc<Machine>);

super::step!(Preflight);

impl Preflight {
    async fn act(&self, _: &Context) -> Result<(), Error> {
        Kubeadm::prepare(&self.0, &[]).await?.preflight().await
    }
}
