//! The journal: what was intended and what came of it, in one `SQLite` file that survives any crash.
//!
//! Every record is on disk before [`Journal::record`] returns: an intention before the platform is called, an outcome before
//! anything builds on it. Others may read the file at any time ([`Journal::read`]), also while it is written.

mod record;
mod store;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use async_trait::async_trait;
use jiff::Timestamp;
use landfall_platform::{ErrorClass, InfraId, Notes, Outputs, StepError, StepId, StepSpec};

pub use record::{IllegalRecord, Record, State};

use store::Store;
use writer::Writer;

/// The journal of one cluster, open for writing.
pub struct Journal {
    writer: Arc<Writer>,
}

/// Writes down what one step notes. It keeps no journal open.
struct Notebook {
    step: StepId,
    writer: Weak<Writer>,
}

#[async_trait]
impl Notes for Notebook {
    async fn note(&self, outputs: Outputs) -> Result<(), StepError> {
        // Nobody waits for a step whose journal is closed.
        let Some(writer) = self.writer.upgrade() else { return Ok(()) };
        let noted = writer.record(self.step.clone(), Record::EnsureNotes(outputs)).await;
        noted.map_err(|error| StepError::new(ErrorClass::Bug, error))
    }
}

/// What a journal says at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Whose journal it is.
    pub infra_id: InfraId,
    /// All steps that were ever begun, in the order in which they were.
    pub entries: Vec<Entry>,
}

/// What a journal says of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The step as it was when it last began.
    pub spec: StepSpec,
    /// Where it stands.
    pub state: State,
    /// What it told when it was done, or noted last before.
    pub outputs: Option<Outputs>,
    /// How it failed, if it last did.
    pub failure: Option<Failure>,
    /// When it last began.
    pub began: Timestamp,
    /// When it last ended.
    pub ended: Option<Timestamp>,
    /// When it was last made, also if it has been removed since.
    pub made: Option<Made>,
}

/// When a step was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// When the call began that succeeded.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
}

/// How a step failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What kind of trouble.
    pub class: ErrorClass,
    /// What went wrong, with its causes.
    pub error: String,
}

/// Why a journal could not be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file is not a journal, or it is damaged.
    #[error("the journal {} is damaged or not a journal: {detail}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The file is empty: the process that made it died before it wrote anything.
    #[error("the journal {} was not begun", path.display())]
    NotBegun {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of the program wrote it.
    #[error("the journal {} has format {found}, this program knows {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format known here.
        known: i64,
    },
    /// It belongs to another cluster.
    #[error("the journal {} belongs to cluster {found}, not to {wanted}", path.display())]
    OtherCluster {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        found: String,
        /// Whose it should be.
        wanted: InfraId,
    },
    /// Another process writes it.
    #[error("another process is writing the journal {}", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Reading or writing failed, for example because the disk is full.
    #[error("cannot {action} the journal {}", path.display())]
    Storage {
        /// What was attempted.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What `SQLite` answered.
        #[source]
        source: rusqlite::Error,
    },
    /// A record does not fit the state of its step.
    #[error(transparent)]
    Illegal(#[from] IllegalRecord),
    /// The journal was closed by an earlier error.
    #[error("the journal {} is closed after an earlier error", path.display())]
    Closed {
        /// The file.
        path: PathBuf,
    },
}

impl Journal {
    /// Opens the journal of a cluster, or begins one.
    pub fn open(path: &Path, infra_id: &InfraId) -> Result<Self, JournalError> {
        Ok(Self { writer: Arc::new(Writer::start(Store::open(path, infra_id)?)) })
    }

    /// What a journal says now. Needs no lock and disturbs no writer.
    pub fn read(path: &Path) -> Result<Snapshot, JournalError> {
        Store::open_read_only(path)?.snapshot()
    }

    /// The same, or `None` if there is no journal, or if the process that made it died before it wrote anything.
    pub fn read_begun(path: &Path) -> Result<Option<Snapshot>, JournalError> {
        if !path.exists() {
            return Ok(None);
        }
        match Self::read(path) {
            Err(JournalError::NotBegun { .. }) => Ok(None),
            read => read.map(Some),
        }
    }

    /// What this journal says now.
    pub async fn snapshot(&self) -> Result<Snapshot, JournalError> {
        self.writer.snapshot().await
    }

    /// Adds a record; it is on disk when this returns. Records that are added side by side share one write.
    pub async fn record(&self, step: StepId, record: Record) -> Result<(), JournalError> {
        self.writer.record(step, record).await
    }

    /// Writes down what a step notes while it is being made.
    pub(crate) fn notes(&self, step: StepId) -> Arc<dyn Notes> {
        Arc::new(Notebook { step, writer: Arc::downgrade(&self.writer) })
    }
}

impl Snapshot {
    /// What the journal says of a step.
    pub fn entry(&self, id: &StepId) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.spec.id == *id)
    }

    /// Steps of which something may exist on the platform.
    pub fn remaining(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.state != State::Removed)
    }
}
