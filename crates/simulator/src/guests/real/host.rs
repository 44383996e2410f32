//! A host from power on to power off.

use std::fs::File;
use std::io::{self, Write as _};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::agent::Report;
use super::disk::Disk;
use super::error::RealError;
use super::site::{Cable, Site};
use crate::core::guest::{GuestEvent, GuestEvents, GuestMachine};
use crate::guests::console::chain;

/// What systemd-nspawn ends with when the system in it wants to start again.
const REBOOT: i32 = 133;
/// How often the agent's report is looked at.
const AGENT_INTERVAL: Duration = Duration::from_millis(500);

/// What is asked of the first process of a host, in the words of systemd.
#[derive(Clone, Copy, Debug)]
pub(super) enum Request {
    PowerOff,
    Reboot,
}

impl Request {
    /// The signal by which systemd is asked.
    const fn signal(self) -> &'static str {
        match self {
            Self::PowerOff => "RTMIN+4",
            Self::Reboot => "RTMIN+5",
        }
    }
}

/// A host that is on.
pub(super) struct Host {
    pub(super) hardware: GuestMachine,
    pub(super) cable: Cable,
    site: Arc<Site>,
    /// The platform's ear; gone when the plug was pulled, after which the host has nothing to say any more.
    events: Mutex<Option<GuestEvents>>,
    booted: OnceLock<()>,
    /// The process that `switch-on` runs in and that becomes systemd-nspawn; 0 before there is one.
    process: AtomicU32,
}

impl Host {
    pub(super) fn new(hardware: GuestMachine, cable: Cable, site: Arc<Site>, events: Option<GuestEvents>) -> Self {
        Self { hardware, cable, site, events: Mutex::new(events), booted: OnceLock::new(), process: AtomicU32::new(0) }
    }

    /// Whether the operating system has come up.
    pub(super) fn is_booted(&self) -> bool {
        self.booted.get().is_some()
    }

    /// Its first process, as seen from outside.
    pub(super) fn init(&self) -> Option<u32> {
        self.site.cgroup(&self.cable).init()
    }

    /// Runs the host until it switches itself off. One that cannot boot stays on, as a machine with an emergency shell does.
    pub(super) async fn run(&self) {
        if let Err(error) = self.live().await {
            self.print(&format!("{}; the machine is on, but nothing runs in it", chain(&error)));
        }
    }

    async fn live(&self) -> Result<(), RealError> {
        let cgroup = self.site.cgroup(&self.cable);
        let id = || self.hardware.id.clone();
        let Some(disk) = self.disk() else {
            self.print("no bootable disk");
            return Ok(());
        };
        loop {
            // What ran here before must be gone, with its end of the cable and its addresses.
            cgroup.remove().await.map_err(RealError::file(cgroup.path()))?;
            if self.is_silenced() {
                return Ok(());
            }
            cgroup.create().map_err(RealError::file(cgroup.path()))?;
            self.print(&format!("{}: power on", self.hardware.name));
            let console = self.console().map_err(RealError::file(self.site.console(&self.hardware.id)))?;
            let mut child = self.site.switch_on(&self.hardware, &disk, &self.cable, console)?;
            self.process.store(child.id().unwrap_or_default(), Ordering::Relaxed);
            let ended = tokio::select! {
                status = child.wait() => status,
                never = self.listen(&disk) => match never {},
            };
            match ended.as_ref().map(ExitStatus::code) {
                Ok(Some(REBOOT)) => self.report(GuestEvent::Rebooting { id: id() }),
                Ok(Some(0)) => {
                    cgroup.remove().await.map_err(RealError::file(cgroup.path()))?;
                    self.print("power off");
                    self.report(GuestEvent::PoweredOff { id: id() });
                    return Ok(());
                }
                _ if self.is_silenced() => return Ok(()),
                _ => {
                    self.print(&format!("the start failed ({ended:?}); the machine is on, but nothing runs in it"));
                    return Ok(());
                }
            }
        }
    }

    /// Passes on what the agent says, for as long as it is polled.
    async fn listen(&self, disk: &Disk) -> std::convert::Infallible {
        let directory = disk.agent();
        let mut ticks = tokio::time::interval(AGENT_INTERVAL);
        let mut last = None;
        loop {
            ticks.tick().await;
            let Some(report) = Report::read(&directory) else { continue };
            if last.is_none() {
                let _ = self.booted.set(());
                self.report(GuestEvent::Booted { id: self.hardware.id.clone() });
            }
            if last.as_ref() != Some(&report) {
                self.report(GuestEvent::Addresses {
                    id: self.hardware.id.clone(),
                    hostname: Some(report.hostname.clone()),
                    interfaces: report.interfaces(),
                });
                last = Some(report);
            }
        }
    }

    /// Asks the system to end or to start again; only one that is up hears it.
    pub(super) fn ask(&self, request: Request) {
        let Some(init) = self.init() else { return self.print("nobody hears the power button") };
        let asked = std::process::Command::new("kill").args(["-s", request.signal(), &init.to_string()]).status();
        if let Err(error) = asked {
            self.print(&format!("cannot press the power button: {error}"));
        }
    }

    /// Pulls the plug: the disk forgets what was not synced, and every process ends.
    pub(super) fn cut(&self) {
        drop(self.events().take());
        self.print("the plug is pulled");
        let cgroup = self.site.cgroup(&self.cable);
        // Processes must not see their disk fail before they end: they would tell others, as no machine without power does.
        let lost = cgroup.freeze().and_then(|()| self.lose_power());
        for (result, what) in [(lost, "make the disk forget what was not synced"), (cgroup.kill(), "pull the plug")] {
            if let Err(error) = result {
                self.print(&format!("cannot {what}: {error}"));
            }
        }
    }

    fn lose_power(&self) -> io::Result<()> {
        match (self.process.load(Ordering::Relaxed), self.disk()) {
            (0, _) | (_, None) => Ok(()),
            (process, Some(disk)) => disk.lose_power(process),
        }
    }

    /// The disk that the host boots from.
    fn disk(&self) -> Option<Disk> {
        let disk = self.hardware.disks.iter().find(|disk| disk.bootable)?;
        Some(self.site.disk(&disk.id))
    }

    fn report(&self, event: GuestEvent) {
        if let Some(events) = self.events().as_ref() {
            events.report(event);
        }
    }

    fn is_silenced(&self) -> bool {
        self.events().is_none()
    }

    fn events(&self) -> std::sync::MutexGuard<'_, Option<GuestEvents>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn console(&self) -> io::Result<File> {
        File::options().create(true).append(true).open(self.site.console(&self.hardware.id))
    }

    fn print(&self, line: &str) {
        // A console that cannot be written to is the last place to say so.
        let _ = self.console().and_then(|mut console| writeln!(console, "[simulator] {line}"));
    }
}
