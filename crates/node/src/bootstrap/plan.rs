//! The sequence, readable aloud.

use std::time::Duration;

use landfall_assets::NodeFacts;
use landfall_engine::{Plan, PlanBuilder, PlanError};
use landfall_platform::StepSpec;
use serde_json::json;

/// The steps of the bootstrap machine: id, what it does, and how long it may take.
///
/// The address goes before the etcd member does. So the API is served by masters for every client before the first part of
/// this machine's control plane stops.
const STEPS: &[(&str, &str, Duration)] = &[
    ("vip", "virtual address of the API on this machine", Duration::from_mins(30)),
    ("preflight", "checks of this machine by kubeadm", Duration::from_mins(30)),
    ("control-plane", "etcd and the first control plane", Duration::from_hours(1)),
    ("manifests", "manifests of the cluster", Duration::from_mins(30)),
    ("masters", "masters in the cluster", Duration::from_hours(24)),
    ("revoke-master-token", "end of the masters' machine token", Duration::from_mins(5)),
    ("release-vip", "virtual address of the API on a master", Duration::from_mins(10)),
    ("release-endpoint", "address of the API led to a master", Duration::from_hours(1)),
    ("etcd-member", "etcd without this machine", Duration::from_mins(30)),
    ("reset", "end of the control plane on this machine", Duration::from_mins(10)),
    ("complete", "word that the cluster needs this machine no more", Duration::from_mins(30)),
];

/// The plan of a machine with these facts. Each step needs the one before it.
pub fn plan(facts: &NodeFacts) -> Result<Plan, PlanError> {
    let masters = facts.bootstrap.as_ref().map(|bootstrap| bootstrap.masters);
    let mut builder = PlanBuilder::default();
    let mut before: Option<&str> = None;
    for &(id, title, timeout) in STEPS {
        // Where a load balancer of the user's own holds the address, there is none to bring up or to give away.
        if id.ends_with("vip") && facts.vips.is_none() {
            continue;
        }
        if id == "release-endpoint" && !facts.api.led_by_platform {
            continue;
        }
        builder.step(StepSpec {
            id: id.into(),
            title: title.to_owned(),
            kind: id.into(),
            needs: before.into_iter().map(Into::into).collect(),
            timeout,
            desired: json!({ "masters": masters }),
        });
        before = Some(id);
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn the_address_leaves_before_the_control_plane_does() {
        let plan = plan(&testing::facts("bootstrap")).unwrap();
        let order: Vec<&str> = plan.steps().map(|step| step.id.as_str()).collect();
        let place = |id| order.iter().position(|&step| step == id).unwrap();
        assert!(place("masters") < place("release-vip") && place("release-vip") < place("etcd-member"));
        assert_eq!(order.last(), Some(&"complete"));
    }

    #[test]
    fn a_load_balancer_of_the_users_own_has_the_address() {
        let mut facts = testing::facts("bootstrap");
        facts.vips = None;
        let plan = plan(&facts).unwrap();
        assert_eq!(plan.len(), STEPS.len() - 3);
    }
}
