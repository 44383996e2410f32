//! Partitions that were just made, of which it is known without a look that they have nothing yet.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::PartitionId;

/// What a partition can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// Network adapters.
    Adapters,
    /// The medium of its config drive.
    Medium,
}

const PARTS: [Part; 2] = [Part::Adapters, Part::Medium];

/// What nobody has begun to make for partitions of this program. A program that starts knows of none, so it looks.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    untouched: Mutex<BTreeSet<(PartitionId, Part)>>,
}

impl Fresh {
    /// The console has said that it made this partition.
    pub(super) fn made(&self, partition: &PartitionId) {
        let mut untouched = self.untouched.lock().unwrap_or_else(PoisonError::into_inner);
        untouched.extend(PARTS.map(|part| (partition.clone(), part)));
    }

    /// Whether nobody has begun to make this. Whoever asks begins: a second attempt has to look.
    pub(super) fn begin(&self, partition: &PartitionId, part: Part) -> bool {
        self.untouched.lock().unwrap_or_else(PoisonError::into_inner).remove(&(partition.clone(), part))
    }

    /// The partition goes.
    pub(super) fn forget(&self, partition: &PartitionId) {
        for part in PARTS {
            self.begin(partition, part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_to_make_something_need_not_look() {
        let (fresh, id) = (Fresh::default(), PartitionId::from(uuid::Uuid::from_u128(1)));
        assert!(!fresh.begin(&id, Part::Medium));
        fresh.made(&id);
        assert!(fresh.begin(&id, Part::Medium));
        assert!(!fresh.begin(&id, Part::Medium));
        fresh.forget(&id);
        assert!(!fresh.begin(&id, Part::Adapters));
    }
}
