//! What was asked of the API server and has not been seen to happen yet.

use std::{
    collections::HashMap,
    sync::Mutex,
    time::{Duration, Instant},
};

/// After this time what was asked counts as not having happened.
const PATIENCE: Duration = Duration::from_secs(30);

/// Machines that sets have made or deleted, and that the watch has not told of yet. Without it a set that looks again too soon would
/// make them twice.
#[derive(Default)]
pub(crate) struct Expectations(Mutex<HashMap<String, HashMap<String, Instant>>>);

impl Expectations {
    /// A set has asked for something to happen to a machine.
    pub(crate) fn expect(&self, set: &str, machine: &str) {
        self.lock().entry(set.to_owned()).or_default().insert(machine.to_owned(), Instant::now());
    }

    /// It has happened, or was refused.
    pub(crate) fn met(&self, set: &str, machine: &str) {
        if let Some(machines) = self.lock().get_mut(set) {
            machines.remove(machine);
        }
    }

    /// How many things a set still waits for.
    pub(crate) fn open(&self, set: &str) -> usize {
        let mut all = self.lock();
        let Some(machines) = all.get_mut(set) else { return 0 };
        machines.retain(|_, since| since.elapsed() < PATIENCE);
        machines.len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, HashMap<String, Instant>>> {
        self.0.lock().expect("nobody panics while holding it")
    }
}
