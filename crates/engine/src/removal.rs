//! Removing what a plan made, or began to make.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use landfall_platform::{Bind, Context, Discover, Kind, Outputs, StepError, StepId, StepSpec, error_chain};
use tokio::time::Instant;

use crate::{
    Entry, Event, Journal, JournalError, Options, Phase, Record, Snapshot,
    call::{Heard, call},
    schedule::{self, Job, OnFailure},
};

/// Removals of one kind at once.
const REMOVALS_AT_ONCE: usize = 10;

/// How long finding out what there is may take.
const DISCOVERY_TIMEOUT: Duration = Duration::from_mins(2);

/// Maximum number of times that a removal begins again because the cluster has made more machines meanwhile. It makes none once its last master is gone,
/// which is one round; the others are for a discovery that learns of things late.
const MOST_ROUNDS: usize = 10;

/// Why something remains.
#[derive(Debug, thiserror::Error)]
pub enum RemovalError {
    /// Some objects could not be removed; all others are gone.
    #[error("{} could not be removed", names(failed.iter().map(|(title, _)| title)))]
    Steps {
        /// What it was, for people, and why it could not be removed.
        failed: Vec<(String, StepError)>,
    },
    /// Everything was removed as far as the platform said, and yet this carries the cluster's mark.
    #[error("{} still exist after removal", names(titles.iter()))]
    Remains {
        /// What it is, for people.
        titles: Vec<String>,
    },
    /// Objects with the cluster's mark appear as fast as they are removed.
    #[error(
        "cannot remove the cluster: it had new objects after each of {MOST_ROUNDS} removals, at last {}",
        names(titles.iter())
    )]
    Growing {
        /// Titles of the objects that were found last.
        titles: Vec<String>,
    },
    /// The platform could not be asked what there is.
    #[error("cannot find out what belongs to the cluster")]
    Discovery(#[source] StepError),
    /// The run was stopped from outside.
    #[error("stopped with {left} objects left to remove")]
    Cancelled {
        /// Objects that are not known to be gone.
        left: usize,
    },
    /// The journal could not be written, so nothing more may be done.
    #[error("cannot go on without a journal")]
    Journal(#[from] JournalError),
}

fn names<'a>(titles: impl Iterator<Item = &'a String>) -> String {
    titles.map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Removes every step of the journal that began, in the reverse of the order in which they need each other.
///
/// One that cannot be removed does not keep others from being removed, except those that it needs.
pub async fn unwind(bind: &dyn Bind, journal: &Journal, options: &Options) -> Result<(), RemovalError> {
    let snapshot = journal.snapshot().await?;
    let steps = snapshot.remaining().map(|entry| (entry.spec.id.clone(), Target::known(entry))).collect();
    remove_all(&steps, &recorded(&snapshot), bind, journal, options).await
}

/// Removes some steps that nothing needs any more, such as a machine that only the beginning of an installation needed.
pub async fn retire(
    steps: &[StepId],
    bind: &dyn Bind,
    journal: &Journal,
    options: &Options,
) -> Result<(), RemovalError> {
    let snapshot = journal.snapshot().await?;
    let steps = snapshot
        .remaining()
        .filter(|entry| steps.contains(&entry.spec.id))
        .map(|entry| (entry.spec.id.clone(), Target::known(entry)))
        .collect();
    remove_all(&steps, &recorded(&snapshot), bind, journal, options).await
}

/// Removes all that the journal knows and all that carries the cluster's mark, and makes sure that nothing remains. What appears
/// meanwhile is removed too, a limited number of times.
pub async fn destroy(
    bind: &dyn Bind,
    discover: &dyn Discover,
    journal: &Journal,
    options: &Options,
) -> Result<(), RemovalError> {
    let mut found = look(discover, options).await?;
    let mut removed = BTreeSet::new();
    for _ in 0..MOST_ROUNDS {
        let snapshot = journal.snapshot().await?;
        removed.extend(found.iter().map(|spec| spec.id.clone()));
        let mut steps: BTreeMap<StepId, Target> = found
            .into_iter()
            .filter(|spec| !is_recorded(&snapshot, spec))
            .map(|spec| (spec.id.clone(), Target { spec, outputs: None }))
            .collect();
        for entry in snapshot.remaining() {
            // What the journal says of a step goes before what was found, but what goes after what is known to both.
            let mut target = Target::known(entry);
            let needs = steps.get(&entry.spec.id).map(|found| found.spec.needs.clone()).unwrap_or_default();
            target.spec.needs.extend(needs.into_iter().filter(|needed| !entry.spec.needs.contains(needed)));
            steps.insert(entry.spec.id.clone(), target);
        }
        removed.extend(steps.keys().cloned());
        remove_all(&steps, &recorded(&snapshot), bind, journal, options).await?;

        found = look(discover, options).await?;
        // Until the last master was gone, the cluster may have made machines.
        if found.iter().all(|spec| removed.contains(&spec.id)) {
            return if found.is_empty() { Ok(()) } else { Err(RemovalError::Remains { titles: titles(found) }) };
        }
    }
    Err(RemovalError::Growing { titles: titles(found) })
}

fn titles(found: Vec<StepSpec>) -> Vec<String> {
    found.into_iter().map(|spec| spec.title).collect()
}

/// Returns true if what was found is the object of another step of the journal, which has written down its id: it was renamed, and
/// is removed once.
fn is_recorded(snapshot: &Snapshot, found: &StepSpec) -> bool {
    let Some(id) = found.desired.get("id").and_then(serde_json::Value::as_str) else { return false };
    let is_it = |entry: &Entry| entry.outputs.as_ref().and_then(|outputs| outputs.get("id")) == Some(id.to_owned());
    snapshot.remaining().any(|entry| entry.spec.id != found.id && is_it(entry))
}

/// Returns the entries that a removal goes by although nothing was found for them: those with the id of an object that may be there
/// without name and mark, and those whose object was `asked` for, without an answer that told its id. What is the user's stays, so it is
/// not among them.
pub fn unfound<'a>(snapshot: &'a Snapshot, found: &[StepSpec]) -> Vec<&'a Entry> {
    let is_unfound = |entry: &&Entry| {
        let outputs = entry.outputs.as_ref().filter(|outputs| outputs.get("given") != Some(true));
        let id: Option<String> = outputs.and_then(|outputs| outputs.get("id"));
        // The object that was found for a step may be another, which got the name.
        let is_it = |spec: &StepSpec, id: &str| match spec.desired["id"].as_str() {
            Some(found) => found == id,
            None => spec.id == entry.spec.id,
        };
        let Some(id) = id else {
            let was_asked_for = outputs.and_then(|outputs| outputs.get("asked")) == Some(true);
            let is_named = |spec: &StepSpec| spec.id == entry.spec.id || spec.title == entry.spec.title;
            return was_asked_for && !found.iter().any(is_named);
        };
        !found.iter().any(|spec| is_it(spec, &id))
    };
    snapshot.remaining().filter(is_unfound).collect()
}

