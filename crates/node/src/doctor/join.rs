//! What keeps the machine from joining.

use landfall_platform::Finding;

use crate::{join::last_state, machine::Machine};

pub(super) fn state(machine: &Machine) -> Option<Finding> {
    let seen = last_state(machine)?;
    Some(Finding::problem("join", seen, "journalctl -u landfall-join says more; it is tried again"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_machine_that_waits_says_for_what() {
        let dir = tempfile::tempdir().unwrap();
        let machine = testing::machine("master", "demo-x7k2p-master-0", dir.path());
        assert!(state(&machine).is_none());
        std::fs::create_dir_all(&machine.runtime).unwrap();
        std::fs::write(machine.runtime.join("join.state"), "this machine is not reset").unwrap();
        assert_eq!(state(&machine).unwrap().message, "this machine is not reset");
    }
}
