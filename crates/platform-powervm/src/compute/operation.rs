//! Operations: plans of steps that are carried out, and undone if they fail.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use landfall_engine::{
    ApplyError, Entry, Event, Journal, JournalError, Options, Plan, PlanBuilder, PlanError, Record, RemovalError,
    RetryPolicy, Snapshot, State,
};
use landfall_platform::{Bind, Discover, InfraId, Outputs, StepId, StepSpec};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{
    Error, PartitionId,
    steps::{Desired, Object},
};

/// How an operation is carried out.
#[derive(Clone)]
pub struct Run {
    /// The journal, by which another process goes on, or undoes, what this one has begun. Without one, a crash leaves things
    /// behind that only [`destroy`](super::destroy) finds.
    pub journal: Option<PathBuf>,
    /// How patiently, and who listens.
    pub options: Options,
    /// How long any step may take at most; none for what each kind of step is given.
    pub limit: Option<Duration>,
}

impl Default for Run {
    fn default() -> Self {
        let options = Options {
            retry: RetryPolicy::default(),
            removal_timeout: None,
            events: Arc::new(|_: &Event| ()),
            cancel: CancellationToken::new(),
        };
        Self { journal: None, options, limit: None }
    }
}

/// Why an operation did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum OperationError {
    /// It failed, and everything that it had begun was undone.
    #[error("{what} failed, and is undone")]
    Failed {
        /// What.
        what: String,
        /// Why.
        source: Box<ApplyError>,
    },
    /// It failed, and some of it could not be undone.
    #[error("{what} failed, and this remains of it: {}; why it remains: {}", .remains.join(", "), landfall_platform::error_chain(.undoing))]
    Stuck {
        /// What.
        what: String,
        /// What is left behind, for people.
        remains: Vec<String>,
        /// Why it could not be undone.
        undoing: Box<RemovalError>,
        /// Why it failed in the first place.
        source: Box<ApplyError>,
    },
    /// Something could not be removed.
    #[error("{what} is not removed as a whole; this remains: {}", .remains.join(", "))]
    Remains {
        /// What.
        what: String,
        /// What is left behind, for people.
        remains: Vec<String>,
        /// Why.
        source: Box<RemovalError>,
    },
    /// It was stopped from outside, and can be gone on with.
    #[error("{what} was stopped")]
    Stopped {
        /// What.
        what: String,
        /// How far it was.
        source: Box<ApplyError>,
    },
    /// The journal cannot be used.
    #[error("cannot keep a journal of {what}")]
    Journal {
        /// What.
        what: String,
        /// Why not.
        source: Box<JournalError>,
    },
    /// It cannot be done as things are. Nothing was changed.
    #[error("{what} is refused")]
    Refused {
        /// What.
        what: String,
        /// Why.
        source: super::Error,
    },
    /// There is no place for a journal.
    #[error("cannot make a directory for the journal of {what}")]
    Directory {
        /// What.
        what: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The steps make no plan.
    #[error("{what} cannot be planned")]
    Plan {
        /// What.
        what: String,
        /// Why not.
        source: PlanError,
    },
}

/// What kind of thing an operation does. Journals keep it, so that one operation never takes what another has noted for its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// Making a partition, and removing it.
    Making,
    /// Attaching a volume, and detaching it.
    Volume,
    /// Attaching a network adapter, and detaching it.
    Nic,
    /// Giving Fibre Channel ports, and taking them.
    FibrePorts,
    /// Giving another shape.
    Shape,
    /// Moving to another server while off.
    Migration,
    /// Moving to another server while running.
    LiveMigration,
    /// Copying a disk.
    Snapshot,
    /// Making a partition over disks that exist.
    Adoption,
    /// Preparing for a partition that comes while it runs.
    Arrival,
    /// Whatever it was.
    Any,
}

/// What a journal says first about an operation: which steps it has. As long as not all of them are done, it is not finished.
///
/// All other steps need it, so it is the first to be noted and the last to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Outline {
    pub(super) kind: Kind,
    pub(super) steps: Vec<StepId>,
}

const OUTLINE: &str = "operation";

