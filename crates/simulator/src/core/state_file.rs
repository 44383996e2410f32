//! The state file: what makes a simulator survive a restart.
//!
//! A call that may have changed something (any method but GET, HEAD and OPTIONS) is answered only after a file that
//! contains its effect is on disk; calls that arrive while one is being written share the next. What only time or guests
//! changed is written within half a second: a simulator that was killed before that carries it out again, because the
//! deadlines are in the file. The file is replaced as a whole by a rename, so a kill at any moment leaves the old one or
//! the new one.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::private_file;
use super::simulation::{Instant, Simulation};
use super::world::World;

/// How long changes that nobody waits for may stay unwritten.
const UNWRITTEN_FOR: Duration = Duration::from_millis(500);

const FORMAT: &str = "landfall-simulator/1";

/// Why a state file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// It could not be read.
    #[error("read the state file")]
    Read(#[source] io::Error),
    /// It could not be written.
    #[error("write the state file")]
    Write(#[source] io::Error),
    /// Another simulator uses it.
    #[error("{0} is in use by another simulator; stop that one or choose another file")]
    InUse(PathBuf),
    /// It is not a state file of this version.
    #[error("{path} is not a simulator's state; remove it to begin anew")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// It belongs to something else.
    #[error("{path} holds {found}, not {expected}; choose another file")]
    Other {
        /// The file.
        path: PathBuf,
        /// What it holds.
        found: String,
        /// What was expected.
        expected: String,
    },
}

/// What is in a state file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Saved {
    format: String,
    platform: String,
    pub(super) seed: u64,
    pub(super) epoch: Timestamp,
    pub(super) now: Instant,
    pub(super) simulation: serde_json::Value,
    pub(super) guests: serde_json::Value,
}

/// What stays the same over the life of a simulator.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) platform: String,
    pub(super) seed: u64,
    pub(super) epoch: Timestamp,
}

/// A state file that this process owns.
#[derive(Debug)]
pub(super) struct StateFile {
    path: PathBuf,
    /// Locked for as long as it is open. It is a file of its own, because the state file is replaced at each write.
    /// `None` after [`Keeper::close`], when the file may belong to somebody else.
    owned: Mutex<Option<std::fs::File>>,
}

impl StateFile {
    /// Takes possession of a file and reads what is in it, if it exists.
    pub(super) fn open(path: &Path, platform: &str) -> Result<(Self, Option<Saved>), StateError> {
        let lock = private_file::create(&beside(path, "lock")).map_err(StateError::Write)?.into_parts().0;
        match lock.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Err(StateError::InUse(path.to_owned())),
            Err(std::fs::TryLockError::Error(error)) => return Err(StateError::Write(error)),
        }
        let saved = match fs_err::read(path) {
            Ok(bytes) => Some(parse(path, &bytes, platform)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(StateError::Read(error)),
        };
        Ok((Self { path: path.to_owned(), owned: Mutex::new(Some(lock)) }, saved))
    }

    /// Replaces the content; on disk when it returns.
    #[expect(clippy::disallowed_methods, reason = "written as it is serialised, and followed by the directory's fsync")]
    fn write(&self, saved: &Saved) -> io::Result<()> {
        let owned = self.owned();
        if owned.is_none() {
            return Err(io::Error::other("the simulator has ended"));
        }
        let new = beside(&self.path, "new");
        let mut writer = io::BufWriter::new(private_file::create(&new)?);
        serde_json::to_writer(&mut writer, saved)?;
        writer.flush()?;
        writer.get_ref().sync_all()?;
        fs_err::rename(&new, &self.path)?;
        // The rename itself is on disk only when the directory is.
        let directory = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        fs_err::File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
    }

    fn owned(&self) -> MutexGuard<'_, Option<std::fs::File>> {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

fn parse(path: &Path, bytes: &[u8], platform: &str) -> Result<Saved, StateError> {
    let saved: Saved =
        serde_json::from_slice(bytes).map_err(|source| StateError::Damaged { path: path.to_owned(), source })?;
    let other = |found: &str, expected: &str| StateError::Other {
        path: path.to_owned(),
        found: found.to_owned(),
        expected: expected.to_owned(),
    };
    if saved.format != FORMAT {
        return Err(other(&format!("state of the format {}", saved.format), FORMAT));
    }
    if saved.platform != platform {
        return Err(other(&format!("the state of platform {}", saved.platform), &format!("that of {platform}")));
    }
    Ok(saved)
}

/// Writes a world to its file whenever it changed.
#[derive(Debug)]
pub(super) struct Keeper {
    file: Arc<StateFile>,
    origin: Origin,
    /// Somebody waits for the next write.
    wanted: Notify,
    progress: watch::Sender<Progress>,
}

/// How far the file is.
#[derive(Clone, Debug, Default)]
struct Progress {
    /// The last revision that was tried.
    revision: u64,
    /// Why it is not in the file.
    failure: Option<Arc<io::Error>>,
}

impl Keeper {
    pub(super) fn new(file: StateFile, origin: Origin) -> Self {
        let progress = watch::Sender::default();
        Self { file: Arc::new(file), origin, wanted: Notify::new(), progress }
    }

    /// Writes when there is something new, and once more when it is told to stop.
    pub(super) async fn run<S: Simulation>(&self, world: &World<S>, stop: &CancellationToken) {
        let mut changes = world.revisions();
        // A call may be faster than the start of this task; it waits for its change to be written.
        if *changes.borrow() > self.progress.borrow().revision {
            changes.mark_changed();
        }
        while stop.run_until_cancelled(changes.changed()).await.is_some() {
            let more = tokio::time::timeout(UNWRITTEN_FOR, self.wanted.notified());
            stop.run_until_cancelled(more).await;
            changes.mark_unchanged();
            self.write(world).await;
        }
        self.write(world).await;
    }

    /// Gives the file up: a write in progress ends before, and none happens afterwards.
    pub(super) fn close(&self) {
        self.file.owned().take();
    }

    /// Writes the world as it is now.
    async fn write<S: Simulation>(&self, world: &World<S>) {
        let snapshot = world.snapshot();
        let Origin { platform, seed, epoch } = self.origin.clone();
        let saved = Saved {
            format: FORMAT.to_owned(),
            platform,
            seed,
            epoch,
            now: snapshot.now,
            simulation: snapshot.simulation,
            guests: snapshot.guests,
        };
        let file = self.file.clone();
        let written = tokio::task::spawn_blocking(move || file.write(&saved)).await;
        let failure = written.unwrap_or_else(|join| Err(io::Error::other(join))).err().map(Arc::new);
        if let Some(error) = failure.as_ref().filter(|_| self.file.owned().is_some()) {
            tracing::error!(%error, "the state could not be saved");
        }
        self.progress.send_replace(Progress { revision: snapshot.revision, failure });
    }

    /// Returns when the file contains everything up to `revision`, or could not be written.
    pub(super) async fn saved(&self, revision: u64) -> Result<(), StateError> {
        let mut progress = self.progress.subscribe();
        self.wanted.notify_one();
        let reached = progress.wait_for(|progress| progress.revision >= revision).await;
        let failure = reached.ok().and_then(|progress| progress.failure.clone());
        failure.map_or(Ok(()), |error| Err(StateError::Write(io::Error::new(error.kind(), error))))
    }
}
