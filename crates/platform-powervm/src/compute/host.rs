//! A server, and what operations on it share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use landfall_platform::ErrorClass;
use tokio::sync::Semaphore;

use super::{
    Error, PartitionId, Patience,
    disk::{Pool, Stalls},
    fresh::Fresh,
    groups::Groups,
    mapping::{LastRead, Queue},
    media_repository::Repository,
    network::Ledger,
    recent::Recent,
    shared::Shared,
};
use crate::Client;
use crate::client::{Entry, JobLimits, LogicalUnit, ManagedSystem, Path, VirtualIoServer, VirtualSwitch};

/// Files that a console takes at once.
const UPLOADS: usize = 3;
/// How long it is believed that a VIOS runs.
const RUNS_FOR: Duration = Duration::from_secs(10);
/// How long it is believed that pools, switches and repositories are where they were: people who move them take their time.
const STAYS_FOR: Duration = Duration::from_mins(5);

/// A server with its NovaLink, and what operations on it share: the order of updates of its VIOSes, the uploads it takes at
/// once, the search for free VLANs.
#[derive(Debug)]
pub struct Host {
    client: Arc<Client>,
    system: ManagedSystem,
    jobs: JobLimits,
    pub(super) uploads: Semaphore,
    pub(super) vlans: tokio::sync::Mutex<()>,
    management: tokio::sync::OnceCell<Path>,
    active: Recent<Vec<Vios>>,
    pub(super) pools: Recent<Vec<Pool>>,
    pub(super) switches: Recent<Vec<VirtualSwitch>>,
    pub(super) repositories: Recent<Repository>,
    pub(super) fresh: Fresh,
    pub(super) units: Shared<Vec<LogicalUnit>>,
    pub(super) mappings: Shared<Vec<Entry>>,
    pub(super) last_read: Mutex<Option<LastRead>>,
    pub(super) bridges: Shared<Vec<Entry>>,
    /// Files that are being uploaded, or were when somebody was cut off.
    notes: Shared<Vec<String>>,
    pub(super) groups: Groups,
    pub(super) stalls: Stalls,
    /// VLANs that were added, if somebody remembers them.
    pub(super) added_vlans: Option<Ledger>,
    patience: Patience,
    queues: Mutex<BTreeMap<String, Arc<Queue>>>,
    images: Mutex<BTreeMap<String, Arc<tokio::sync::RwLock<()>>>>,
    names: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

/// A VIOS that can be worked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vios {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its number.
    pub number: u32,
    /// Whether NovaLink itself runs in it.
    pub is_management: bool,
    /// The world-wide names of its Fibre Channel ports.
    pub ports: Vec<String>,
}

impl Host {
    /// The server behind a console: the only one of a NovaLink, or the one of a name. Jobs get these limits.
    pub async fn connect(client: Arc<Client>, name: Option<&str>, jobs: JobLimits) -> Result<Self, Error> {
        let console = client.console().to_string();
        let failed = |source| Error::console("looking for the server", &console, Arc::new(source));
        let systems = client.systems().await.map_err(failed)?;
        let system = systems.into_iter().find(|system| name.is_none_or(|name| name == system.name));
        let what = || name.map_or_else(|| "server".to_owned(), |name| format!("server {name}"));
        let system = system.ok_or_else(|| Error::Missing { what: what(), host: console })?;
        Ok(Self {
            client,
            system,
            jobs,
            uploads: Semaphore::new(UPLOADS),
            vlans: tokio::sync::Mutex::new(()),
            management: tokio::sync::OnceCell::new(),
            active: Recent::new(RUNS_FOR),
            pools: Recent::new(STAYS_FOR),
            switches: Recent::new(STAYS_FOR),
            repositories: Recent::new(STAYS_FOR),
            fresh: Fresh::default(),
            units: Shared::default(),
            mappings: Shared::default(),
            last_read: Mutex::default(),
            bridges: Shared::default(),
            notes: Shared::default(),
            groups: Groups::default(),
            stalls: Stalls::default(),
            added_vlans: None,
            patience: Patience::default(),
            queues: Mutex::default(),
            images: Mutex::default(),
            names: Mutex::default(),
        })
    }

    /// With other patience with those who upload images to a pool.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// With a file in which it is noted which VLANs were added to shared Ethernet adapters. Those are removed with the last adapter that
    /// uses them; without the file all stay. It is for one program alone.
    #[must_use]
    pub fn remembering_vlans(mut self, file: PathBuf) -> Self {
        self.added_vlans = Some(Ledger::new(file));
        self
    }

    pub(super) fn patience(&self) -> Patience {
        self.patience
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.system.name
    }

    /// The server as it was when it was connected to.
    pub fn system(&self) -> &ManagedSystem {
        &self.system
    }

    /// Its console.
    pub fn client(&self) -> &Arc<Client> {
        &self.client
    }

    /// How long jobs may take.
    pub fn jobs(&self) -> JobLimits {
        self.jobs
    }

    /// The VIOSes that run and can be talked to, in the order of their numbers.
    pub async fn vioses(&self) -> Result<Vec<Vios>, Error> {
        self.active.or_read("", self.active_vioses()).await
    }

