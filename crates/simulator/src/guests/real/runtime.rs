//! The guest runtime: what the platform does to a machine's power is done to its host.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::admin;
use super::error::RealError;
use super::host::{Host, Request as Ask};
use super::mirror::Mirror;
use super::options::RealOptions;
use super::site::{Cable, Site};
use crate::core::guest::{GuestCommand, GuestEvent, GuestEvents, GuestMachine, GuestRuntime};
use crate::core::{Instant, Request, Response};
use crate::guests::leases::Leases;

/// Guests that are real hosts: see the [module](super).
pub struct RealGuests {
    hosts: BTreeMap<String, (Arc<Host>, JoinHandle<()>)>,
    leases: Leases,
    mirror: Mirror,
    runtime: Handle,
    events: Option<GuestEvents>,
    site: Arc<Site>,
}

impl RealGuests {
    /// A runtime with a network and no machines.
    pub async fn start(options: &RealOptions) -> Result<Self, RealError> {
        let site = Arc::new(Site::open(options)?);
        let mirror = Mirror::start(&site, options.node_agent().as_deref()).await?;
        let mut leases = Leases::new(site.network);
        leases.reserve(site.gateway());
        Ok(Self { hosts: BTreeMap::new(), leases, mirror, runtime: Handle::current(), events: None, site })
    }

    /// The simulator's own address in the network of the hosts.
    pub(crate) fn gateway(&self) -> Ipv4Addr {
        self.site.gateway()
    }

    fn switch_on(&mut self, machine: GuestMachine) {
        let before = self.cut(&machine.id);
        let Some((nic, address)) = self.address(&machine) else {
            tracing::error!(machine = machine.name, "a real host needs a network interface and a free address");
            return;
        };
        let cable = Cable::new(&machine.nics[nic], address);
        let id = machine.id.clone();
        let host = Arc::new(Host::new(machine, cable, self.site.clone(), self.events.clone()));
        let living = host.clone();
        let task = self.runtime.spawn(async move {
            if let Some(before) = before {
                // The same disk must not be written to by two.
                let _ = before.await;
            }
            living.run().await;
        });
        self.hosts.insert(id, (host, task));
    }

    /// The interface of a machine that is connected, and its address.
    fn address(&mut self, machine: &GuestMachine) -> Option<(usize, Ipv4Addr)> {
        let nic = machine.nics.first()?;
        let given = match nic.address {
            Some(IpAddr::V4(address)) => Some(address).filter(|address| self.site.network.contains(address)),
            _ => None,
        };
        Some((0, given.or_else(|| self.leases.bind(&nic.mac))?))
    }

    fn cut(&mut self, id: &str) -> Option<JoinHandle<()>> {
        let (host, task) = self.hosts.remove(id)?;
        host.cut();
        Some(task)
    }

    fn ask(&self, id: &str, request: Ask) {
        if let Some((host, _)) = self.hosts.get(id) {
            host.ask(request);
        }
    }
}

impl GuestRuntime for RealGuests {
    fn attach(&mut self, events: GuestEvents) {
        self.events = Some(events);
    }

    fn command(&mut self, _now: Instant, command: GuestCommand) {
        match command {
            GuestCommand::Start(machine) => self.switch_on(*machine),
            GuestCommand::Shutdown { id } => self.ask(&id, Ask::PowerOff),
            GuestCommand::Reboot { id } => self.ask(&id, Ask::Reboot),
            GuestCommand::Stop { id } => {
                self.cut(&id);
            }
            // Hosts have a segment of their own, and take addresses there by themselves.
            GuestCommand::Route { .. } => {}
        }
    }

    /// Hosts live in real time and report as things happen.
    fn advance(&mut self, _now: Instant) -> Vec<GuestEvent> {
        Vec::new()
    }

    fn next_deadline(&self) -> Option<Instant> {
        None
    }

    fn administer(&mut self, request: &Request) -> Option<Response> {
        admin::answer(&self.site, self.hosts.values().map(|(host, _)| host.as_ref()), request)
    }

    fn ready(&self) -> Map<String, Value> {
        let hosts = self.mirror.ready(&self.site);
        Map::from_iter([("hosts".to_owned(), hosts)])
    }
}

impl Drop for RealGuests {
    fn drop(&mut self) {
        for (host, task) in self.hosts.values() {
            host.cut();
            // It holds on to the place, which must go now.
            task.abort();
        }
    }
}
