//! Joining, in parts between which what kubeadm wrote is stored.
//!
//! kubeadm syncs nothing: half a minute after it has written a file, a loss of power may leave that file empty. So a master stores its identities before
//! it becomes a member of etcd, since without them it could not ask the cluster about its data, and stores everything before the cluster is
//! told that nothing is missing any more.

use landfall_assets::MachineRole;

use super::{Kubeadm, store};
use crate::{Error, machine::Machine};

/// What the first part does: all that is there before there is a member.
const FIRST: [&[&str]; 2] = [&["join", "phase", "preflight"], &["join", "phase", "control-plane-prepare", "all"]];
/// What the second part leaves out.
const NOT_SECOND: [&str; 3] = ["preflight", "control-plane-prepare", LABEL];
/// kubeadm labels a master last of all: by that others see that it is complete.
const LABEL: &str = "control-plane-join/mark-control-plane";

impl Kubeadm {
    /// Joins the cluster.
    pub async fn join(machine: &Machine) -> Result<(), Error> {
        if machine.facts.role == MachineRole::Worker {
            Self::prepare(machine, &[]).await?.run(&["join"]).await?;
            return store();
        }
        let all = Self::prepare(machine, &[]).await?;
        for part in FIRST {
            all.run(part).await?;
        }
        store()?;
        Self::prepare(machine, &NOT_SECOND).await?.run(&["join"]).await?;
        store()?;
        Self::prepare(machine, &[]).await?.run(&["join", "phase", "control-plane-join", "mark-control-plane"]).await
    }
}
