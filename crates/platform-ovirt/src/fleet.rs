//! All machines and disks of a cluster, watched with one call for all of them.

use std::{sync::Arc, time::Duration};

use landfall_platform::InfraId;
use landfall_wire::Listings;

use crate::{
    Client, Error,
    client::{Disk, Vm},
};

/// All machines and disks of one cluster.
#[derive(Clone)]
pub struct Fleet {
    client: Arc<Client>,
    prefix: String,
    vms: Listings<Vm>,
    loose_disks: Listings<Disk>,
}

impl Fleet {
    /// What a cluster has, listed at most once per interval for those who wait.
    pub fn new(client: Arc<Client>, infra_id: &InfraId, interval: Duration) -> Self {
        let (vms, loose_disks) = (Listings::new(interval), Listings::new(interval));
        Self { client, prefix: format!("{infra_id}-"), vms, loose_disks }
    }

    /// All machines, as they are now.
    pub async fn list(&self) -> Result<Arc<Vec<Vm>>, Error> {
        self.vms.now(|| self.client.vms_named(&self.prefix)).await
    }

    /// The machine with a name, as it is now.
    pub async fn get(&self, name: &str) -> Result<Option<Vm>, Error> {
        let vms = self.list().await?;
        Ok(vms.iter().find(|vm| vm.name == name).cloned())
    }

    /// Waits until a machine, or that there is none, is as wanted. `judge` says so, or that it never will be.
    pub async fn wait<T>(
        &self,
        name: &str,
        mut judge: impl FnMut(Option<&Vm>) -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        let judge = |vms: &[Vm]| judge(vms.iter().find(|vm| vm.name == name));
        self.vms.wait(|| self.client.vms_named(&self.prefix), judge).await
    }

    /// Waits until the disks that were made for a machine, and hang on none, are as wanted.
    pub async fn wait_for_loose_disks<T>(
        &self,
        machine: &str,
        mut judge: impl FnMut(&[&Disk]) -> Option<T>,
    ) -> Result<T, Error> {
        let judge = |disks: &[Disk]| {
            let own: Vec<_> = disks.iter().filter(|disk| disk.machine() == Some(machine)).collect();
            Ok(judge(&own))
        };
        self.loose_disks.wait(|| self.client.loose_disks(&self.prefix), judge).await
    }
}
