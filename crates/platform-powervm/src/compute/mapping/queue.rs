//! Updates of one VIOS: one at a time, each with all changes that have come meanwhile.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use landfall_platform::ErrorClass;
use tokio::sync::oneshot;

use super::change::Change;
use crate::Client;
use crate::client::{Edit, Entry, Group, Path, Storage, VirtualIoServer};
use crate::xml::Element;

/// The parts of a VIOS that say what it maps: disks and media, and what changes of Fibre Channel ports need besides.
pub(super) const ALL: [Group; 2] = [Group::ViosScsiMappings, Group::ViosFibreChannelMappings];

/// What became of a submission.
#[derive(Clone, Debug)]
pub(in crate::compute) struct Applied {
    /// The VIOS after the update.
    vios: Arc<Entry>,
    /// What this submission took from partitions.
    pub(in crate::compute) released: Vec<Storage>,
}

impl Applied {
    /// Whether the VIOS shows something to anybody after the update.
    pub(in crate::compute) fn still_maps(&self, storage: &Storage) -> bool {
        VirtualIoServer::read(&self.vios).mappings.iter().any(|mapping| mapping.storage.as_ref() == Some(storage))
    }
}

type Outcome = Result<Applied, Arc<crate::Error>>;

#[derive(Debug)]
struct Submission {
    changes: Vec<Change>,
    outcome: oneshot::Sender<Outcome>,
}

/// A VIOS as it was when the console last told.
#[derive(Debug)]
struct Last {
    /// The path that it was read by.
    path: Path,
    entry: Entry,
    /// When the console was asked, or had changed it.
    since: Instant,
}

/// The changes of a VIOS that wait for the update that is under way.
#[derive(Debug, Default)]
pub(in crate::compute) struct Queue {
    waiting: Mutex<Vec<Submission>>,
    last: Mutex<Option<Last>>,
    turn: tokio::sync::Mutex<()>,
}

impl Queue {
    /// Makes changes, together with those of others.
    ///
    /// Whoever gets the turn makes all changes that wait, also those of others, who find theirs done. If it is cut off, the
    /// others notice and make theirs themselves: changes look before they change, so that one made twice does no harm.
    pub(in crate::compute) async fn submit(&self, client: &Client, vios: &str, changes: Vec<Change>) -> Outcome {
        loop {
            let (outcome, mut made) = oneshot::channel();
            let submission = Submission { changes: changes.clone(), outcome };
            self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(submission);
            let _turn = tokio::select! {
                biased;
                outcome = &mut made => match outcome {
                    Ok(outcome) => return outcome,
                    Err(_) => continue,
                },
                turn = self.turn.lock() => turn,
            };
            let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            self.update(client, vios, waiting).await;
            if let Ok(outcome) = made.try_recv() {
                return outcome;
            }
        }
    }

    /// Takes note of how the VIOS was when the console was asked, unless it was changed since. If it is another when it is changed, the
    /// console says so.
    pub(super) fn learn(&self, vios: &Entry, groups: &[Group], since: Instant) {
        let path = Path::entry("VirtualIOServer", &vios.id).with(groups);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref().is_none_or(|known| known.path != path || known.since < since) {
            *last = Some(Last { path, entry: vios.clone(), since });
        }
    }

    /// How the VIOS was at a time, or later, if it is known.
    pub(super) fn since(&self, time: Instant) -> Option<Entry> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|last| last.since >= time).map(|last| last.entry.clone())
    }

    /// Makes the changes of some submissions in one update. If the console refuses that, it is asked one submission at a time, so that
    /// one that cannot be fails alone.
    async fn update(&self, client: &Client, vios: &str, mut submissions: Vec<Submission>) {
        submissions.retain(|submission| !submission.outcome.is_closed());
        if submissions.len() > 1 {
            let lists: Vec<&[Change]> = submissions.iter().map(|submission| submission.changes.as_slice()).collect();
            match self.apply(client, vios, &lists).await {
                Ok(applied) => {
                    for (submission, applied) in submissions.into_iter().zip(applied) {
                        let _gone = submission.outcome.send(Ok(applied));
                    }
                    return;
                }
                Err(error) if error.class() != ErrorClass::Invalid => {
                    let error = Arc::new(error);
                    for submission in submissions {
                        let _gone = submission.outcome.send(Err(Arc::clone(&error)));
                    }
                    return;
                }
                Err(_) => {}
            }
        }
        for submission in submissions {
            let outcome = self.apply(client, vios, &[&submission.changes]).await;
            let outcome = outcome.map(|mut applied| applied.remove(0)).map_err(Arc::new);
            let _gone = submission.outcome.send(outcome);
        }
    }

    async fn apply(&self, client: &Client, vios: &str, lists: &[&[Change]]) -> Result<Vec<Applied>, crate::Error> {
        let changes = || lists.iter().copied().flatten();
        let groups = if changes().any(Change::is_fibre) { &ALL[..] } else { &ALL[..1] };
        let path = Path::entry("VirtualIOServer", vios).with(groups);
        let mut released: Vec<Vec<Storage>> = Vec::new();
        let edit = |object: &mut Element| {
            released = vec![Vec::new(); lists.len()];
            let mut outcome = Edit::Unchanged;
            for (list, released) in lists.iter().zip(&mut released) {
                for change in *list {
                    if change.apply(client, object, released)? == Edit::Changed {
                        outcome = Edit::Changed;
                    }
                }
            }
            Ok(outcome)
        };
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        let last = last.filter(|last| last.path == path).map(|last| last.entry);
        let entry = client.edit_from(&path, last, edit).await?;
        let last = Last { path, entry: entry.clone(), since: Instant::now() };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
        let entry = Arc::new(entry);
        Ok(released.into_iter().map(|released| Applied { vios: Arc::clone(&entry), released }).collect())
    }
}
