//! All machines of a cluster, watched with one call for all of them.
//!
//! Many steps wait for their machines at the same time. Each of them asking the engine would be one call per machine and
//! second; so whoever waits shares what the last listing said, and asks for a new one only if nobody has of late.

use std::{sync::Arc, time::Duration};

use landfall_platform::InfraId;
use tokio::{sync::Mutex, time::Instant};

use crate::{Client, Error, client::Vm};

/// All machines of one cluster.
#[derive(Clone)]
pub struct Fleet {
    client: Arc<Client>,
    prefix: String,
    interval: Duration,
    last: Arc<Mutex<Option<Listing>>>,
}

struct Listing {
    at: Instant,
    vms: Arc<Vec<Vm>>,
}

impl Fleet {
    /// The machines of a cluster, listed at most once per interval for those who wait.
    pub fn new(client: Arc<Client>, infra_id: &InfraId, interval: Duration) -> Self {
        Self { client, prefix: format!("{infra_id}-"), interval, last: Arc::default() }
    }

    /// All machines, as they are now.
    pub async fn list(&self) -> Result<Arc<Vec<Vm>>, Error> {
        self.since(Instant::now()).await
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
        let mut not_before = Instant::now();
        loop {
            let vms = self.since(not_before).await?;
            if let Some(verdict) = judge(vms.iter().find(|vm| vm.name == name))? {
                return Ok(verdict);
            }
            not_before = Instant::now() + self.interval;
            tokio::time::sleep_until(not_before).await;
            // Any listing that another has made during the pause will do.
            not_before -= self.interval / 2;
        }
    }

    /// A listing that was begun at the given time or later. Those who ask while one is under way get the same.
    async fn since(&self, not_before: Instant) -> Result<Arc<Vec<Vm>>, Error> {
        let mut last = self.last.lock().await;
        if let Some(listing) = last.as_ref().filter(|listing| listing.at >= not_before) {
            return Ok(Arc::clone(&listing.vms));
        }
        let at = Instant::now();
        let vms = Arc::new(self.client.vms_named(&self.prefix).await?);
        *last = Some(Listing { at, vms: Arc::clone(&vms) });
        Ok(vms)
    }
}