/// An operation on a partition, and how it is carried out.
pub(super) struct Operation<'a> {
    pub(super) kind: Kind,
    /// What it is, for people.
    pub(super) what: String,
    pub(super) partition: &'a PartitionId,
    pub(super) run: &'a Run,
}

impl Operation<'_> {
    /// The steps that a run before this one has begun, if there was one that was cut off: what was before the first of them is
    /// only known from them. `finished` says whether it got to its end.
    pub(super) async fn begun(&self) -> Result<Begun, OperationError> {
        if self.run.journal.is_none() {
            return Ok(Begun::default());
        }
        let open = self.open()?;
        let snapshot = open.snapshot(self).await?;
        let Some(outline) = outline(&snapshot).filter(|outline| outline.kind == self.kind) else {
            return Ok(Begun::default());
        };
        let steps = snapshot.remaining().filter(|entry| !is_outline(entry)).map(|entry| entry.spec.clone()).collect();
        Ok(Begun { steps, finished: is_finished(&outline, &snapshot) })
    }

    /// Carries out steps, or goes on with them; undoes them if that fails. One that a journal calls finished begins anew.
    pub(super) async fn apply(
        &self,
        steps: Vec<StepSpec>,
        bind: &dyn Bind,
    ) -> Result<BTreeMap<StepId, Outputs>, OperationError> {
        let open = self.open()?;
        open.apply(self, steps, bind).await
    }

    /// Carries out steps, does some work, and undoes the steps, whatever became of the work.
    pub(super) async fn during<T>(
        &self,
        steps: Vec<StepSpec>,
        bind: &dyn Bind,
        work: impl Future<Output = T>,
    ) -> Result<T, OperationError> {
        let open = self.open()?;
        open.apply(self, steps, bind).await?;
        let done = work.await;
        open.unwind(self, bind).await?;
        Ok(done)
    }

    /// Undoes what the journal says was begun, whether it was finished or not.
    pub(super) async fn undo(&self, bind: &dyn Bind) -> Result<(), OperationError> {
        let open = self.open()?;
        let snapshot = open.snapshot(self).await?;
        if snapshot.entries.is_empty() && self.kind != Kind::Any {
            let what = format!("journal of the {}", self.what);
            let source =
                Error::Missing { what, host: "any server: without it nobody knows what was before".to_owned() };
            return Err(OperationError::Refused { what: self.what.clone(), source });
        }
        let of_another = |outline: &Outline| self.kind != Kind::Any && outline.kind != self.kind;
        if let Some(outline) = outline(&snapshot).filter(of_another) {
            return Err(self.busy(&outline, &snapshot));
        }
        open.unwind(self, bind).await
    }

    /// Removes what is found, and what the journal knows of it. What another operation has left unfinished is undone first.
    pub(super) async fn remove(&self, bind: &dyn Bind, discover: &dyn Discover) -> Result<(), OperationError> {
        let open = self.open()?;
        let snapshot = open.snapshot(self).await?;
        match outline(&snapshot) {
            // What was made is removed also if nothing can be found by which to find it.
            Some(outline) if outline.kind == Kind::Making && self.kind == Kind::Making => {}
            Some(outline) if is_finished(&outline, &snapshot) => open.forget(self, |_| true).await?,
            Some(outline) if outline.kind != self.kind => open.unwind(self, bind).await?,
            Some(_) => {}
            None => open.forget(self, |entry| entry.state == State::Done).await?,
        }
        let removed = landfall_engine::destroy(bind, discover, &open.journal, &self.run.options).await;
        open.removed(self, removed).await
    }

    /// Makes an end of an operation that is not to be undone any more, and removes what is found.
    pub(super) async fn conclude(&self, bind: &dyn Bind, discover: &dyn Discover) -> Result<(), OperationError> {
        let open = self.open()?;
        let snapshot = open.snapshot(self).await?;
        if let Some(outline) = outline(&snapshot).filter(|outline| outline.kind == self.kind)
            && !is_finished(&outline, &snapshot)
        {
            return Err(self.busy(&outline, &snapshot));
        }
        drop(open);
        self.remove(bind, discover).await
    }

    fn open(&self) -> Result<Open, OperationError> {
        let failed = |source| OperationError::Journal { what: self.what.clone(), source: Box::new(source) };
        let (path, directory) = if let Some(path) = &self.run.journal {
            (path.clone(), None)
        } else {
            let directory = tempfile::tempdir();
            let directory =
                directory.map_err(|source| OperationError::Directory { what: self.what.clone(), source })?;
            (directory.path().join("journal.sqlite"), Some(directory))
        };
        let journal = Journal::open(&path, &key(self.partition)).map_err(failed)?;
        Ok(Open { journal, _directory: directory })
    }

    /// The journal is that of something else that is not finished.
    fn busy(&self, outline: &Outline, snapshot: &Snapshot) -> OperationError {
        let titles: Vec<&str> = snapshot
            .remaining()
            .filter(|entry| !is_outline(entry) && entry.state != State::Done)
            .map(|entry| entry.spec.title.as_str())
            .collect();
        let first = snapshot.entry(&OUTLINE.into()).map(|entry| entry.spec.title.clone()).unwrap_or_default();
        let left = if titles.is_empty() { "steps that did not begin".to_owned() } else { titles.join(", ") };
        let source = Error::Busy {
            what: "the journal".to_owned(),
            host: "this machine".to_owned(),
            whom: format!(
                "'{first}' ({:?}), which is not finished: {left}; go on with that or undo it first",
                outline.kind
            ),
        };
        OperationError::Refused { what: self.what.clone(), source }
    }

    /// The plan, with what the journal shall say first.
    fn plan(&self, steps: Vec<StepSpec>) -> Result<Plan, OperationError> {
        let outline = Outline { kind: self.kind, steps: steps.iter().map(|step| step.id.clone()).collect() };
        let first = Desired { host: String::new(), object: Object::Outline(outline) };
        let mut builder = PlanBuilder::default();
        builder.step(first.step(OUTLINE, "operation", self.what.clone(), Vec::new(), OUTLINE_TIMEOUT));
        for mut step in steps {
            if step.needs.is_empty() {
                step.needs.push(OUTLINE.into());
            }
            if let Some(limit) = self.run.limit {
                step.timeout = step.timeout.min(limit);
            }
            builder.step(step);
        }
        builder.build().map_err(|source| OperationError::Plan { what: self.what.clone(), source })
    }
}