/// Finds what belongs to the cluster, as patiently as a step is called.
async fn look(discover: &dyn Discover, options: &Options) -> Result<Vec<StepSpec>, RemovalError> {
    let spec = StepSpec {
        id: "discovery".into(),
        title: "what belongs to the cluster".to_owned(),
        kind: "discovery".into(),
        needs: Vec::new(),
        timeout: DISCOVERY_TIMEOUT,
        desired: serde_json::Value::Null,
    };
    let heard = Heard::default();
    let found = tokio::select! {
        found = call(&spec, spec.timeout, options, &heard, || discover.discover()) => found,
        () = options.cancel.cancelled() => return Err(RemovalError::Cancelled { left: 0 }),
    };
    found.map_err(RemovalError::Discovery)
}

/// What was recorded of all steps of which something may exist.
fn recorded(snapshot: &Snapshot) -> BTreeMap<StepId, Outputs> {
    let entries = snapshot.remaining().filter_map(|entry| Some((entry.spec.id.clone(), entry.outputs.clone()?)));
    entries.collect()
}

/// Something to remove, and what was recorded of it.
struct Target {
    spec: StepSpec,
    outputs: Option<Outputs>,
}

impl Target {
    fn known(entry: &Entry) -> Self {
        Self { spec: entry.spec.clone(), outputs: entry.outputs.clone() }
    }
}

