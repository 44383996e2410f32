//! Another Landfall that runs beside the first: with a copy of its journal, or with none.

use std::{collections::BTreeSet, path::Path};

use landfall_engine::{Journal, Options, Record, State, apply, destroy};
use landfall_platform::error_chain;

use super::{
    ghost::{Ghost, recorded},
    trial::{options, plan},
};
use crate::World;

/// What the other one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Errand {
    Apply,
    Destroy,
}

/// The other one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Second {
    pub(super) errand: Errand,
    /// Whether it has the journal as it is when it begins.
    pub(super) has_journal: bool,
    /// It begins at this call.
    pub(super) at: u64,
}

/// What came of it: the ids that it knew, if it says that it removed all.
pub(super) type Removed = Option<BTreeSet<String>>;

impl Second {
    /// Draws one, or none, for a run that begins now.
    pub(super) fn draw(ghost: &Ghost, occasion: u64, errands: &[Errand]) -> Option<Self> {
        let mut dice = ghost.dice(occasion);
        if !dice.once_in(3) || !ghost.world.bears_a_second_run() {
            return None;
        }
        let errand = *dice.pick(errands)?;
        if errand == Errand::Apply && !ghost.world.bears_a_second_installation() {
            return None;
        }
        let at = ghost.calls() + dice.below(200) as u64;
        Some(Self { errand, has_journal: dice.once_in(2), at })
    }

    pub(super) async fn run(self, ghost: &Ghost, first: &Journal, home: &Path) -> Removed {
        let Self { errand, has_journal, .. } = self;
        let world = &ghost.world;
        let infra_id = world.infra_id();
        let name = format!("second-{}.sqlite", ghost.calls());
        let journal = Journal::open(&home.join(name), &infra_id).expect("a second journal");
        if has_journal {
            copy(first, &journal).await;
        }
        ghost.tell(&format!("another Landfall begins to {errand:?}, with the journal: {has_journal}"));
        let known = recorded(&journal).await;
        let options: Options = options(|_| ());
        let (binder, discoverer) = (world.binder(), world.discoverer());
        let result = match errand {
            Errand::Apply => {
                let plan = plan(world.as_ref() as &dyn World);
                apply(&plan, binder.as_ref(), &journal, &options).await.map(drop).map_err(|error| error_chain(&error))
            }
            Errand::Destroy => destroy(binder.as_ref(), discoverer.as_ref(), &journal, &options)
                .await
                .map_err(|error| error_chain(&error)),
        };
        ghost.tell(&format!("the other Landfall ends to {errand:?}: {result:?}"));
        (errand == Errand::Destroy && result.is_ok()).then_some(known)
    }
}

/// Writes what one journal says into another.
async fn copy(from: &Journal, to: &Journal) {
    let snapshot = from.snapshot().await.expect("the journal can be read");
    for entry in snapshot.entries {
        let id = entry.spec.id.clone();
        let begun = Record::EnsureBegins(Box::new(entry.spec.clone()));
        let mut records = vec![begun];
        match (entry.state, entry.outputs) {
            (State::Done, outputs) => records.push(Record::EnsureDone(outputs.unwrap_or_default())),
            (_, Some(outputs)) => records.push(Record::EnsureNotes(outputs)),
            (_, None) => {}
        }
        if entry.state == State::Removed {
            records.extend([Record::RemoveBegins(Box::new(entry.spec)), Record::RemoveDone]);
        }
        for record in records {
            to.record(id.clone(), record).await.expect("a record of the copy");
        }
    }
}
