//! Applying a plan: for the first time, after a crash, or again.

use std::{collections::BTreeMap, sync::Arc, sync::Mutex};

use landfall_platform::{Bind, Context, Outputs, StepError, StepId, StepSpec, error_chain};
use tokio::time::Instant;

use crate::{
    Event, Journal, JournalError, Options, Phase, Plan, Record, State,
    call::{Heard, call},
    schedule::{self, Job, OnFailure},
};

/// Why a plan is not applied. What was made so far stays; applying the plan again goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// A step failed for good.
    #[error("cannot make {title}")]
    Step {
        /// Which step.
        step: StepId,
        /// What it makes, for people.
        title: String,
        /// Why.
        #[source]
        source: StepError,
    },
    /// The run was stopped from outside.
    #[error("stopped with {left} of {total} steps left")]
    Cancelled {
        /// Steps that are not done.
        left: usize,
        /// Steps of the plan.
        total: usize,
    },
    /// The journal could not be written, so nothing more may be done.
    #[error("cannot go on without a journal")]
    Journal(#[from] JournalError),
}

/// Makes everything in the plan exist. Steps that the journal calls done, and that have not changed since, are left alone.
///
/// Returns the outputs of all steps.
pub async fn apply(
    plan: &Plan,
    bind: &dyn Bind,
    journal: &Journal,
    options: &Options,
) -> Result<BTreeMap<StepId, Outputs>, ApplyError> {
    let known = journal.snapshot().await?;
    let recorded: BTreeMap<StepId, Outputs> =
        known.remaining().filter_map(|entry| Some((entry.spec.id.clone(), entry.outputs.clone()?))).collect();
    let done: BTreeMap<_, _> = known
        .entries
        .into_iter()
        .filter(|entry| entry.state == State::Done && plan.step(&entry.spec.id) == Some(&entry.spec))
        .map(|entry| (entry.spec.id, entry.outputs.unwrap_or_default()))
        .collect();
    options.events.event(&Event::Begin { phase: Phase::Ensure, total: plan.len(), done: done.len() });

    let jobs = plan
        .steps()
        .filter(|spec| !done.contains_key(&spec.id))
        .map(|spec| Job { id: spec.id.clone(), kind: spec.kind.clone(), after: spec.needs.clone() })
        .collect();
    let outputs = Mutex::new(done);
    let outcome = schedule::run(
        jobs,
        |kind| plan.limit(kind),
        OnFailure::Stop,
        &options.cancel,
        |id| {
            let spec = plan.step(&id).expect("jobs are made from the plan");
            ensure(spec, bind, journal, options, &outputs, recorded.get(&id))
        },
    )
    .await;

    match outcome.failed.into_iter().next() {
        Some((_, error)) => Err(error),
        None if outcome.cancelled => Err(ApplyError::Cancelled { left: outcome.left, total: plan.len() }),
        None => Ok(outputs.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)),
    }
}

async fn ensure(
    spec: &StepSpec,
    bind: &dyn Bind,
    journal: &Journal,
    options: &Options,
    outputs: &Mutex<BTreeMap<StepId, Outputs>>,
    recorded: Option<&Outputs>,
) -> Result<(), ApplyError> {
    journal.record(spec.id.clone(), Record::EnsureBegins(Box::new(spec.clone()))).await?;
    options.events.event(&Event::Started { step: spec.id.clone(), title: spec.title.clone(), phase: Phase::Ensure });
    let began = Instant::now();
    let heard = Heard::default();
    let context = context(spec, heard.reporter(spec, options), outputs)
        .noting(journal.notes(spec.id.clone()))
        .recalling(recorded.cloned());
    let result = match bind.bind(spec) {
        Ok(step) => call(spec, spec.timeout, options, &heard, || step.ensure(&context)).await,
        Err(error) => Err(error),
    };
    match result {
        Ok(told) => {
            journal.record(spec.id.clone(), Record::EnsureDone(told.clone())).await?;
            outputs.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(spec.id.clone(), told);
            options.events.event(&Event::Finished {
                step: spec.id.clone(),
                phase: Phase::Ensure,
                took: began.elapsed(),
            });
            Ok(())
        }
        Err(source) => {
            let (class, error) = (source.class(), error_chain(&source));
            journal.record(spec.id.clone(), Record::EnsureFailed { class, error: error.clone() }).await?;
            options.events.event(&Event::Failed { step: spec.id.clone(), phase: Phase::Ensure, class, error });
            Err(ApplyError::Step { step: spec.id.clone(), title: spec.title.clone(), source })
        }
    }
}

/// What a step may know: the outputs of those that it needs, and nothing that an arrow of the plan does not promise.
fn context(
    spec: &StepSpec,
    reporter: Arc<dyn Fn(String) + Send + Sync>,
    outputs: &Mutex<BTreeMap<StepId, Outputs>>,
) -> Context {
    let outputs = outputs.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let needed = spec.needs.iter().filter_map(|id| Some((id.clone(), outputs.get(id)?.clone()))).collect();
    Context::new(needed, reporter)
}
