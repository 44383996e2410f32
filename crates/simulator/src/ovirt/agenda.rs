//! What is due when: everything that takes time on a real engine is an entry here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::lifecycle::transfer::Event as TransferEvent;
use super::lifecycle::vm::Event as VmEvent;
use super::table::Id;
use crate::core::Instant;

/// The place of an entry in the agenda; entries of the same time keep the order in which they were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Key {
    at: Instant,
    number: u64,
}

/// What happens when its time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Due {
    /// A VM takes the next step of a change of its power state.
    Vm(Id, VmEvent),
    /// An image transfer takes its next step.
    Transfer(Id, TransferEvent),
    /// An operation on storage is finished; the id is that of its job.
    Operation(Id),
    /// A job is reported as finished, a little after what it did.
    JobEnds(Id),
    /// A host that was told to go into maintenance, or back, is looked at.
    Host(Id),
    /// VMs that break an affinity rule are looked for.
    EnforceAffinity,
}

/// The entries in the order of their times.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "Stored")]
pub(crate) struct Agenda {
    entries: BTreeMap<Key, Due>,
    numbered: u64,
}

impl Agenda {
    /// Adds an entry.
    pub(crate) fn add(&mut self, at: Instant, due: Due) -> Key {
        self.numbered += 1;
        let key = Key { at, number: self.numbered };
        self.entries.insert(key, due);
        key
    }

    /// Strikes an entry out; no error if it is gone.
    pub(crate) fn cancel(&mut self, key: Key) {
        self.entries.remove(&key);
    }

    /// When the first entry is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.entries.keys().next().map(|key| key.at)
    }

    /// Takes the first entry that is due by `now`.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Instant, Due)> {
        let key = *self.entries.keys().next().filter(|key| key.at <= now)?;
        self.entries.remove(&key).map(|due| (key.at, due))
    }

    /// Whether such an entry waits.
    pub(crate) fn has(&self, due: Due) -> bool {
        self.entries.values().any(|entry| *entry == due)
    }
}

/// The agenda as a list, because a map in JSON has only texts for keys.
#[derive(Serialize, Deserialize)]
struct Stored {
    entries: Vec<(Key, Due)>,
    numbered: u64,
}

impl From<Stored> for Agenda {
    fn from(stored: Stored) -> Self {
        Self { entries: stored.entries.into_iter().collect(), numbered: stored.numbered }
    }
}

impl Serialize for Agenda {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entries = self.entries.iter().map(|(key, due)| (*key, *due)).collect();
        Stored { entries, numbered: self.numbered }.serialize(serializer)
    }
}