/// Noting what is to be done takes no time.
const OUTLINE_TIMEOUT: Duration = Duration::from_mins(1);

/// What a run before this one has begun.
#[derive(Debug, Default)]
pub(super) struct Begun {
    pub(super) steps: Vec<StepSpec>,
    pub(super) finished: bool,
}

impl Begun {
    /// What the steps that began make.
    pub(super) fn objects(&self) -> impl Iterator<Item = Desired> {
        self.steps.iter().filter_map(|step| Desired::deserialize(&step.desired).ok())
    }
}

fn is_outline(entry: &Entry) -> bool {
    entry.spec.id == OUTLINE.into()
}

/// Which operation a journal is of, if it is of one that is not undone.
fn outline(snapshot: &Snapshot) -> Option<Outline> {
    let entry = snapshot.remaining().find(|entry| is_outline(entry))?;
    match Desired::deserialize(&entry.spec.desired).ok()?.object {
        Object::Outline(outline) => Some(outline),
        _ => None,
    }
}

fn is_finished(outline: &Outline, snapshot: &Snapshot) -> bool {
    outline.steps.iter().all(|id| snapshot.entry(id).is_some_and(|entry| entry.state == State::Done))
}

/// A journal, and the directory that it is in if nobody else wants it.
struct Open {
    journal: Journal,
    _directory: Option<tempfile::TempDir>,
}

