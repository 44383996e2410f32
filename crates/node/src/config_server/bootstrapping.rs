//! Who is let in on the bootstrap machine: until there is a cluster, its own disk keeps the uses of credentials.

use std::{net::IpAddr, path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use jiff::Timestamp;
use landfall_machine_api::Credential;
use landfall_platform::error_chain;
use tokio::time::sleep;

use super::{
    Admission, ClusterUses, DiskFiles, LocalUses, MachineId, Peers, Redemption, Unreadable, cluster_uses, fleet,
    local_uses,
};
use crate::{Error, kube::Access, machine::Machine};

/// Directory with the uses, below that of the machine's state.
const DIRECTORY: &str = "redeemed";
/// Between two looks at the cluster.
const INTERVAL: Duration = Duration::from_secs(10);

/// Lets machines in on the bootstrap machine. Machines of the installer's are kept on its disk; machines of the controller's, which begin when there is
/// a cluster, in the cluster, where masters see them too.
pub struct Bootstrapping {
    files: Arc<DiskFiles>,
    local: Arc<LocalUses>,
    cluster: ClusterUses,
}

impl Bootstrapping {
    /// Lets in machines whose credentials were made from the roots in these files.
    pub fn new(files: Arc<DiskFiles>, machine: &Machine) -> Self {
        let local = Arc::new(LocalUses::new(directory(machine), Peers::of(&machine.facts)));
        Self { files, local, cluster: ClusterUses::new(Access::of(machine), Peers::of(&machine.facts)) }
    }

    /// Keeps what is known of the cluster up to date for as long as the future is polled.
    pub async fn keep(&self) {
        // waits: a service, which goes on for as long as its future is polled
        loop {
            if let Err(error) = self.cluster.refresh().await {
                tracing::debug!(error = error_chain(&error), "the cluster cannot be asked for its machines");
            }
            sleep(INTERVAL).await;
        }
    }
}

#[async_trait]
impl Admission for Bootstrapping {
    fn admits(&self, role: &str, credential: &Credential) -> Result<bool, Unreadable> {
        self.files.admits(role, credential)
    }

    async fn redeem(&self, role: &str, machine: MachineId<'_>, peer: IpAddr) -> Result<Redemption, Unreadable> {
        let (name, now) = (machine.name, Timestamp::now());
        if machine.uid().is_some() {
            return self.cluster.redeem(machine, peer, now).await;
        }
        if self.cluster.fleet().as_ref().is_some_and(|(fleet, _)| fleet.has_node(name)) {
            return Ok(Redemption::Refused(format!("{name} has a node")));
        }
        if fleet::has_ended(machine.maker, now) {
            return Ok(Redemption::Refused(format!("{name} was made by a run that began too long ago")));
        }
        let (local, key) = (Arc::clone(&self.local), format!("{role}-{}", machine.key()));
        let stored = tokio::task::spawn_blocking(move || local.redeem(&key, peer, now));
        stored.await.map_err(|error| Unreadable::new(&PathBuf::from(DIRECTORY), error))?
    }
}

fn directory(machine: &Machine) -> PathBuf {
    machine.state.join(DIRECTORY)
}

/// Returns true if the credential of a machine was used, here or at a master.
pub(crate) async fn is_redeemed(machine: &Machine, access: &Access, name: &str) -> Result<bool, Error> {
    Ok(local_uses::is_redeemed(&directory(machine), name) || cluster_uses::is_redeemed(access, name).await?)
}
