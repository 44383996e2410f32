//! A simulated engine in this process.

use std::{
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
};

use clap::Parser as _;
use landfall_simulator::{
    core::{Running, Simulation as _},
    ovirt,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{inventory::Inventory, place::Place, pods, waiting::until};

/// Simulated seconds per second: machines boot in an instant, while the order of things stays.
const TIME_SCALE: &str = "200";
/// The password of the administrator; long enough not to be part of anything else.
pub(crate) const PASSWORD: &str = "Xq7-engine-password-9Zk";
/// All calls that change something.
pub(crate) const CHANGES: &str = "POST,PUT,DELETE /ovirt-engine/api/*";

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    threads.expect("threads for the simulators")
});

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: ovirt::Options,
}

/// An engine that serves until it is dropped.
pub(crate) struct Engine<'a> {
    place: &'a Place,
    running: Option<Running<ovirt::Engine>>,
    directory: TempDir,
}

impl<'a> Engine<'a> {
    pub(crate) fn start(place: &'a Place) -> Self {
        Self::with(place, &[])
    }

    /// With further flags of `landfall sim ovirt`.
    pub(crate) fn with(place: &'a Place, flags: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let own = [
            ("--listen", place.engine()),
            ("--guest-network", place.cidr()),
            ("--time-scale", TIME_SCALE.to_owned()),
            ("--password", PASSWORD.to_owned()),
            ("--ca-dir", place.authority().display().to_string()),
            ("--log-requests", directory.path().join("requests").display().to_string()),
        ];
        let own = own.iter().flat_map(|(name, value)| [*name, value.as_str()]);
        let flags = std::iter::once("ovirt").chain(own).chain(flags.iter().copied());
        let mut options = Flags::try_parse_from(flags).unwrap_or_else(|error| panic!("{error}")).options;
        options.guests.programs = pods::programs();
        let running = RUNTIME.block_on(ovirt::start(&options)).unwrap_or_else(|error| panic!("{error:?}"));
        Self { place, running: Some(running), directory }
    }

    pub(crate) fn place(&self) -> &'a Place {
        self.place
    }

    fn running(&self) -> &Running<ovirt::Engine> {
        self.running.as_ref().expect("it runs until it is dropped")
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/ovirt-engine/api", self.running().url())
    }

    pub(crate) fn ca_file(&self) -> &Path {
        self.running().ca_file().expect("it serves HTTPS")
    }

    /// A credentials file that leads to it.
    pub(crate) fn credentials(&self) -> String {
        let (url, ca_file) = (self.url(), self.ca_file().display());
        format!(
            "ovirt_url: {url}\novirt_username: admin@internal\novirt_password: {PASSWORD}\novirt_cafile: {ca_file}\n"
        )
    }

    /// Lets calls fail from now on; the number tells whether they did.
    pub(crate) fn fault(&self, rule: &str) -> u64 {
        self.running().add_fault(rule.parse().unwrap_or_else(|error| panic!("'{rule}': {error}")))
    }

    pub(crate) fn clear_faults(&self) {
        self.running().with_faults(landfall_simulator::core::faults::FaultPlan::clear);
    }

    /// How often a fault took effect.
    pub(crate) fn fired(&self, fault: u64) -> u64 {
        self.running().with_faults(|faults| faults.rule(fault)).expect("the rule is in force").fired
    }

    /// Whether the answer to a call was lost, after the call was carried out.
    pub(crate) fn has_lost_reply(&self) -> bool {
        let log = std::fs::read_to_string(self.directory.path().join("requests")).unwrap_or_default();
        log.contains("\"lost-reply\"")
    }

    /// How many calls were made that change something.
    pub(crate) fn changes(&self) -> u64 {
        let counts = self.running().request_counts();
        let changes =
            counts.iter().filter(|(kind, _)| kind.contains(" /ovirt-engine/api/") && !kind.starts_with("GET "));
        changes.map(|(_, count)| count).sum()
    }

    /// The whole state, as the engine itself would write it down.
    pub(crate) fn state(&self) -> Value {
        self.running().world().view(|engine, _| engine.snapshot())
    }

    /// What is in it, once everything that is under way has come to its end.
    pub(crate) fn inventory(&self) -> Inventory {
        let state = until("the engine to be idle", || {
            let state = self.state();
            let busy = [&state["operations"], &state["busy"]].map(ToString::to_string);
            if busy == ["{}", "[]"] { Ok(state) } else { Err(busy.join(", ")) }
        });
        Inventory::of(&state)
    }

    /// Ends it properly, so that its state file is complete.
    pub(crate) fn stop(mut self) {
        if let Some(running) = self.running.take() {
            RUNTIME.block_on(running.stop());
        }
    }
}

/// The addresses are free when it is gone, so that another engine can take its place.
impl Drop for Engine<'_> {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        let _context = RUNTIME.enter();
        drop(running);
        if std::thread::panicking() {
            self.directory.disable_cleanup(true);
            eprintln!("calls to the engine: {}", self.directory.path().join("requests").display());
            return;
        }
        let addresses: Vec<_> = (0..3).flat_map(|cluster| self.place.vips(cluster)).collect();
        until("the engine to be gone", || {
            TcpListener::bind(self.place.engine()).map(drop).map_err(|error| error.to_string())
        });
        until("the machines of the engine to be off", || {
            let answering = addresses.iter().find(|address| TcpStream::connect((**address, 6443)).is_ok());
            answering.map_or(Ok(()), |address| Err(format!("something answers at {address}")))
        });
    }
}

/// A file with the state of an engine, to start others from.
pub(crate) struct SavedEngine {
    directory: TempDir,
    copies: AtomicU32,
}

impl SavedEngine {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), copies: AtomicU32::new(0) }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.directory.path().join("engine.json")
    }

    /// Another file of the same contents, because an engine goes on writing to the one that it was started from.
    pub(crate) fn copy(&self) -> PathBuf {
        let number = self.copies.fetch_add(1, Ordering::Relaxed);
        let copy = self.directory.path().join(format!("copy-{number}.json"));
        std::fs::copy(self.file(), &copy).unwrap();
        copy
    }
}
