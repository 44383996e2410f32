//! Which operation has which journal, and what is done with those that a process that died has left.
//!
//! A journal is there while its operation is: it goes when the operation has succeeded, or has failed and is undone. So one that is
//! found when the driver starts belongs to an operation that was cut off. Nova forgets those too, and puts the instance into an error
//! state or begins again; so what was begun is undone.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use landfall_platform_powervm::compute::{self, Departure, Host, PartitionId, Run};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::connection::Session;
use crate::failure::{Failure, Trace};
use crate::task::Reporter;

const SUFFIX: &str = ".sqlite";

/// What an operation does, as far as undoing it is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It makes or removes a whole partition with its disks: what is left of it goes.
    Lifetime,
    /// It prepares the server for a partition that comes: once that is there, nothing is undone.
    Arrival,
    /// It moves the partition to another server while it runs: once that has happened, it is finished instead of undone.
    Departure,
    /// Anything else: its steps are undone, one by one.
    Change,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Lifetime => "lifetime",
            Self::Arrival => "arrival",
            Self::Departure => "departure",
            Self::Change => "change",
        }
    }
}

/// The journal of an operation on an instance.
pub(crate) struct Journal {
    path: PathBuf,
}

impl Journal {
    /// The journal of an instance for a kind of operation. `subject` tells those apart that can run at the same time.
    pub(crate) fn new(session: &Session, uuid: Uuid, kind: Kind, subject: &str) -> Self {
        let subject: String = subject.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        Self { path: session.journals.join(format!("{uuid}.{}.{subject}{SUFFIX}", kind.word())) }
    }

    /// How an operation with this journal is carried out.
    pub(crate) fn run(&self, reporter: &Reporter, cancel: &CancellationToken) -> Run {
        Session::run(self.path.clone(), reporter, cancel)
    }

    /// Whether anything is noted.
    pub(crate) fn exists(&self) -> bool {
        self.path.exists()
    }

    /// There is nothing any more that would have to be undone.
    pub(crate) fn forget(&self) {
        forget(&self.path);
    }

    /// The operation has ended: its journal goes, unless something remains that it knows of.
    pub(crate) fn close<T, E: Into<Failure>>(&self, outcome: Result<T, E>) -> Result<T, Failure> {
        let outcome = outcome.map_err(Into::into);
        if outcome.as_ref().err().is_none_or(|failure| matches!(failure.trace(), Trace::Untouched | Trace::Undone)) {
            forget(&self.path);
        }
        outcome
    }
}

/// Deletes a journal with the files that its database has beside it. That one is not there is as good.
fn forget(path: &Path) {
    for suffix in ["", "-journal", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let _absent = std::fs::remove_file(name);
    }
}

/// Undoes what a process that died has begun. What became of each operation: those that cannot be undone keep their journal, and
/// partitions that had moved to another server by then are named with it.
pub(crate) async fn recover(
    session: &Session,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Value, Failure> {
    let directory = &session.journals;
    std::fs::create_dir_all(directory).map_err(|error| unusable(directory, &error))?;
    let outcomes = undo_all(session, |_, _| true, reporter, cancel).await?;
    let told = |(uuid, undone): (Uuid, Result<Departure, Failure>)| match undone {
        Ok(Departure::Stays) => json!({"uuid": uuid, "error": null, "target": null}),
        Ok(Departure::Gone { target }) => json!({"uuid": uuid, "error": null, "target": target}),
        Err(failure) => json!({"uuid": uuid, "error": failure.message(), "target": null}),
    };
    Ok(outcomes.into_iter().map(told).collect())
}

/// Instances for which something is prepared here.
pub(crate) fn expected(session: &Session) -> Result<Value, Failure> {
    let found = journals(session)?.into_iter().filter(|(_, kind, _)| *kind == Kind::Arrival);
    Ok(found.map(|(uuid, ..)| json!(uuid)).collect())
}

/// Somebody knows now that a partition has moved.
pub(crate) fn departed(session: &Session, uuid: Uuid) -> Value {
    Journal::new(session, uuid, Kind::Departure, "").forget();
    Value::Null
}

/// Undoes what operations on an instance have left that failed and could not be undone then. Those that are under way are left alone.
pub(crate) async fn settle(
    session: &Session,
    uuid: Uuid,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<(), Failure> {
    let changes = |whose: Uuid, kind: Kind| whose == uuid && matches!(kind, Kind::Departure | Kind::Change);
    for (_, undone) in undo_all(session, changes, reporter, cancel).await? {
        match undone {
            Err(failure) if failure.trace() != Trace::Untouched => return Err(failure),
            Ok(Departure::Gone { .. }) => drop(departed(session, uuid)),
            _ => {}
        }
    }
    Ok(())
}

/// Undoes what the journals of some operations know. That of a partition which has moved is kept until somebody knows.
async fn undo_all(
    session: &Session,
    wanted: impl Fn(Uuid, Kind) -> bool,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Vec<(Uuid, Result<Departure, Failure>)>, Failure> {
    let host = session.host().await?;
    let mut outcomes = Vec::new();
    for (uuid, kind, journal) in journals(session)?.into_iter().filter(|(uuid, kind, _)| wanted(*uuid, *kind)) {
        reporter.say("info", format!("undoing what was begun with instance {uuid} and did not end"));
        let undone = undo(&host, &uuid.into(), kind, &journal.run(reporter, cancel)).await;
        let has_moved = matches!(undone, Ok(Departure::Gone { .. }));
        outcomes.push((uuid, if has_moved { undone } else { journal.close(undone) }));
    }
    Ok(outcomes)
}

/// All journals that there are.
fn journals(session: &Session) -> Result<Vec<(Uuid, Kind, Journal)>, Failure> {
    let failed = |error: std::io::Error| unusable(&session.journals, &error);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&session.journals).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        found.extend(meaning(&path).map(|(uuid, kind)| (uuid, kind, Journal { path })));
    }
    Ok(found)
}

fn unusable(directory: &Path, error: &std::io::Error) -> Failure {
    Failure::invalid(format!("the directory {} for journals cannot be used: {error}", directory.display()))
}

/// Undoes what an operation of a kind has begun, and tells where the partition is after that.
pub(crate) async fn undo(host: &Arc<Host>, id: &PartitionId, kind: Kind, run: &Run) -> Result<Departure, Failure> {
    match kind {
        Kind::Lifetime => compute::destroy(host, id, run).await?,
        Kind::Arrival if exists(host, id).await? => {}
        Kind::Arrival | Kind::Change => compute::unwind(host, id, run).await?,
        Kind::Departure => return Ok(compute::end_departure(host, id, run).await?),
    }
    Ok(Departure::Stays)
}

async fn exists(host: &Host, id: &PartitionId) -> Result<bool, Failure> {
    Ok(host.client().partition_state(id.as_str()).await?.is_some())
}

/// The instance and the kind of operation that a journal is for, by its name.
fn meaning(path: &Path) -> Option<(Uuid, Kind)> {
    let mut words = path.file_name()?.to_str()?.strip_suffix(SUFFIX)?.splitn(3, '.');
    let uuid = words.next()?.parse().ok()?;
    let word = words.next()?;
    let kind =
        [Kind::Lifetime, Kind::Arrival, Kind::Departure, Kind::Change].into_iter().find(|kind| kind.word() == word)?;
    Some((uuid, kind))
}
