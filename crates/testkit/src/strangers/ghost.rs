//! The stranger's presence: it is asked before each call, acts if the seed says so, and all that it did is remembered.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use landfall_engine::Journal;
use tokio::sync::watch;

use super::{BeforeCall, Deed, Haunted};
use crate::seed::Dice;

/// The stranger acts before one in so many calls; which of these the seed says.
const SELDOM: [usize; 4] = [1, 2, 4, 8];
/// So much of what it did is told when a trial fails.
const TOLD: usize = 400;

/// What the stranger is at.
#[derive(Clone, Default)]
pub(super) enum Mood {
    /// Leaves everything alone.
    #[default]
    Absent,
    /// Acts on all that is the cluster's.
    Anything(Arc<Journal>),
    /// Acts on one machine, which has this id, beside look-alikes.
    Machine(String),
}

pub(super) struct Ghost {
    pub(super) world: Arc<dyn Haunted>,
    pub(super) seed: u64,
    state: Mutex<State>,
    calls: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    mood: Mood,
    /// The lines of what the stranger made, by id, as they were then.
    strangers: BTreeMap<String, String>,
    /// What carries the mark although it was the stranger who made it, as a clone, and before which call.
    marked: BTreeMap<String, u64>,
    /// How often it did what, by the first words of its deeds.
    acts: BTreeMap<String, u64>,
    story: Vec<String>,
}

/// Ends the haunting when it is dropped, so that world and hook do not keep each other alive.
pub(super) struct Haunting(Arc<Ghost>);

impl Drop for Haunting {
    fn drop(&mut self) {
        self.0.world.before_each_call(None);
    }
}

impl Ghost {
    pub(super) fn of(world: Arc<dyn Haunted>, seed: u64) -> Arc<Self> {
        Arc::new(Self { world, seed, state: Mutex::default(), calls: watch::Sender::new(0) })
    }

    pub(super) fn haunting(self: &Arc<Self>) -> Haunting {
        let ghost = Arc::clone(self);
        let hook: BeforeCall = Arc::new(move |method, path| {
            let ghost = Arc::clone(&ghost);
            Box::pin(async move { ghost.pass(&method, &path).await })
        });
        self.world.before_each_call(Some(hook));
        Haunting(Arc::clone(self))
    }

    pub(super) fn dice(&self, occasion: u64) -> Dice {
        Dice::new(self.seed, occasion)
    }

    pub(super) fn be(&self, mood: Mood) {
        self.lock().mood = mood;
    }

    /// Calls so far.
    pub(super) fn calls(&self) -> u64 {
        *self.calls.borrow()
    }

    /// Returns when so many calls have been made.
    pub(super) async fn reached(&self, call: u64) {
        let mut calls = self.calls.subscribe();
        let _the_sender_lives = calls.wait_for(|calls| *calls >= call).await;
    }

    pub(super) fn acts(&self) -> BTreeMap<String, u64> {
        self.lock().acts.clone()
    }

    pub(super) fn strangers(&self) -> BTreeMap<String, String> {
        self.lock().strangers.clone()
    }

    /// Before which call the stranger made something that carries the mark, if it did.
    pub(super) fn marked_at(&self, id: &str) -> Option<u64> {
        self.lock().marked.get(id).copied()
    }

    /// Remembers what happened, for a failure message.
    pub(super) fn tell(&self, line: &str) {
        let calls = self.calls();
        self.lock().story.push(format!("call {calls}: {line}"));
    }

    /// What happened, line by line.
    pub(super) fn story(&self) -> String {
        let state = self.lock();
        let skipped = state.story.len().saturating_sub(TOLD);
        let mut text = if skipped > 0 { format!("({skipped} lines before)\n") } else { String::new() };
        for line in &state.story[skipped..] {
            let _infallible = writeln!(text, "{line}");
        }
        text
    }

    async fn pass(&self, method: &str, path: &str) {
        let mut call = 0;
        self.calls.send_modify(|calls| {
            *calls += 1;
            call = *calls;
        });
        self.world.pass_time();
        let mut dice = self.dice(call);
        let seldom = SELDOM[self.dice(0).below(SELDOM.len())];
        let mood = self.lock().mood.clone();
        if matches!(mood, Mood::Absent) || !dice.once_in(seldom) {
            return;
        }
        let recorded = match &mood {
            Mood::Anything(journal) => recorded(journal).await,
            Mood::Absent | Mood::Machine(_) => BTreeSet::new(),
        };
        // From here on there is no await, so that what is done is remembered.
        let mut state = self.lock();
        let deed = match &mood {
            Mood::Absent => None,
            Mood::Anything(_) => self.world.haunt(&mut dice, &recorded),
            Mood::Machine(id) => self.world.haunt_machine(&mut dice, id),
        };
        let Some(Deed { text, made }) = deed else { return };
        let kind = text.split(' ').take(2).collect::<Vec<_>>().join(" ");
        *state.acts.entry(kind).or_default() += 1;
        state.story.push(format!("call {call} ({method} {path}): the stranger {text}"));
        if made.is_empty() {
            return;
        }
        let things = self.world.things();
        for id in made {
            match things.get(&id) {
                Some(thing) if thing.is_marked => _ = state.marked.insert(id, call),
                Some(thing) => _ = state.strangers.insert(id, thing.line.clone()),
                None => {}
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The ids that a journal has of what may exist. What is the user's is not the cluster's.
pub(super) async fn recorded(journal: &Journal) -> BTreeSet<String> {
    let Ok(snapshot) = journal.snapshot().await else { return BTreeSet::new() };
    let outputs = snapshot.remaining().filter_map(|entry| entry.outputs.as_ref());
    outputs.filter(|outputs| outputs.get("given") != Some(true)).filter_map(|outputs| outputs.get("id")).collect()
}
