//! Ways to the API that outlive the control plane of this machine.

use std::{net::SocketAddr, path::PathBuf};

use crate::{
    Error,
    kube::{ADMIN_CONFIG, Access},
    machine::Machine,
    stored,
};

/// Where the administrator's kubeconfig is kept when kubeadm's own copy is gone with the control plane.
pub(super) fn kept_admin_config(machine: &Machine) -> PathBuf {
    machine.state.join("admin.conf")
}

/// Keeps the administrator's kubeconfig.
pub(super) fn keep_admin_config(machine: &Machine) -> Result<(), Error> {
    let text = std::fs::read(ADMIN_CONFIG).map_err(Error::file("read", ADMIN_CONFIG))?;
    stored::write_private(&kept_admin_config(machine), text).map(drop)
}

/// The API server of this machine.
pub(super) fn local(machine: &Machine) -> Access {
    Access::only(machine, &kept_admin_config(machine), true)
}

/// The API as everybody reaches it, wherever its address is.
pub(super) fn endpoint(machine: &Machine) -> Access {
    Access::only(machine, &kept_admin_config(machine), false)
}

/// One server of the API, by the address that it listens on.
pub(super) fn server(machine: &Machine, address: SocketAddr) -> Access {
    Access::at(machine, &kept_admin_config(machine), address)
}
