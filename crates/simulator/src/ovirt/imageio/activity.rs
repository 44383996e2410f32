//! What was done with each ticket, for the engine to show as progress and to tell idle transfers by.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::ticket::{Progress, Tickets};

/// The requests under way and the ranges done, by ticket.
#[derive(Default)]
pub(super) struct Activity {
    tickets: Mutex<HashMap<String, TicketActivity>>,
}

#[derive(Default)]
struct TicketActivity {
    ongoing: u32,
    done: Ranges,
}

/// A request under way on a ticket; the ticket becomes idle when the last one is dropped.
pub(super) struct Operation {
    activity: Arc<Activity>,
    engine: Arc<dyn Tickets>,
    ticket: String,
}

impl Operation {
    pub(super) fn begin(activity: Arc<Activity>, engine: Arc<dyn Tickets>, ticket: &str) -> Self {
        let operation = Self { activity, engine, ticket: ticket.to_owned() };
        operation.update(|ticket| ticket.ongoing += 1);
        operation
    }

    /// Takes note that a range was written, zeroed or read.
    pub(super) fn done(&self, range: Range<u64>) {
        self.update(|ticket| ticket.done.insert(range));
    }

    fn update(&self, change: impl FnOnce(&mut TicketActivity)) {
        let progress = {
            let mut tickets = self.activity.tickets.lock().unwrap_or_else(PoisonError::into_inner);
            let ticket = tickets.entry(self.ticket.clone()).or_default();
            change(ticket);
            Progress { transferred: ticket.done.total(), active: ticket.ongoing > 0 }
        };
        self.engine.report(&self.ticket, progress);
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        self.update(|ticket| ticket.ongoing -= 1);
    }
}

impl Activity {
    /// Forgets a ticket that opens nothing any more.
    pub(super) fn forget(&self, ticket: &str) {
        let mut tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner);
        // A request still under way would only bring it back, as idle, when it ends.
        if tickets.get(ticket).is_some_and(|ticket| ticket.ongoing == 0) {
            tickets.remove(ticket);
        }
    }
}

/// A set of numbers as ranges that neither touch nor overlap.
#[derive(Debug, Default)]
struct Ranges {
    /// End by start.
    ranges: BTreeMap<u64, u64>,
}

impl Ranges {
    fn insert(&mut self, range: Range<u64>) {
        let Range { mut start, mut end } = range;
        if start >= end {
            return;
        }
        while let Some((&other, &other_end)) = self.ranges.range(..=end).next_back()
            && other_end >= start
        {
            start = start.min(other);
            end = end.max(other_end);
            self.ranges.remove(&other);
        }
        self.ranges.insert(start, end);
    }

    fn total(&self) -> u64 {
        self.ranges.iter().map(|(start, end)| end - start).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The total counts every byte once, whatever the order and the overlaps.
        #[test]
        fn counts_every_byte_once(inserts in prop::collection::vec((0u64..200, 0u64..50), 0..30)) {
            let mut ranges = Ranges::default();
            let mut model = [false; 250];
            for (start, length) in inserts {
                ranges.insert(start..start + length);
                for byte in start..start + length {
                    model[usize::try_from(byte).unwrap()] = true;
                }
            }
            prop_assert_eq!(ranges.total(), model.iter().filter(|byte| **byte).count() as u64);
            let list: Vec<_> = ranges.ranges.into_iter().collect();
            prop_assert!(list.windows(2).all(|pair| pair[0].1 < pair[1].0), "{list:?}");
        }
    }
}
