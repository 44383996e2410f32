//! Where the time went.

use std::{collections::HashMap, time::Duration};

use jiff::Timestamp;
use landfall_platform::StepId;

use crate::{Made, Snapshot};

/// Where the time of an installation went, as its journal tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Steps that were made and how long each took, longest first. What was removed since counts, too: a machine that only
    /// the beginning needed took its time.
    pub steps: Vec<(StepId, Duration)>,
    /// From the first beginning to the last end.
    pub elapsed: Duration,
    /// The chain of steps, each needing the one before, that took longest: no parallelism can make it shorter.
    pub critical_path: Vec<StepId>,
    /// How long that chain took.
    pub critical: Duration,
}

impl Timing {
    /// Reads the times of all steps that were made.
    pub fn of(snapshot: &Snapshot) -> Self {
        let done: HashMap<_, _> = snapshot
            .entries
            .iter()
            .filter_map(|entry| {
                let Made { began, ended } = entry.made?;
                Some((&entry.spec.id, (length(began, ended), &entry.spec.needs)))
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

        let made = || snapshot.entries.iter().filter_map(|entry| entry.made);
        let (began, ended) = (made().map(|made| made.began).min(), made().map(|made| made.ended).max());
        let elapsed = began.zip(ended).map_or(Duration::ZERO, |(began, ended)| length(began, ended));
        Self { steps, elapsed, critical_path, critical }
    }
}

fn length(began: Timestamp, ended: Timestamp) -> Duration {
    Duration::try_from(ended.duration_since(began)).unwrap_or_default()
}