impl Open {
    async fn apply(
        &self,
        operation: &Operation<'_>,
        steps: Vec<StepSpec>,
        bind: &dyn Bind,
    ) -> Result<BTreeMap<StepId, Outputs>, OperationError> {
        self.begin(operation, &steps).await?;
        let plan = operation.plan(steps)?;
        let options = &operation.run.options;
        let what = || operation.what.clone();
        let source = match landfall_engine::apply(&plan, bind, &self.journal, options).await {
            Ok(outputs) => return Ok(outputs),
            Err(source @ ApplyError::Cancelled { .. }) => {
                return Err(OperationError::Stopped { what: what(), source: Box::new(source) });
            }
            Err(source) => Box::new(source),
        };
        match landfall_engine::unwind(bind, &self.journal, options).await {
            Ok(()) => Err(OperationError::Failed { what: what(), source }),
            Err(undoing) => Err(OperationError::Stuck {
                what: what(),
                remains: self.remains().await,
                undoing: Box::new(undoing),
                source,
            }),
        }
    }

    /// Makes sure that what the journal knows is what this operation has begun, and nothing else.
    async fn begin(&self, operation: &Operation<'_>, steps: &[StepSpec]) -> Result<(), OperationError> {
        let snapshot = self.snapshot(operation).await?;
        let Some(outline) = outline(&snapshot) else {
            // Somebody was cut off who forgot what is finished.
            return self.forget(operation, |entry| entry.state == State::Done).await;
        };
        if is_finished(&outline, &snapshot) {
            return self.forget(operation, |_| true).await;
        }
        let foreign = |entry: &&Entry| {
            !is_outline(entry) && entry.state != State::Done && !steps.iter().any(|step| step.id == entry.spec.id)
        };
        if outline.kind != operation.kind || snapshot.remaining().any(|entry| foreign(&entry)) {
            return Err(operation.busy(&outline, &snapshot));
        }
        Ok(())
    }

    /// Lets go of what is finished and stays: it exists, and nobody will undo it by this journal. What the journal says first goes
    /// first, so that somebody who is cut off here has not left an operation that looks unfinished.
    async fn forget(&self, operation: &Operation<'_>, finished: impl Fn(&Entry) -> bool) -> Result<(), OperationError> {
        let snapshot = self.snapshot(operation).await?;
        let mut entries: Vec<&Entry> = snapshot.remaining().filter(|entry| finished(entry)).collect();
        entries.sort_by_key(|entry| !is_outline(entry));
        for entry in entries {
            for record in [Record::RemoveBegins(Box::new(entry.spec.clone())), Record::RemoveDone] {
                let recorded = self.journal.record(entry.spec.id.clone(), record).await;
                recorded.map_err(|source| OperationError::Journal {
                    what: operation.what.clone(),
                    source: Box::new(source),
                })?;
            }
        }
        Ok(())
    }

    async fn snapshot(&self, operation: &Operation<'_>) -> Result<Snapshot, OperationError> {
        let snapshot = self.journal.snapshot().await;
        snapshot.map_err(|source| OperationError::Journal { what: operation.what.clone(), source: Box::new(source) })
    }

    async fn unwind(&self, operation: &Operation<'_>, bind: &dyn Bind) -> Result<(), OperationError> {
        let undone = landfall_engine::unwind(bind, &self.journal, &operation.run.options).await;
        self.removed(operation, undone).await
    }

    async fn remains(&self) -> Vec<String> {
        let titles = |snapshot: Snapshot| {
            let own = snapshot.remaining().filter(|entry| !is_outline(entry));
            own.map(|entry| entry.spec.title.clone()).collect()
        };
        self.journal.snapshot().await.map(titles).unwrap_or_default()
    }

    async fn removed(
        &self,
        operation: &Operation<'_>,
        removed: Result<(), RemovalError>,
    ) -> Result<(), OperationError> {
        let Err(source) = removed else { return Ok(()) };
        let mut remains = self.remains().await;
        if let RemovalError::Remains { titles } | RemovalError::Growing { titles } = &source {
            remains.extend(titles.iter().cloned());
        }
        Err(OperationError::Remains { what: operation.what.clone(), remains, source: Box::new(source) })
    }
}

/// Journals are kept for a cluster each; here for a partition.
fn key(partition: &PartitionId) -> InfraId {
    format!("lpar-{}", partition.tail(20)).parse().expect("it is made of letters, digits and a hyphen")
}
