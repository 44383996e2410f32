//! What must be so, whatever the stranger did.

use std::collections::{BTreeMap, BTreeSet};

use super::{Thing, ghost::Ghost};

pub(super) type Things = BTreeMap<String, Thing>;

impl Ghost {
    /// Nothing of others was deleted or changed: neither what was there before nor what the stranger made.
    pub(super) fn assert_others_untouched(&self, before: &Things, when: &str) -> Things {
        let things = self.world.things();
        let others = before.iter().map(|(id, thing)| (id.clone(), thing.line.clone())).chain(self.strangers());
        for (id, line) in others {
            match things.get(&id) {
                None => panic!("{when}: {line} ({id}) of somebody else was deleted"),
                Some(thing) => assert_eq!(thing.line, line, "{when}: {id} of somebody else was changed"),
            }
        }
        things
    }

    /// Of the cluster nothing is there that a removal could know: nothing with the mark, nothing that its journal has the id of, and
    /// where the journal is that of the installation, nothing at all. `looked` is the call before which the removal looked last: what was
    /// cloned after it is for the next removal.
    pub(super) fn assert_gone(&self, before: &Things, known: Known<'_>, looked: u64, when: &str) {
        let things = self.assert_others_untouched(before, when);
        let strangers = self.strangers();
        let is_ours = |id: &String, thing: &Thing| match known {
            Known::All => !before.contains_key(id) && !strangers.contains_key(id),
            Known::Recorded(ids) => thing.is_marked || ids.contains(id),
        };
        let is_late = |id: &String| self.marked_at(id).is_some_and(|call| call > looked);
        let left: Vec<&String> = things
            .iter()
            .filter(|(id, thing)| is_ours(id, thing) && !is_late(id))
            .map(|(_, thing)| &thing.line)
            .collect();
        assert!(left.is_empty(), "{when} said that nothing is left, and there is {left:#?}");
    }
}

/// What a removal can know of a cluster.
#[derive(Clone, Copy)]
pub(super) enum Known<'a> {
    /// It has the journal of the installation, and nothing else was at work.
    All,
    /// The mark, and these ids.
    Recorded(&'a BTreeSet<String>),
}
