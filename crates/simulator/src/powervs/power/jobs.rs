//! Jobs. Only the last five are listed.

use serde_json::{Value, json};

use super::{Job, Workspace, workspace, workspace_mut};
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::reply::{Answer, Refusal, json_reply};

const LISTED: usize = 5;

fn show(cloud: &Cloud, job: &Job) -> Value {
    json!({
        "id": job.id,
        "createTimestamp": cloud.time(job.created),
        "operation": { "id": job.image, "action": "imageImport", "target": "cloudInstance" },
        "status": { "state": job.state, "progress": job.progress, "message": job.message },
    })
}

fn find<'a>(own: &'a Workspace, id: &str) -> Result<&'a Job, Refusal> {
    let missing = || Refusal::new(404, "job not found", format!("job {id} not found"));
    own.jobs.iter().find(|job| job.id == id).ok_or_else(missing)
}

pub(super) fn list(cloud: &Cloud, call: &Call, ws: &str) -> Answer {
    let fits = |job: &&Job| {
        call.query("operation.id").is_none_or(|id| job.image == id)
            && call.query("operation.action").is_none_or(|action| action == "imageImport")
            && call.query("operation.target").is_none_or(|target| target == "cloudInstance")
    };
    let jobs = workspace(cloud, ws)?.jobs.iter().rev().filter(fits).take(LISTED);
    let shown: Vec<Value> = jobs.map(|job| show(cloud, job)).collect();
    Ok(json_reply(200, &json!({ "jobs": shown })))
}

pub(super) fn get(cloud: &Cloud, ws: &str, id: &str) -> Answer {
    Ok(json_reply(200, &show(cloud, find(workspace(cloud, ws)?, id)?)))
}

pub(super) fn last_import(cloud: &Cloud, ws: &str) -> Answer {
    let last = workspace(cloud, ws)?.jobs.last();
    let last = last.ok_or_else(|| Refusal::new(404, "job not found", "no image import job was found: not found"))?;
    Ok(json_reply(200, &show(cloud, last)))
}

pub(super) fn delete(cloud: &mut Cloud, ws: &str, id: &str) -> Answer {
    let job = find(workspace(cloud, ws)?, id)?;
    if !matches!(job.state.as_str(), "completed" | "failed") {
        return Err(Refusal::conflict(format!("job {id} is {}", job.state)));
    }
    workspace_mut(cloud, ws)?.jobs.retain(|job| job.id != id);
    Ok(json_reply(200, &json!({})))
}
