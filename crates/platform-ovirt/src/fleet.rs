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
};

/// All machines and disks of one cluster.
#[derive(Clone)]
pub struct Fleet {
    client: Arc<Client>,
    prefix: String,
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
        Self { client, prefix: format!("{infra_id}-"), vms, awaited, awaited_vms, loose_disks }
    }

    /// All machines, as they are now.
    pub async fn list(&self) -> Result<Arc<Vec<Vm>>, Error> {
        self.vms.now(|| self.client.vms_named(&self.prefix)).await
    }

    /// The machine with a name, as it is now.
    pub async fn get(&self, name: &str) -> Result<Option<Vm>, Error> {
        Ok(self.client.vms_called(&[name.to_owned()]).await?.pop())
    }

    /// Waits until a machine, or that there is none, is as wanted. `judge` says so, or that it never will be. All who wait share one search
    /// per interval, for what they wait for and nothing else.
    pub async fn wait<T>(
        &self,
        name: &str,
        mut judge: impl FnMut(Option<&Vm>) -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        // From here on every search that begins is for this name too, and `wait` takes none that began before.
        let _awaited = self.awaited.enter(name);
        let judge = |vms: &[Vm]| judge(vms.iter().find(|vm| vm.name == name));
        let look = || {
            let names = self.awaited.names();
            async move { self.client.vms_called(&names).await }
        };
        self.awaited_vms.wait(look, judge).await
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

/// Names of machines that somebody waits for, and how many do. Clones share them.
#[derive(Clone, Default)]
struct Awaited(Arc<Mutex<BTreeMap<String, usize>>>);

/// Somebody waits for as long as this lives.
struct Waiting<'a> {
    awaited: &'a Awaited,
    name: &'a str,
}

impl Awaited {
    fn enter<'a>(&'a self, name: &'a str) -> Waiting<'a> {
        *self.lock().entry(name.to_owned()).or_default() += 1;
        Waiting { awaited: self, name }
    }

    fn names(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut names = self.awaited.lock();
        if let Some(count) = names.get_mut(self.name) {
            *count -= 1;
            if *count == 0 {
                names.remove(self.name);
            }
        }
    }
}
