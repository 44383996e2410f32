//! All machines and disks of a cluster, watched with one call for all of them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use landfall_platform::InfraId;
use landfall_wire::Listings;

use crate::{
    Client, Error,
    client::{Disk, Vm},
    mark::Mark,
};

/// All machines and disks of one cluster.
#[derive(Clone)]
pub struct Fleet {
    client: Arc<Client>,
    mark: Mark,
    vms: Listings<Vm>,
    awaited: Awaited,
    awaited_vms: Listings<Vm>,
    loose_disks: Listings<Disk>,
}

impl Fleet {
    /// What a cluster has, listed at most once per interval for those who wait.
    pub fn new(client: Arc<Client>, infra_id: &InfraId, interval: Duration) -> Self {
        let (vms, awaited_vms) = (Listings::new(interval), Listings::new(interval));
        let (awaited, loose_disks) = (Awaited::default(), Listings::new(interval));
        Self { client, mark: Mark::new(infra_id.clone()), vms, awaited, awaited_vms, loose_disks }
    }

    /// All machines with the cluster's mark, as they are now.
    pub async fn list(&self) -> Result<Arc<Vec<Vm>>, Error> {
        self.vms.now(|| self.client.vms_marked(&self.mark)).await
    }

    /// The machines with a name, whoever they belong to, as they are now: those with the cluster's mark first.
    pub async fn called(&self, name: &str) -> Result<Vec<Vm>, Error> {
        let mut vms = self.client.vms_called(name).await?;
        vms.sort_by_key(|vm| !self.mark.is_on(&vm.description));
        Ok(vms)
    }

    /// Waits until the machine with an id, or that there is none, is as wanted. `judge` says so, or that it never will be. All who
    /// wait share one search per interval, for what they wait for and nothing else. Machines are searched for by their ids, since a
    /// name may be changed meanwhile, and given to another machine.
    pub async fn wait<T>(
        &self,
        id: &str,
        mut judge: impl FnMut(Option<&Vm>) -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        // From here on every search that begins is for this id too, and `wait` takes none that began before.
        let _awaited = self.awaited.enter(id);
        let judge = |vms: &[Vm]| judge(vms.iter().find(|vm| vm.id == id));
        let look = || {
            let ids = self.awaited.ids();
            async move { self.client.vms_with_ids(&ids).await }
        };
        self.awaited_vms.wait(look, judge).await
    }

    /// Waits until the disks that were made for a machine, and hang on none, are as wanted.
    pub async fn wait_for_loose_disks<T>(
        &self,
        machine: &str,
        ids: &[String],
        mut judge: impl FnMut(&[&Disk]) -> Option<T>,
    ) -> Result<T, Error> {
        let judge = |disks: &[Disk]| {
            let is_own = |disk: &&Disk| disk.machine() == Some(machine) || ids.contains(&disk.id);
            let own: Vec<_> = disks.iter().filter(is_own).collect();
            Ok(judge(&own))
        };
        let prefix = self.mark.name("");
        self.loose_disks.wait(|| self.client.loose_disks(&prefix), judge).await
    }
}

/// Ids of machines that are waited for, and by how many tasks. Clones share them.
#[derive(Clone, Default)]
struct Awaited(Arc<Mutex<BTreeMap<String, usize>>>);

/// A machine is waited for as long as this lives.
struct Waiting<'a> {
    awaited: &'a Awaited,
    id: &'a str,
}

impl Awaited {
    fn enter<'a>(&'a self, id: &'a str) -> Waiting<'a> {
        *self.lock().entry(id.to_owned()).or_default() += 1;
        Waiting { awaited: self, id }
    }

    fn ids(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut ids = self.awaited.lock();
        if let Some(count) = ids.get_mut(self.id) {
            *count -= 1;
            if *count == 0 {
                ids.remove(self.id);
            }
        }
    }
}
