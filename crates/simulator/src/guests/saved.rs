//! Guests in a state file: machines that are on, what is on disks, addresses, and the objects of clusters.
//!
//! When a simulator starts again its machines boot again, as after a power cut.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};

use super::kube::{SavedStore, Store};
use super::leases::Leases;
use super::pki;
use super::runtime::Next;
use super::shared::Shared;
use super::system::System;
use crate::core::Instant;
use crate::core::guest::GuestMachine;

/// A machine and what it is about to do.
pub(super) type SavedMachine = (GuestMachine, (Instant, Next));

/// Everything about the guests of a simulator.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedWorld {
    machines: Vec<SavedMachine>,
    leases: Leases,
    disks: BTreeMap<String, SavedDisk>,
    /// Configs, each once.
    documents: Vec<String>,
    stores: Vec<SavedStore>,
}

#[derive(Serialize, Deserialize)]
struct SavedDisk {
    /// Places in `documents`.
    documents: Vec<usize>,
    written: BTreeMap<String, String>,
    /// Place in `stores`.
    etcd: Option<usize>,
}

impl SavedWorld {
    pub(super) fn save(machines: Vec<SavedMachine>, shared: &Shared) -> Self {
        let mut documents: Vec<Arc<str>> = Vec::new();
        let mut stores: Vec<Arc<Store>> = Vec::new();
        let disks = shared.disks().into_iter().map(|(id, system)| {
            let places = system.documents().iter().map(|document| place(&mut documents, &document.text, Arc::ptr_eq));
            let places = places.collect();
            let etcd = system.etcd().map(|store| place(&mut stores, &store, Arc::ptr_eq));
            (id, SavedDisk { documents: places, written: system.written(), etcd })
        });
        let disks = disks.collect();
        Self {
            machines,
            leases: shared.leases().clone(),
            disks,
            documents: documents.iter().map(ToString::to_string).collect(),
            stores: stores.iter().map(|store| store.save()).collect(),
        }
    }

    /// Puts everything back but the machines, which it returns.
    pub(super) fn restore(self, shared: &Shared) -> Result<Vec<SavedMachine>, serde_json::Error> {
        *shared.leases() = self.leases;
        let stores: Vec<Arc<Store>> = self.stores.into_iter().map(|saved| Arc::new(Store::restore(saved))).collect();
        let missing = || serde_json::Error::custom("a disk refers to what is not in the file");
        for (id, disk) in self.disks {
            let documents = disk.documents.iter().map(|place| {
                let text = self.documents.get(*place).ok_or_else(missing)?;
                shared.library.read(text).map_err(serde_json::Error::custom)
            });
            let documents = documents.collect::<Result<_, _>>()?;
            let etcd = disk.etcd.map(|place| stores.get(place).cloned().ok_or_else(missing)).transpose()?;
            let system = System::restore(documents, disk.written, etcd.clone());
            // Where masters put it, and where the bootstrap machine has it from its config.
            let ca = system.text("/etc/kubernetes/pki/ca.crt").ok().and_then(|ca| pki::pin(&ca).ok());
            if let (Some(pin), Some(store)) = (ca, etcd) {
                shared.clusters.adopt(&pin, &store);
            }
            shared.install(&id, &Arc::new(system));
        }
        Ok(self.machines)
    }
}

/// The place of an item in a list, at whose end it is put if it is not there.
fn place<T: ?Sized>(list: &mut Vec<Arc<T>>, item: &Arc<T>, same: fn(&Arc<T>, &Arc<T>) -> bool) -> usize {
    list.iter().position(|known| same(known, item)).unwrap_or_else(|| {
        list.push(item.clone());
        list.len() - 1
    })
}
