//! Giving the addresses away for good.

use std::path::PathBuf;

use crate::{Error, machine::Machine, stored};

/// Has `landfall-node vip` on this machine let go of all addresses and never take them again, also after a reboot.
pub fn release(machine: &Machine) -> Result<(), Error> {
    stored::mark(&marker(machine), "the masters hold the addresses\n")
}

/// Whether the addresses were given away.
pub fn is_released(machine: &Machine) -> bool {
    marker(machine).exists()
}

fn marker(machine: &Machine) -> PathBuf {
    machine.state.join("vip.released")
}
