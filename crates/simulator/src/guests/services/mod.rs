//! The programs that a guest's units start, as far as others see them on the network.

mod api_server;
mod boot_script;
mod bootstrap;
mod client;
mod config_server;
mod endpoint;
mod join;
mod kubeadm;
mod kubelet;
mod listen;
mod manifests;
mod pods;
mod vip;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::clusters::Clusters;
use super::console::Console;
use super::facts::Facts;
use super::network::Link;
use super::pods::Programs;
use super::shared::Shared;
use super::system::{Service, System};
use super::times::Times;
use crate::core::guest::GuestEvent;

/// A machine that is up, as its programs see it.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub(super) hostname: String,
    /// The first of its own addresses, by which others know it.
    pub(super) address: IpAddr,
    pub(super) own_addresses: Vec<IpAddr>,
    pub(super) cpus: u32,
    pub(super) memory_mib: u64,
    pub(super) link: Link,
    pub(super) system: Arc<System>,
    pub(super) console: Console,
    pub(super) times: Times,
    pub(super) clusters: Arc<Clusters>,
    /// What it runs as pods.
    pub(super) programs: Programs,
    /// Its own addresses and the virtual ones that it holds: programs listen on all of them.
    pub(super) addresses: Arc<watch::Sender<BTreeSet<IpAddr>>>,
    /// Counts what programs tell each other: files written, the node registered.
    pub(super) progress: Arc<watch::Sender<Progress>>,
    /// Talks to the platform; now and then it repeats itself, which is when the platform writes its state down.
    pub(super) agent: Agent,
    /// The platform's id of the machine.
    pub(super) id: String,
    /// Addresses besides its own that the platform leads to the machine.
    pub(super) routes: watch::Receiver<BTreeSet<IpAddr>>,
    /// Ends what the machine does for the cluster, though the machine stays on.
    pub(super) retired: CancellationToken,
}

/// The guest agent: what it reports of the machine.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    pub(super) shared: Arc<Shared>,
    /// Nothing if it is silent.
    pub(super) report: Option<GuestEvent>,
}

impl Agent {
    /// Tells the platform the machine's addresses.
    pub(super) fn report(&self) {
        if let Some(report) = &self.report {
            self.shared.report(report.clone());
        }
    }
}

/// What has happened on a machine so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// The kubelet has its configuration.
    configured: bool,
    /// An API server runs here.
    serving: bool,
    /// The node is registered.
    registered: bool,
}

/// Runs the programs of a machine until they are dropped.
pub(super) async fn run(host: Host) {
    if host.system.file(bootstrap::DONE).is_some() {
        host.retired.cancel();
    }
    let services = host.system.services();
    let mut tasks = JoinSet::new();
    for Service { program, command, arguments } in &services {
        let host = host.clone();
        match (program.as_str(), command.as_str()) {
            ("landfall-node", "bootstrap") => drop(tasks.spawn(bootstrap::run(host))),
            ("landfall-node", "join") => drop(tasks.spawn(join::run(host))),
            ("landfall-node", "config-server") => drop(tasks.spawn(config_server::run(host))),
            ("landfall-node", "boot-script") => drop(tasks.spawn(boot_script::run(host))),
            ("landfall-node", "vip") => drop(tasks.spawn(vip::run(host))),
            ("hold-endpoint", name) => {
                let names = std::iter::once(name.to_owned()).chain(arguments.iter().cloned()).collect();
                tasks.spawn(endpoint::hold(host, names));
            }
            ("announce-endpoint", name) => drop(tasks.spawn(endpoint::announce(host, name.to_owned()))),
            ("kubelet", _) => {
                let has_runtime = services.iter().any(|service| service.program == "containerd");
                tasks.spawn(kubelet::run(host, has_runtime));
            }
            _ => host.console.print(format!("systemd: {program} {command}: not modelled")),
        }
    }
    while tasks.join_next().await.is_some() {}
    std::future::pending::<()>().await;
}

impl Host {
    fn facts(&self) -> Result<Facts, String> {
        Facts::read(&self.system)
    }

    /// Does something until it succeeds, as systemd restarts a unit that failed.
    async fn persist<T, F: Future<Output = Result<T, String>>>(&self, name: &str, attempt: impl Fn() -> F) -> T {
        loop {
            match attempt().await {
                Ok(done) => return done,
                Err(reason) => self.console.print(format!("{name}: {reason}")),
            }
            tokio::time::sleep(self.times.scaled(self.times.restart)).await;
        }
    }

    fn note(&self, change: impl FnOnce(&mut Progress)) {
        self.progress.send_modify(change);
    }

    /// Waits until something has happened on this machine.
    async fn until(&self, reached: impl FnMut(&Progress) -> bool) {
        let mut progress = self.progress.subscribe();
        // The sender is in `self`, so waiting cannot fail.
        let _ = progress.wait_for(reached).await;
    }
}
