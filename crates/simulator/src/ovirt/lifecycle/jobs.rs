//! Jobs: what the engine reports about a command, by the correlation id of the request.

use crate::core::Instant;
use crate::ovirt::agenda::Due;
use crate::ovirt::delays;
use crate::ovirt::model::{Job, JobStatus, Step};
use crate::ovirt::state::{NIL, State};
use crate::ovirt::table::Id;

/// Begins a job with the two steps that every command has.
pub(crate) fn begin(state: &mut State, description: &str) -> Id {
    forget_old(state);
    let (id, now) = (state.new_id(), state.now);
    let steps = ["validating", "executing"].map(|kind| Step {
        id: state.new_id(),
        kind: kind.into(),
        description: if kind == "validating" { "Validating" } else { "Executing" }.into(),
        status: if kind == "validating" { JobStatus::Finished } else { JobStatus::Started },
        started: now,
        ended: (kind == "validating").then_some(now),
        parent: None,
        external: false,
    });
    state.jobs.insert(Job {
        id,
        name: description.into(),
        correlation: state.cause.correlation.clone(),
        owner: state.cause.user.unwrap_or(NIL),
        status: JobStatus::Started,
        started: now,
        ended: None,
        updated: now,
        steps: steps.into(),
        external: false,
        auto_cleared: true,
    });
    id
}

/// Ends a job now.
pub(crate) fn end(state: &mut State, id: Id, status: JobStatus) {
    let now = state.now;
    if let Some(job) = state.jobs.get_mut(id) {
        (job.status, job.ended, job.updated) = (status, Some(now), now);
        for step in job.steps.iter_mut().filter(|step| step.status == JobStatus::Started) {
            (step.status, step.ended) = (status, Some(now));
        }
    }
}

/// Ends a job a moment after what it did can be seen.
pub(crate) fn end_soon(state: &mut State, id: Id) {
    let at = Instant(state.now.0 + delays::JOB_LAG);
    state.agenda.add(at, Due::JobEnds(id));
}

/// Notes a command that was over at once.
pub(crate) fn note(state: &mut State, description: &str) -> Id {
    let id = begin(state, description);
    end(state, id, JobStatus::Finished);
    id
}

/// Drops jobs that ended long enough ago.
fn forget_old(state: &mut State) {
    let now = state.now;
    let old = |job: &Job| {
        let kept = if job.status == JobStatus::Failed { delays::FAILED_JOB_KEPT } else { delays::JOB_KEPT };
        job.auto_cleared && job.ended.is_some_and(|ended| ended.0 + kept < now.0)
    };
    // Looking at every job for each new one would make many jobs slow; once in a while is enough.
    if state.jobs.len().is_power_of_two() || state.jobs.len().is_multiple_of(256) {
        state.jobs.remove_where(old);
    }
}
