//! What all guests of a simulator share.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::clusters::Clusters;
use super::console::Console;
use super::faults::{GuestEffect, GuestFault};
use super::ignition::Library;
use super::leases::Leases;
use super::network::Wires;
use super::options::{Authorities, LightOptions};
use super::pods::Programs;
use super::reservations::{Reservation, Reservations};
use super::system::System;
use crate::core::guest::{GuestEvent, GuestEvents};

/// What all guests of a simulator share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) wires: Wires,
    pub(super) library: Library,
    pub(super) clusters: Arc<Clusters>,
    pub(super) events: OnceLock<GuestEvents>,
    /// The name server of the site.
    pub(super) resolver: Option<SocketAddr>,
    /// Whom guests trust without being told to.
    pub(super) authorities: Authorities,
    /// What machines run as pods.
    pub(super) programs: Programs,
    reservations: Option<Reservations>,
    leases: Mutex<Leases>,
    /// Installed systems by the id of their disk. Nobody says when a disk is removed; what stays behind is small, since
    /// configs are shared.
    disks: Mutex<HashMap<String, Arc<System>>>,
    /// By the id of the machine; they outlive it, for whoever wants to know what went wrong.
    consoles: Mutex<BTreeMap<String, Console>>,
    faults: Mutex<Vec<GuestFault>>,
}

impl Shared {
    pub(super) fn new(options: &LightOptions) -> Self {
        Self {
            wires: Wires::new(options.network_v6),
            library: Library::default(),
            clusters: Arc::default(),
            events: OnceLock::new(),
            resolver: options.resolver,
            authorities: options.authorities.clone(),
            programs: options.programs.clone(),
            reservations: options.reservations.as_deref().map(Reservations::new),
            leases: Mutex::new(Leases::new(options.network)),
            disks: Mutex::default(),
            consoles: Mutex::default(),
            faults: Mutex::new(options.faults.clone()),
        }
    }

    pub(super) fn report(&self, event: GuestEvent) {
        if let Some(events) = self.events.get() {
            events.report(event);
        }
    }

    /// The addresses that DHCP gives an interface, and the name that goes with them.
    pub(super) fn lease(&self, mac: &str) -> Option<(Vec<IpAddr>, Option<String>)> {
        match &self.reservations {
            Some(reservations) => {
                let Reservation { mut addresses, hostname } = reservations.find(mac)?;
                addresses.retain(|address| self.wires.reach(address));
                (!addresses.is_empty()).then_some((addresses, hostname))
            }
            None => self.leases().bind(mac).map(|address| (vec![address.into()], None)),
        }
    }

    /// Keeps addresses from being given to machines.
    pub(super) fn reserve(&self, addresses: &[IpAddr]) {
        let mut leases = self.leases();
        for address in addresses {
            if let IpAddr::V4(address) = address {
                leases.reserve(*address);
            }
        }
    }

    pub(super) fn leases(&self) -> MutexGuard<'_, Leases> {
        lock(&self.leases)
    }

    pub(super) fn disk(&self, id: &str) -> Option<Arc<System>> {
        lock(&self.disks).get(id).cloned()
    }

    pub(super) fn install(&self, id: &str, system: &Arc<System>) {
        lock(&self.disks).insert(id.to_owned(), system.clone());
    }

    pub(super) fn disks(&self) -> Vec<(String, Arc<System>)> {
        lock(&self.disks).iter().map(|(id, system)| (id.clone(), system.clone())).collect()
    }

    pub(super) fn console(&self, id: &str) -> Option<Console> {
        lock(&self.consoles).get(id).cloned()
    }

    pub(super) fn open_console(&self, id: &str) -> Console {
        lock(&self.consoles).entry(id.to_owned()).or_default().clone()
    }

    pub(super) fn set_faults(&self, faults: Vec<GuestFault>) {
        *lock(&self.faults) = faults;
    }

    pub(super) fn faults(&self) -> Vec<GuestFault> {
        lock(&self.faults).clone()
    }

    /// What is wrong with machines of this name.
    pub(super) fn effects(&self, name: &str) -> Vec<GuestEffect> {
        let faults = lock(&self.faults);
        faults.iter().filter(|fault| name.contains(&fault.name)).map(|fault| fault.effect).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
