//! etcd on a master.

use std::path::Path;

use landfall_assets::MachineRole;
use landfall_platform::{Finding, error_chain};

use crate::{etcd::Etcd, machine::Machine};

pub(super) async fn members(machine: &Machine) -> Option<Finding> {
    let runs = Path::new("/etc/kubernetes/manifests/etcd.yaml").exists();
    if machine.facts.role == MachineRole::Worker || !runs {
        return None;
    }
    let own = machine.addresses().await.ok()?.main();
    let members = match Etcd::of_this_machine() {
        Ok(etcd) => etcd.members(&Etcd::on(own)).await,
        Err(error) => Err(error),
    };
    Some(match members {
        Ok(members) => {
            let late = members.iter().filter(|member| member.is_learner || member.name.is_empty()).count();
            let text = format!("{} members, {late} of them without a vote", members.len());
            if late == 0 {
                Finding::ok("etcd", text)
            } else {
                Finding::notice(
                    "etcd",
                    text,
                    "a machine that joins has no vote for a few seconds; if it stays, it is stuck",
                )
            }
        }
        Err(error) => Finding::problem("etcd", error_chain(&error), "look at the logs of the etcd pod on this machine"),
    })
}
