//! How far joining has come, for people: in the log, and in a file that `landfall-node doctor` reads.

use std::{path::PathBuf, time::Duration};

use tokio::time::Instant;

use crate::{machine::Machine, stored};

/// How often the log repeats what has not changed.
const REMIND: Duration = Duration::from_mins(1);

/// Tells what a machine waits for whenever that changes, and once in a while if it does not.
pub(super) struct State {
    file: PathBuf,
    told: Option<(String, Instant)>,
}

impl State {
    pub(super) fn of(machine: &Machine) -> Self {
        Self { file: file(machine), told: None }
    }

    pub(super) fn tell(&mut self, seen: &str) {
        if self.told.as_ref().is_some_and(|(last, at)| last == seen && at.elapsed() < REMIND) {
            return;
        }
        self.told = Some((seen.to_owned(), Instant::now()));
        tracing::warn!("this machine has not joined yet: {seen}");
        if let Err(error) = stored::write(&self.file, seen) {
            tracing::warn!(%error, "cannot write how far joining has come");
        }
    }

    pub(super) fn end(&self) {
        // Nothing depends on it: the machine has joined.
        let _ = stored::remove(&self.file);
    }
}

/// Returns what a machine that has not joined was last seen waiting for.
pub(crate) fn last_state(machine: &Machine) -> Option<String> {
    std::fs::read_to_string(file(machine)).ok()
}

fn file(machine: &Machine) -> PathBuf {
    machine.runtime.join("join.state")
}
