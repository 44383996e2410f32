//! A machine from power on to power off.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::boot_script::{BootScriptError, Firmware};
use super::console::{Console, chain};
use super::facts::{Facts, Vips};
use super::faults::GuestEffect;
use super::ignition::{Document, IgnitionError, Provisioner};
use super::network::Link;
use super::services::{self, Agent, Host};
use super::shared::Shared;
use super::static_addresses::static_addresses;
use super::system::System;
use super::times::Times;
use crate::core::guest::{GuestEvent, GuestInterface, GuestMachine, GuestNic, UserData, UserDataFormat};

/// A machine that is on.
pub(super) struct Machine {
    pub(super) hardware: Arc<GuestMachine>,
    pub(super) console: Console,
    pub(super) times: Times,
    pub(super) effects: Vec<GuestEffect>,
    pub(super) shared: Arc<Shared>,
    /// Set when the operating system is up.
    pub(super) booted: Arc<OnceLock<()>>,
    /// Addresses besides its own that lead to it.
    pub(super) routes: watch::Receiver<BTreeSet<IpAddr>>,
}

/// Why an operating system does not come up.
#[derive(Debug, thiserror::Error)]
enum BootError {
    #[error("no bootable disk")]
    Disk,
    #[error("no DHCP server has an address for {0}")]
    Address(String),
    #[error("the machine has no network interface to fetch its config with")]
    Interface,
    #[error("the firmware cannot boot from the network")]
    Script(#[from] BootScriptError),
    #[error("ignition failed")]
    Ignition(#[from] IgnitionError),
}

impl Machine {
    /// Boots and runs until it is dropped, which is what happens when the plug is pulled.
    pub(super) async fn run(self) {
        self.console.print(format!("{}: power on", self.hardware.name));
        if self.effects.contains(&GuestEffect::NeverBoots) {
            self.console.print("the firmware finds nothing that boots");
            std::future::pending::<()>().await;
        }
        match self.boot().await {
            Ok((system, interfaces)) => self.work(system, interfaces).await,
            Err(error) => self.console.print(format!("{}; entering the emergency shell", chain(&error))),
        }
        std::future::pending::<()>().await;
    }

    async fn boot(&self) -> Result<(Arc<System>, Vec<GuestInterface>), BootError> {
        let disk = self.hardware.disks.iter().find(|disk| disk.bootable).ok_or(BootError::Disk)?;
        if let Some(system) = self.shared.disk(&disk.id) {
            let interfaces = self.interfaces(Some(&system))?;
            return Ok((system, interfaces));
        }
        if let Some(url) = &self.hardware.boot_script {
            let firmware = Firmware { link: &self.link()?, console: &self.console, trusted: &self.shared.authorities };
            firmware.boot(self.times, url).await?;
        }
        let config = self.user_data()?;
        let documents = match config {
            None => {
                self.console.print("ignition: no config given");
                Vec::new()
            }
            Some(config) => self.provision(config).await?,
        };
        let system = Arc::new(System::install(documents));
        for url in system.downloads() {
            self.console.print(format!("ignition: not downloaded, taken for granted: {url}"));
        }
        self.shared.reserve(&virtual_addresses(&system));
        self.shared.install(&disk.id, &system);
        let interfaces = self.interfaces(Some(&system))?;
        Ok((system, interfaces))
    }

    /// Reads what the platform hands over; an operating system with Ignition boots without any, too.
    fn user_data(&self) -> Result<Option<Arc<Document>>, IgnitionError> {
        match &self.hardware.user_data {
            None => Ok(None),
            Some(UserData { format: UserDataFormat::CloudInit, .. }) => Err(IgnitionError::CloudInit),
            Some(data) if data.content.trim().is_empty() => Ok(None),
            Some(data) => self.shared.library.read(&data.content).map(Some),
        }
    }

    async fn provision(&self, config: Arc<Document>) -> Result<Vec<Arc<Document>>, BootError> {
        // A config that is complete names the virtual addresses, and one that only points somewhere points to one.
        self.shared.reserve(&virtual_addresses(&System::install(vec![config.clone()])));
        self.shared.reserve(&config.hosts());
        if config.is_complete() {
            return Ok(vec![config]);
        }
        let link = self.link()?;
        let provisioner = Provisioner {
            link: &link,
            console: &self.console,
            times: self.times,
            library: &self.shared.library,
            trusted: &self.shared.authorities,
        };
        Ok(provisioner.resolve(config).await?)
    }

    /// The network as it is before there is an operating system.
    fn link(&self) -> Result<Link, BootError> {
        let interfaces = self.interfaces(None)?;
        let addresses = addresses(&interfaces);
        if addresses.is_empty() {
            return Err(BootError::Interface);
        }
        let link = Link::new(self.shared.wires.clone(), &addresses);
        Ok(link.with_resolver(self.shared.resolver))
    }

    /// The interfaces with the addresses that the system, once it is installed, or the platform or DHCP gives them.
    fn interfaces(&self, system: Option<&System>) -> Result<Vec<GuestInterface>, BootError> {
        let given = |nic: &GuestNic| {
            let mut own = system.map(|system| static_addresses(system, &nic.mac)).unwrap_or_default();
            if own.is_empty() {
                own.extend(nic.address);
            }
            own.retain(|address| self.shared.wires.reach(address));
            Some(own).filter(|own| !own.is_empty())
        };
        let nics = self.hardware.nics.iter().enumerate();
        nics.map(|(index, nic)| {
            let leased = || self.shared.lease(&nic.mac).map(|(addresses, _)| addresses);
            let addresses = given(nic).or_else(leased).ok_or_else(|| BootError::Address(nic.mac.clone()))?;
            Ok(GuestInterface { name: format!("ens{}", index + 3), mac: nic.mac.clone(), addresses })
        })
        .collect()
    }

    /// Tells the platform that the system is up, and runs its programs.
    async fn work(&self, system: Arc<System>, interfaces: Vec<GuestInterface>) {
        let given =
            system.text("/etc/hostname").ok().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        let leased = || self.hardware.nics.first().and_then(|nic| self.shared.lease(&nic.mac)?.1);
        let hostname =
            given.or_else(leased).or_else(|| self.hardware.hostname.clone()).unwrap_or_else(|| "localhost".to_owned());
        let addresses = addresses(&interfaces);
        let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        self.console.print(match shown.as_slice() {
            [] => format!("{hostname} is up, without a network"),
            shown => format!("{hostname} is up at {}", shown.join(" and ")),
        });
        let _ = self.booted.set(());
        let id = || self.hardware.id.clone();
        let report = GuestEvent::Addresses { id: id(), hostname: Some(hostname.clone()), interfaces };
        let is_silent = self.effects.contains(&GuestEffect::SilentAgent);
        let agent = Agent { shared: self.shared.clone(), report: (!is_silent).then_some(report) };
        if is_silent {
            self.console.print("the guest agent is silent");
        } else {
            self.shared.report(GuestEvent::Booted { id: id() });
            agent.report();
        }
        let Some(address) = addresses.first().copied() else { return };
        let link = Link::new(self.shared.wires.clone(), &addresses).with_resolver(self.shared.resolver);
        let link = link.with_hosts(&system.text("/etc/hosts").unwrap_or_default());
        services::run(Host {
            hostname,
            address,
            cpus: self.hardware.cpus,
            memory_mib: self.hardware.memory_mib,
            link,
            system,
            console: self.console.clone(),
            times: self.times,
            clusters: self.shared.clusters.clone(),
            programs: self.shared.programs.clone(),
            addresses: Arc::new(watch::Sender::new(addresses.iter().copied().collect())),
            own_addresses: addresses,
            progress: Arc::default(),
            agent,
            id: id(),
            routes: self.routes.clone(),
            retired: CancellationToken::new(),
        })
        .await;
    }
}

/// All addresses of a machine. The first is that by which the cluster knows it.
fn addresses(interfaces: &[GuestInterface]) -> Vec<IpAddr> {
    interfaces.iter().flat_map(|interface| interface.addresses.iter().copied()).collect()
}

/// The virtual addresses that a system's facts name, if it has any.
fn virtual_addresses(system: &System) -> Vec<IpAddr> {
    let vips = Facts::read(system).ok().and_then(|facts| facts.vips);
    vips.into_iter().flat_map(|Vips { api, ingress }| api.into_iter().chain(ingress)).collect()
}
