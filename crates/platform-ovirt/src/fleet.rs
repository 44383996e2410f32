//! All machines and disks of a cluster, watched with one call for all of them.
//!
//! Many steps wait for their machines at the same time. Each of them asking the engine would be one call per machine and
//! second; so whoever waits shares what the last listing said, and asks for a new one only if nobody has of late.

use std::{future::Future, sync::Arc, time::Duration};

use landfall_platform::InfraId;
use tokio::{sync::Mutex, time::Instant};

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
        self.vms.since(Instant::now(), || self.client.vms_named(&self.prefix)).await
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

/// The last listing of one kind of thing, shared by all who look at it.
struct Listings<T> {
    interval: Duration,
    last: Arc<Mutex<Option<Listing<T>>>>,
}

struct Listing<T> {
    at: Instant,
    found: Arc<Vec<T>>,
}

impl<T> Clone for Listings<T> {
    fn clone(&self) -> Self {
        Self { interval: self.interval, last: Arc::clone(&self.last) }
    }
}

impl<T> Listings<T> {
    fn new(interval: Duration) -> Self {
        Self { interval, last: Arc::default() }
    }

    async fn wait<V, F>(
        &self,
        list: impl Fn() -> F,
        mut judge: impl FnMut(&[T]) -> Result<Option<V>, Error>,
    ) -> Result<V, Error>
    where
        F: Future<Output = Result<Vec<T>, Error>>,
    {
        let mut not_before = Instant::now();
        loop {
            let found = self.since(not_before, &list).await?;
            if let Some(verdict) = judge(&found)? {
                return Ok(verdict);
            }
            not_before = Instant::now() + self.interval;
            tokio::time::sleep_until(not_before).await;
            // Any listing that another has made during the pause will do.
            not_before -= self.interval / 2;
        }
    }

    /// A listing that was begun at the given time or later. Those who ask while one is under way get the same.
    async fn since<F>(&self, not_before: Instant, fetch: impl Fn() -> F) -> Result<Arc<Vec<T>>, Error>
    where
        F: Future<Output = Result<Vec<T>, Error>>,
    {
        let mut last = self.last.lock().await;
        if let Some(listing) = last.as_ref().filter(|listing| listing.at >= not_before) {
            return Ok(Arc::clone(&listing.found));
        }
        let at = Instant::now();
        let found = Arc::new(fetch().await?);
        *last = Some(Listing { at, found: Arc::clone(&found) });
        Ok(found)
    }
}
