//! The units of systemd that do the machine's work.

use std::path::Path;

use landfall_assets::{MachineRole, node::paths};
use landfall_config::NetworkType;
use landfall_platform::Finding;

use crate::{machine::Machine, program::Program};

pub(super) async fn running(machine: &Machine) -> Vec<Finding> {
    let mut findings = Vec::new();
    for unit in expected(machine) {
        // It fails for a unit that does not run, and says what the unit does instead.
        let state = match Program::new("systemctl", ["show", "--property=ActiveState,SubState", "--value", &unit])
            .run()
            .await
        {
            Ok(said) => said.split_whitespace().collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        };
        findings.push(judge(&unit, &state));
    }
    findings
}

fn judge(unit: &str, state: &str) -> Finding {
    if state.starts_with("active") {
        return Finding::ok("unit", format!("{unit} is {state}"));
    }
    Finding::problem("unit", format!("{unit} is {state}"), format!("journalctl -u {unit} says why"))
}

/// The units that should be active. One that joins or brings up the cluster is so only until it has done it.
fn expected(machine: &Machine) -> Vec<String> {
    let facts = &machine.facts;
    let mut units = vec!["containerd", "kubelet"];
    if facts.vips.is_some() {
        units.extend(["landfall-dns", "landfall-vip"]);
        if facts.role == MachineRole::Master {
            units.push("landfall-load-balancer");
        }
    }
    if facts.networks.network_type == Some(NetworkType::Routed) {
        units.push("landfall-network");
    }
    if facts.config_server.is_some() {
        units.push("landfall-config-server");
    }
    let (task, done) = match facts.role {
        MachineRole::Bootstrap => ("landfall-bootstrap", paths::BOOTSTRAP_DONE),
        MachineRole::Master | MachineRole::Worker => ("landfall-join", paths::JOIN_DONE),
    };
    let is_done = Path::new(done).exists();
    if !is_done {
        units.push(task);
    } else if facts.role == MachineRole::Bootstrap {
        // Its control plane has moved away.
        units.retain(|unit| *unit != "kubelet");
    } else if facts.role == MachineRole::Master {
        units.extend(["landfall-certificates", "landfall-etcd"]);
    }
    units.into_iter().map(|unit| format!("{unit}.service")).collect()
}

#[cfg(test)]
mod tests {
    use landfall_platform::Verdict;

    use super::*;
    use crate::testing;

    #[test]
    fn each_role_has_its_units() {
        let dir = tempfile::tempdir().unwrap();
        let has = |role: &str, unit: &str| {
            expected(&testing::machine(role, "x", dir.path())).contains(&format!("{unit}.service"))
        };
        assert!(has("master", "landfall-load-balancer") && !has("worker", "landfall-load-balancer"));
        assert!(has("worker", "landfall-network") && has("bootstrap", "landfall-vip"));
    }

    #[test]
    fn one_that_does_not_run_is_a_problem_with_a_way_on() {
        assert_eq!(judge("a.service", "active running").verdict, Verdict::Ok);
        let finding = judge("a.service", "activating auto-restart");
        assert_eq!(
            finding.to_string(),
            "unit: a.service is activating auto-restart (journalctl -u a.service says why)"
        );
    }
}
