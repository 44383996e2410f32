//! Where the time went.

use std::{collections::HashMap, time::Duration};

use landfall_platform::StepId;

use crate::{Snapshot, State};

/// Where the time of an installation went, as its journal tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Steps that are done and how long each took, longest first.
    pub steps: Vec<(StepId, Duration)>,
    /// From the first beginning to the last end.
    pub elapsed: Duration,
    /// The chain of steps, each needing the one before, that took longest: no parallelism can make it shorter.
    pub critical_path: Vec<StepId>,
    /// How long that chain took.
    pub critical: Duration,
}

impl Timing {
    /// Reads the times of all steps that are done.
    pub fn of(snapshot: &Snapshot) -> Self {
        let done: HashMap<_, _> = snapshot
            .entries
            .iter()
            .filter(|entry| entry.state == State::Done)
            .filter_map(|entry| {
                let took = Duration::try_from(entry.ended?.duration_since(entry.began)).unwrap_or_default();
                Some((&entry.spec.id, (took, &entry.spec.needs)))
            })
            .collect();
        let mut steps: Vec<_> = done.iter().map(|(&id, &(took, _))| (id.clone(), took)).collect();
        steps.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));

        // Entries are in the order in which they began, so what a step needs comes before it.
        let mut longest: HashMap<&StepId, (Duration, Option<&StepId>)> = HashMap::new();
        for entry in &snapshot.entries {
            let Some((took, needs)) = done.get(&entry.spec.id) else { continue };
            let before =
                needs.iter().filter_map(|id| longest.get_key_value(id).map(|(&id, &(length, _))| (length, id))).max();
            longest.insert(
                &entry.spec.id,
                (*took + before.map_or(Duration::ZERO, |(length, _)| length), before.map(|(_, id)| id)),
            );
        }
        let mut last = longest.iter().max_by_key(|(id, (length, _))| (*length, **id)).map(|(&id, _)| id);
        let critical = last.map_or(Duration::ZERO, |id| longest[id].0);
        let mut critical_path = Vec::new();
        while let Some(id) = last {
            critical_path.push(id.clone());
            last = longest[id].1;
        }
        critical_path.reverse();

        let began = snapshot.entries.iter().map(|entry| entry.began).min();
        let ended = snapshot.entries.iter().filter_map(|entry| entry.ended).max();
        let elapsed = began
            .zip(ended)
            .and_then(|(began, ended)| Duration::try_from(ended.duration_since(began)).ok())
            .unwrap_or_default();
        Self { steps, elapsed, critical_path, critical }
    }
}
