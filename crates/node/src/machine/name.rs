//! The machine's name.

use crate::Error;

const HOSTNAME: &str = "/proc/sys/kernel/hostname";

/// The machine's name as a node: its host name in lower case, as kubeadm and kubelet take it.
pub fn node_name() -> Result<String, Error> {
    let name = std::fs::read_to_string(HOSTNAME).map_err(Error::file("read", HOSTNAME))?;
    Ok(name.trim().to_lowercase())
}
