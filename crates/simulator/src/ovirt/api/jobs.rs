//! Jobs and their steps: what the engine is doing, and what clients report that they are doing.

use super::call::{Call, Done, Outcome, require};
use super::found::{Found, Lookup, parse_id};
use super::kind::Subject;
use super::view::View;
use crate::ovirt::fault::Fault;
use crate::ovirt::lifecycle::jobs;
use crate::ovirt::model::{Job, JobStatus, Step};
use crate::ovirt::representation::types::{JOB, STEP};
use crate::ovirt::table::Id;

/// Writes a job.
pub(crate) fn render(view: &mut View, element: &'static str, job: &Job) {
    let path = format_args!("jobs/{}", job.id);
    view.open(element, path, job.id);
    view.out.text("description", &job.name);
    view.out.text("auto_cleared", job.auto_cleared);
    view.maybe_date("end_time", job.ended);
    view.out.text("external", job.external);
    view.date("last_updated", job.updated);
    view.date("start_time", job.started);
    view.out.text("status", job.status);
    view.maybe_reference("owner", "users", Some(job.owner).filter(|owner| view.state.users.contains(*owner)));
    view.links(path, &["steps"]);
    view.actions(path, &["clear", "end"]);
    view.close();
}

fn render_step(view: &mut View, element: &'static str, job: &Job, step: &Step) {
    let path = format_args!("jobs/{}/steps/{}", job.id, step.id);
    view.open(element, path, step.id);
    view.out.text("description", &step.description);
    view.maybe_date("end_time", step.ended);
    view.out.text("external", step.external);
    let number = job.steps.iter().position(|other| other.id == step.id).unwrap_or_default();
    view.out.text("number", number);
    view.date("start_time", step.started);
    view.out.text("status", step.status);
    view.out.text("type", &step.kind);
    view.reference("job", "jobs", job.id);
    if let Some(parent) = step.parent {
        view.reference_to("parent_step", format_args!("jobs/{}/steps/{parent}", job.id), parent);
    }
    view.links(path, &["statistics"]);
    view.actions(path, &["end"]);
    view.close();
}

/// A job, or what is under it.
pub(crate) fn at<'s>(job: &'s Job, parts: &[&str]) -> Lookup<'s> {
    let find = |id: &str| -> Result<&'s Step, Fault> {
        let id = parse_id(id)?;
        job.steps.iter().find(|step| step.id == id).ok_or_else(Fault::not_found)
    };
    match parts {
        [] => Ok(Found::subject(Subject::Job(job))),
        ["steps"] => Ok(Found::list("steps", "step", move |view| {
            job.steps.iter().for_each(|step| render_step(view, "step", job, step));
        })),
        ["steps", id] => {
            let step = find(id)?;
            Ok(Found::item("step", move |view, element| render_step(view, element, job, step)))
        }
        ["steps", id, "statistics"] => find(id).map(|_| Found::nothing("statistics", "statistic")),
        _ => Err(Fault::not_found()),
    }
}

/// Begins a job of a client.
pub(crate) fn add(call: &mut Call) -> Outcome {
    let tree = call.read(&JOB)?;
    let description = require(&tree, "Job", "description", "add")?;
    let id = jobs::begin(call.state, description);
    let job = call.state.jobs.get_mut(id).ok_or_else(Fault::not_found)?;
    job.external = true;
    job.auto_cleared = tree.bool("auto_cleared").unwrap_or(true);
    job.steps.clear();
    Ok(Done::Created { path: format!("jobs/{id}"), job: None })
}

/// Adds a step to a job of a client.
pub(crate) fn add_step(call: &mut Call, job: Id) -> Outcome {
    let tree = call.read(&STEP)?;
    let kind = require(&tree, "Step", "type", "add")?;
    let (id, now) = (call.state.new_id(), call.state.now);
    let parent = tree.sub("parent_step").and_then(|parent| parent.text("id")).map(parse_id).transpose()?;
    let step = Step {
        id,
        kind: kind.into(),
        description: tree.text("description").unwrap_or_default().into(),
        status: JobStatus::Started,
        started: now,
        ended: None,
        parent,
        external: true,
    };
    let owner = external(call, job)?;
    owner.updated = now;
    owner.steps.push(step);
    Ok(Done::Created { path: format!("jobs/{job}/steps/{id}"), job: None })
}

/// Ends a job or a step of a client, or clears a job away.
pub(crate) fn act(call: &mut Call, job: Id, step: Option<Id>, action: &str) -> Outcome {
    let tree = call.read_action()?;
    let now = call.state.now;
    let failed = tree.bool("succeeded") == Some(false) || (tree.bool("force") == Some(true) && !tree.has("succeeded"));
    let status = if failed { JobStatus::Failed } else { JobStatus::Finished };
    let job = external(call, job)?;
    match (action, step) {
        ("clear", None) => {
            let id = job.id;
            call.state.jobs.remove(id);
        }
        ("end", None) => {
            (job.status, job.ended, job.updated) = (status, Some(now), now);
            for step in job.steps.iter_mut().filter(|step| step.status == JobStatus::Started) {
                (step.status, step.ended) = (status, Some(now));
            }
        }
        ("end", Some(id)) => {
            let step = job.steps.iter_mut().find(|step| step.id == id).ok_or_else(Fault::not_found)?;
            (step.status, step.ended) = (status, Some(now));
            job.updated = now;
        }
        _ => return Err(Fault::not_found()),
    }
    Ok(Done::Acted { job: None, pending: false })
}

fn external<'c>(call: &'c mut Call, job: Id) -> Result<&'c mut Job, Fault> {
    let job = call.state.jobs.get_mut(job).ok_or_else(Fault::not_found)?;
    if job.external { Ok(job) } else { Err(Fault::conflict("Cannot manage a job that is not external.")) }
}