async fn remove_all(
    steps: &BTreeMap<StepId, Target>,
    recorded: &BTreeMap<StepId, Outputs>,
    bind: &dyn Bind,
    journal: &Journal,
    options: &Options,
) -> Result<(), RemovalError> {
    options.events.event(&Event::Begin { phase: Phase::Remove, total: steps.len(), done: 0 });
    let mut after: BTreeMap<&StepId, Vec<StepId>> = BTreeMap::new();
    for Target { spec, .. } in steps.values() {
        for needed in &spec.needs {
            after.entry(needed).or_default().push(spec.id.clone());
        }
    }
    let jobs = steps
        .values()
        .map(|Target { spec, .. }| Job {
            id: spec.id.clone(),
            kind: spec.kind.clone(),
            after: after.get(&spec.id).cloned().unwrap_or_default(),
        })
        .collect();
    let limit = |_: &Kind| REMOVALS_AT_ONCE;
    let outcome = schedule::run(jobs, limit, OnFailure::GoOn, &options.cancel, |id| {
        remove(&steps[&id], recorded, bind, journal, options)
    })
    .await;

    if outcome.cancelled {
        return Err(RemovalError::Cancelled { left: outcome.left });
    }
    let mut failed = Vec::new();
    for (id, error) in outcome.failed {
        match error {
            Failure::Journal(error) => return Err(error.into()),
            Failure::Step(error) => failed.push((steps[&id].spec.title.clone(), error)),
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(RemovalError::Steps { failed }) }
}

enum Failure {
    Step(StepError),
    Journal(JournalError),
}

async fn remove(
    target: &Target,
    recorded: &BTreeMap<StepId, Outputs>,
    bind: &dyn Bind,
    journal: &Journal,
    options: &Options,
) -> Result<(), Failure> {
    let Target { spec, outputs } = target;
    let record = |record| async { journal.record(spec.id.clone(), record).await.map_err(Failure::Journal) };
    record(Record::RemoveBegins(Box::new(spec.clone()))).await?;
    options.events.event(&Event::Started { step: spec.id.clone(), title: spec.title.clone(), phase: Phase::Remove });
    let began = Instant::now();
    let heard = Heard::default();
    let needed = spec.needs.iter().filter_map(|id| Some((id.clone(), recorded.get(id)?.clone()))).collect();
    let context = Context::new(needed, heard.reporter(spec, options));
    let result = match bind.bind(spec) {
        Ok(step) => {
            let limit = options.removal_timeout.unwrap_or(spec.timeout);
            call(spec, limit, options, &heard, || step.remove(&context, outputs.as_ref())).await
        }
        Err(error) => Err(error),
    };
    match result {
        Ok(()) => {
            record(Record::RemoveDone).await?;
            options.events.event(&Event::Finished {
                step: spec.id.clone(),
                phase: Phase::Remove,
                took: began.elapsed(),
            });
            Ok(())
        }
        Err(error) => {
            let (class, text) = (error.class(), error_chain(&error));
            record(Record::RemoveFailed { class, error: text.clone() }).await?;
            options.events.event(&Event::Failed { step: spec.id.clone(), phase: Phase::Remove, class, error: text });
            Err(Failure::Step(error))
        }
    }
}
