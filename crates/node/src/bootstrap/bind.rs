//! From descriptions to steps that act.

use std::sync::Arc;

use landfall_platform::{Bind, ErrorClass, Step, StepError, StepSpec};

use super::steps::{
    complete::Complete, control_plane::ControlPlane, etcd_member::EtcdMemberLeaves, manifests::Manifests,
    masters::Masters, preflight::Preflight, release_endpoint::ReleaseEndpoint, release_vip::ReleaseVip, reset::Reset,
    revoke::RevokeMasterToken, vip::Vip,
};
use crate::machine::Machine;

/// Steps of one machine.
pub(super) struct BootstrapSteps(pub(super) Arc<Machine>);

impl Bind for BootstrapSteps {
    fn bind(&self, spec: &StepSpec) -> Result<Arc<dyn Step>, StepError> {
        let machine = Arc::clone(&self.0);
        Ok(match spec.kind.as_str() {
            "vip" => Arc::new(Vip(machine)),
            "preflight" => Arc::new(Preflight(machine)),
            "control-plane" => Arc::new(ControlPlane(machine)),
            "manifests" => Arc::new(Manifests(machine)),
            "masters" => Arc::new(Masters(machine)),
            "revoke-master-token" => Arc::new(RevokeMasterToken(machine)),
            "release-vip" => Arc::new(ReleaseVip(machine)),
            "release-endpoint" => Arc::new(ReleaseEndpoint(machine)),
            "etcd-member" => Arc::new(EtcdMemberLeaves(machine)),
            "reset" => Arc::new(Reset),
            "complete" => Arc::new(Complete(machine)),
            other => return Err(StepError::new(ErrorClass::Bug, format!("there is no bootstrap step '{other}'"))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bootstrap::plan, testing};

    #[test]
    fn every_step_of_the_plan_can_act() {
        let dir = tempfile::tempdir().unwrap();
        let machine = testing::machine("bootstrap", "demo-x7k2p-bootstrap", dir.path());
        let steps = BootstrapSteps(Arc::new(machine.clone()));
        for spec in plan(&machine.facts).unwrap().steps() {
            assert!(steps.bind(spec).is_ok(), "{}", spec.id);
        }
    }
}
