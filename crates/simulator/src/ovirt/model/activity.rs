//! Jobs and events: what the engine did, by the correlation id of the request that asked for it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::words::{JobStatus, Severity};
use crate::core::Instant;
use crate::ovirt::table::{Id, entities};

entities!(Job);

/// A command of the engine and how far it is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) id: Id,
    /// The description, for example `Creating VM web-1`.
    pub(crate) name: Box<str>,
    pub(crate) correlation: Box<str>,
    pub(crate) owner: Id,
    pub(crate) status: JobStatus,
    pub(crate) started: Instant,
    pub(crate) ended: Option<Instant>,
    pub(crate) updated: Instant,
    pub(crate) steps: Vec<Step>,
    /// Made by a client to report on something of its own.
    pub(crate) external: bool,
    pub(crate) auto_cleared: bool,
}

/// A part of a job.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) id: Id,
    pub(crate) kind: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) status: JobStatus,
    pub(crate) started: Instant,
    pub(crate) ended: Option<Instant>,
    pub(crate) parent: Option<Id>,
    pub(crate) external: bool,
}

/// Something that happened.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) index: u64,
    pub(crate) code: u32,
    pub(crate) severity: Severity,
    pub(crate) time: Instant,
    pub(crate) description: Box<str>,
    pub(crate) correlation: Box<str>,
    pub(crate) origin: Box<str>,
    pub(crate) custom_id: Option<i64>,
    pub(crate) user: Option<Id>,
    pub(crate) about: About,
}

/// What an event is about; ids may be of things that are gone.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct About {
    pub(crate) vm: Option<Id>,
    pub(crate) host: Option<Id>,
    pub(crate) template: Option<Id>,
    pub(crate) storage_domain: Option<Id>,
    pub(crate) cluster: Option<Id>,
    pub(crate) data_center: Option<Id>,
}

/// How many events are kept; the engine keeps a month's.
const KEPT_EVENTS: usize = 20_000;

/// The events, the oldest first.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Events {
    all: VecDeque<Event>,
    last: u64,
}

impl Events {
    /// Adds an event, which gets the next index.
    pub(crate) fn push(&mut self, mut event: Event) -> u64 {
        self.last += 1;
        event.index = self.last;
        if self.all.len() == KEPT_EVENTS {
            self.all.pop_front();
        }
        self.all.push_back(event);
        self.last
    }

    /// The events, the newest first.
    pub(crate) fn newest_first(&self) -> impl DoubleEndedIterator<Item = &Event> {
        self.all.iter().rev()
    }

    /// The event with that index.
    pub(crate) fn get(&self, index: u64) -> Option<&Event> {
        self.position(index).and_then(|at| self.all.get(at))
    }

    /// Removes the event with that index.
    pub(crate) fn remove(&mut self, index: u64) -> bool {
        self.position(index).and_then(|at| self.all.remove(at)).is_some()
    }

    fn position(&self, index: u64) -> Option<usize> {
        self.all.binary_search_by_key(&index, |event| event.index).ok()
    }
}