    async fn active_vioses(&self) -> Result<Vec<Vios>, Error> {
        let all = self.client.vioses(&[]).await.map_err(|error| self.failed("reading the VIOSes", error))?;
        self.active_of(&all)
    }

    /// Takes note of which VIOSes run, for who has read them for another purpose.
    pub(super) async fn learn_vioses(&self, all: &[VirtualIoServer]) {
        if let Ok(active) = self.active_of(all) {
            self.active.learn("", &active).await;
        }
    }

    fn active_of(&self, all: &[VirtualIoServer]) -> Result<Vec<Vios>, Error> {
        let mut active: Vec<Vios> = all.iter().filter(|vios| is_active(vios)).map(Vios::of).collect();
        active.sort_by_key(|vios| vios.number);
        if active.is_empty() {
            return Err(Error::Missing { what: "VIOS that runs and can be talked to".to_owned(), host: self.label() });
        }
        Ok(active)
    }

    /// A partition as the console shows it.
    pub(super) async fn partition(&self, id: &PartitionId) -> Result<Option<Entry>, Error> {
        match self.client.entry(&Self::path(id)).await {
            Ok(entry) => Ok(Some(entry)),
            Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
            Err(error) => Err(self.failed(format!("reading partition {id}"), error)),
        }
    }

    /// Whether adapters can be added to a partition and taken from it now, or why not: it is off, or IBM i, or its operating system
    /// is connected and able.
    pub(super) async fn check_changeable(&self, id: &PartitionId) -> Result<(), Error> {
        let entry = self.partition(id).await?;
        let entry = entry.ok_or_else(|| Error::Missing { what: format!("partition {id}"), host: self.label() })?;
        let connected = entry.text("ResourceMonitoringControlState") == "active"
            && entry.is("PartitionCapabilities/DynamicLogicalPartitionIOCapable");
        let off = entry.text("PartitionState") == "not activated";
        if off || connected || entry.text("PartitionType") == "OS400" || entry.is("IsManagementPartition") {
            return Ok(());
        }
        Err(Error::Refused {
            what: format!("partition {}", entry.text("PartitionName")),
            host: self.label(),
            done: "changed while it runs",
            reason: "its operating system has no RMC connection; shut it down first".to_owned(),
        })
    }

    /// Whether there are notes of uploads of a file.
    pub(super) async fn has_uploads(&self, name: &str) -> Result<bool, Error> {
        let read = async {
            let uploads = self.client.uploads().await;
            uploads.map_err(|error| self.failed("reading the notes of uploads", error))
        };
        Ok(self.notes.read("", read).await?.iter().any(|known| known == name))
    }

    /// Deletes the notes that the console keeps of uploads of a file that were cut off: it has room for few.
    pub(super) async fn forget_uploads(&self, name: &str) -> Result<(), Error> {
        let forgotten = self.client.forget_uploads_of(name).await;
        forgotten.map_err(|error| self.failed(format!("deleting the notes of uploads of {name}"), error))
    }

    /// The partition in which NovaLink runs: a logical partition, or a VIOS.
    pub(super) async fn management(&self) -> Result<Path, Error> {
        let find = async || {
            let failed = |error| self.failed("looking for the management partition", error);
            let partitions = self.client.partitions().await.map_err(failed)?;
            if let Some(found) = partitions.iter().find(|partition| partition.is_management) {
                return Ok(Path::entry("LogicalPartition", &found.id));
            }
            let vioses = self.client.vioses(&[]).await.map_err(failed)?;
            let found = vioses.iter().find(|vios| vios.partition.is_management);
            let found = found.map(|vios| Path::entry("VirtualIOServer", &vios.partition.id));
            found.ok_or_else(|| Error::Missing { what: "management partition".to_owned(), host: self.label() })
        };
        self.management.get_or_try_init(find).await.cloned()
    }

    pub(super) fn path(id: &PartitionId) -> Path {
        Path::entry("LogicalPartition", id.as_str())
    }

    pub(super) fn label(&self) -> String {
        self.system.name.clone()
    }

    pub(super) fn failed(&self, attempt: impl Into<String>, error: crate::Error) -> Error {
        Error::console(attempt, &self.system.name, Arc::new(error))
    }

    /// The queue of updates of a VIOS.
    pub(super) fn queue(&self, vios: &str) -> Arc<Queue> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.entry(vios.to_uppercase()).or_default().clone()
    }

    /// Who clones an image, with others, and who makes or deletes it, alone.
    pub(super) fn image(&self, name: &str) -> Arc<tokio::sync::RwLock<()>> {
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        images.entry(name.to_owned()).or_default().clone()
    }

    /// What only one operation of this program may do at a time, by name.
    pub(super) fn turn(&self, name: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.entry(name.to_owned()).or_default().clone()
    }
}

impl Vios {
    fn of(vios: &VirtualIoServer) -> Self {
        Self {
            id: vios.partition.id.clone(),
            name: vios.partition.name.clone(),
            number: vios.partition.number,
            is_management: vios.partition.is_management,
            ports: vios.ports.clone(),
        }
    }
}

/// A VIOS runs and answers, or else it is where NovaLink itself runs, which is its own proof.
fn is_active(vios: &VirtualIoServer) -> bool {
    let partition = &vios.partition;
    partition.is_management || partition.state == "running" && matches!(partition.rmc.as_str(), "active" | "busy")
}
