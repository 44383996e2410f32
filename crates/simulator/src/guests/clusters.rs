//! What the machines of one cluster share beyond the network: the objects in etcd, and who holds a virtual address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Semaphore;

use super::kube::Store;

/// All clusters of a simulator.
#[derive(Debug, Default)]
pub(super) struct Clusters {
    /// By the digest of the cluster CA's public key. The machines that hold a copy keep them alive.
    stores: Mutex<HashMap<String, Weak<Store>>>,
    /// Who holds the lock holds the address: what VRRP settles between real machines.
    addresses: Mutex<HashMap<IpAddr, Arc<tokio::sync::Mutex<()>>>>,
    /// How many pods of a Deployment there may be: what the scheduler decides.
    places: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Clusters {
    /// Begins a cluster with an empty store; an earlier one with the same CA is no longer found.
    pub(super) fn found(&self, pin: &str) -> Arc<Store> {
        let store = Arc::new(Store::default());
        self.adopt(pin, &store);
        store
    }

    /// Makes a store known that was read from a state file.
    pub(super) fn adopt(&self, pin: &str, store: &Arc<Store>) {
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        stores.retain(|_, store| store.strong_count() > 0);
        stores.insert(pin.to_owned(), Arc::downgrade(store));
    }

    /// The store of the cluster with this CA, if a machine holds it.
    pub(super) fn find(&self, pin: &str) -> Option<Arc<Store>> {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner).get(pin)?.upgrade()
    }

    /// The right to hold a virtual address, to be waited for.
    pub(super) fn address(&self, address: IpAddr) -> Arc<tokio::sync::Mutex<()>> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner).entry(address).or_default().clone()
    }

    /// The places for pods of the Deployment with this id, to be waited for.
    pub(super) fn places(&self, uid: &str, replicas: u64) -> Arc<Semaphore> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let count = usize::try_from(replicas).unwrap_or_default();
        places.entry(uid.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(count))).clone()
    }
}
