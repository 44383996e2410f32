//! Decides whether a history of reads and writes of one register is linearizable: each operation takes effect at one instant between its call and
//! its return, and every read returns what the last write before it wrote.
//!
//! It is the search of Wing and Gong with the memory of Lowe: one operation after the other is chosen that may be the next, and a state that
//! was seen is not searched again. Every value is written once.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use serde::Serialize;

/// The value before the first write.
pub(crate) const INITIAL: u64 = 0;

/// What was asked of the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Action {
    Write(u64),
    /// With the value that was returned.
    Read(u64),
}

/// An operation. The times are those of one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Operation {
    pub(crate) action: Action,
    pub(crate) called: Duration,
    /// `None` if nobody knows whether it took effect, or will.
    pub(crate) returned: Option<Duration>,
}

/// Why a history is not linearizable: no order of these operations, which were under way at the same time, explains what was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The value when all operations before were explained.
    value: u64,
    /// The first operations that could not be.
    unexplained: Vec<Operation>,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the register held {}, and no order explains", self.value)?;
        for operation in &self.unexplained {
            let returned = operation.returned.map_or("unknown".to_owned(), |time| format!("{:.6}", time.as_secs_f64()));
            write!(f, "; {:?} from {:.6} to {returned}", operation.action, operation.called.as_secs_f64())?;
        }
        Ok(())
    }
}

impl std::error::Error for Violation {}

/// Checks a history, whose operations may be in any order. Reads that did not return are not in it.
pub(crate) fn check(history: &[Operation]) -> Result<(), Violation> {
    let read: HashSet<u64> = history
        .iter()
        .filter_map(|operation| match operation.action {
            Action::Read(value) => Some(value),
            Action::Write(_) => None,
        })
        .collect();
    // A write that may not have taken effect, and that nobody saw, explains nothing: without it the same reads are right.
    let counts = |operation: &&Operation| match operation.action {
        Action::Write(value) => operation.returned.is_some() || read.contains(&value),
        Action::Read(_) => operation.returned.is_some(),
    };
    let mut operations: Vec<Operation> = history.iter().filter(counts).copied().collect();
    operations.sort_by_key(|operation| operation.called);
    search(&operations)
}

/// How far an order has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// All operations before this one are in the order.
    first: usize,
    /// Operations after it that are, too.
    beyond: BTreeSet<usize>,
    value: u64,
}

impl State {
    fn has(&self, index: usize) -> bool {
        index < self.first || self.beyond.contains(&index)
    }

    /// Adds an operation to the order.
    fn with(mut self, index: usize, action: Action) -> Self {
        if let Action::Write(value) = action {
            self.value = value;
        }
        self.beyond.insert(index);
        while self.beyond.remove(&self.first) {
            self.first += 1;
        }
        self
    }

    /// Operations that may be the next: no other one that is missing returned before they were called.
    fn candidates(&self, operations: &[Operation]) -> Vec<usize> {
        let mut candidates = Vec::new();
        let mut earliest_return: Option<Duration> = None;
        for (index, operation) in operations.iter().enumerate().skip(self.first) {
            if earliest_return.is_some_and(|returned| returned < operation.called) {
                break;
            }
            if !self.has(index) {
                candidates.push(index);
                earliest_return = [earliest_return, operation.returned].into_iter().flatten().min();
            }
        }
        candidates
    }
}

fn search(operations: &[Operation]) -> Result<(), Violation> {
    let mut open = vec![State { first: 0, beyond: BTreeSet::new(), value: INITIAL }];
    let mut seen = HashSet::new();
    let mut furthest: Option<State> = None;
    while let Some(state) = open.pop() {
        if state.first == operations.len() {
            return Ok(());
        }
        if !seen.insert(state.clone()) {
            continue;
        }
        if furthest
            .as_ref()
            .is_none_or(|furthest| (furthest.first, furthest.beyond.len()) < (state.first, state.beyond.len()))
        {
            furthest = Some(state.clone());
        }
        let candidates = state.candidates(operations);
        let fits = |index: &&usize| operations[**index].action == Action::Read(state.value);
        // A read of the present value changes nothing: if any order is right, one that has it here is.
        if let Some(&index) = candidates.iter().find(fits) {
            let action = operations[index].action;
            open.push(state.with(index, action));
            continue;
        }
        // The earliest is tried first, as it is pushed last.
        for &index in candidates.iter().rev() {
            let action = operations[index].action;
            if matches!(action, Action::Write(_)) {
                open.push(state.clone().with(index, action));
            }
        }
    }
    let Some(state) = furthest else { return Ok(()) };
    let unexplained = state.candidates(operations).into_iter().map(|index| operations[index]).collect();
    Err(Violation { value: state.value, unexplained })
}

#[cfg(test)]
mod tests;
