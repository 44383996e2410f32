//! How far something is that a client asked for and did not wait for: by the id of its job.

use super::found::{Found, Lookup, parse_id};
use crate::ovirt::fault::Fault;
use crate::ovirt::model::JobStatus;
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// The word for the state of a job, `None` if there is none of that id any more.
pub(crate) fn progress(state: &State, job: Id) -> &'static str {
    if state.operations.contains_key(&job) {
        return "in_progress";
    }
    match state.jobs.get(job).map(|job| job.status) {
        Some(JobStatus::Failed) => "failed",
        _ => "complete",
    }
}

/// `…/creation_status/{job}`.
pub(crate) fn status<'s>(state: &'s State, job: &str) -> Lookup<'s> {
    let job = known(state, job)?;
    Ok(Found::item("creation", move |view, element| {
        view.out.open(element);
        view.out.text("status", progress(state, job));
        view.close();
    }))
}

/// `…/{action}/{job}`: an action that went on after its answer.
pub(crate) fn action<'s>(state: &'s State, parts: &[&str]) -> Lookup<'s> {
    let [_, job] = parts else { return Err(Fault::not_found()) };
    let job = known(state, job)?;
    Ok(Found::item("action", move |view, element| {
        view.out.open(element);
        view.out.text("status", progress(state, job));
        view.close();
    }))
}

fn known(state: &State, job: &str) -> Result<Id, Fault> {
    let job = parse_id(job)?;
    if state.jobs.contains(job) { Ok(job) } else { Err(Fault::not_found()) }
}
