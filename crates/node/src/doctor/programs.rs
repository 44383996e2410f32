//! The programs that the machine's work is done with.

use std::{env, os::unix::fs::PermissionsExt as _, path::Path};

use landfall_assets::MachineRole;
use landfall_platform::Finding;

use crate::machine::Machine;

pub(super) fn installed(machine: &Machine) -> Vec<Finding> {
    let path = format!("/opt/bin:{}", env::var("PATH").unwrap_or_default());
    let missing: Vec<&str> = needed(machine).into_iter().filter(|program| !is_in(&path, program)).collect();
    if missing.is_empty() {
        return vec![Finding::ok("programs", "all are installed")];
    }
    vec![Finding::problem(
        "programs",
        format!("missing: {}", missing.join(", ")),
        "see the units landfall-unpack and landfall-packages: journalctl -u landfall-unpack -u landfall-packages",
    )]
}

fn needed(machine: &Machine) -> Vec<&'static str> {
    let mut needed = vec!["ip", "nft"];
    if machine.facts.kubeadm.is_some() {
        needed.extend(["kubeadm", "kubelet", "kubectl"]);
    }
    if machine.facts.vips.is_some() {
        needed.push("keepalived");
        if machine.facts.role == MachineRole::Master {
            needed.push("haproxy");
        }
    }
    needed
}

fn is_in(path: &str, program: &str) -> bool {
    path.split(':').any(|directory| {
        let file = Path::new(directory).join(program);
        file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_master_needs_a_balancer_and_a_worker_does_not() {
        let dir = tempfile::tempdir().unwrap();
        assert!(needed(&testing::machine("master", "m", dir.path())).contains(&"haproxy"));
        assert!(!needed(&testing::machine("worker", "w", dir.path())).contains(&"haproxy"));
        assert!(is_in("/nowhere:/bin:/usr/bin", "sh") && !is_in("/nowhere:/bin", "no-such-program"));
    }
}
