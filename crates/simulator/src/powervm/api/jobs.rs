//! Jobs: templates, starting them, looking at them.

use super::call::{Call, Place};
use crate::core::{Injection, Request, Response};
use crate::powervm::fault::Fault;
use crate::powervm::operations;
use crate::powervm::state::{Due, Job, Object, State};
use crate::powervm::xml::Element;

/// Gives the template of an operation, or starts it.
pub(super) fn operate(state: &mut State, call: &Call, request: &Request, operation: &str) -> Result<Response, Fault> {
    let (group, target) = match call.place(state, call.segments.len() - 2)? {
        Place::Entry(object) => (object.kind().to_owned(), Some(object)),
        Place::Feed { kind, .. } => (kind, None),
    };
    if !operations::is_known(&group, operation) {
        return Err(Fault::no_route(&request.path));
    }
    match request.method.as_str() {
        "GET" => Ok(template(state, call, request, &group, operation)),
        "PUT" => start(state, call, request, &group, operation, target),
        method => Err(Fault::new(405, "Method Not Allowed", format!("{method} is not supported."))),
    }
}

fn requested(group: &str, operation: &str) -> Element {
    Element::record("RequestedOperation", &[("OperationName", operation), ("GroupName", group)])
}

fn template(state: &State, call: &Call, request: &Request, group: &str, operation: &str) -> Response {
    let element = Element::of("JobRequest", [requested(group, operation), Element::new("JobParameters")]);
    let id = crate::powervm::ids::uuid(&["template", group, operation]);
    call.look(state).entry(&Object { id, parent: None, created: 0, element }, &request.path)
}

fn start(
    state: &mut State,
    call: &Call,
    request: &Request,
    group: &str,
    operation: &str,
    target: Option<Object>,
) -> Result<Response, Fault> {
    let body = Call::body(request, Some("JobRequest"))?;
    let asked = body.text("RequestedOperation/OperationName");
    if asked != operation {
        return Err(Fault::schema(format!("The job asks for '{asked}', not for '{operation}'.")));
    }
    let list = body.child("JobParameters").into_iter().flat_map(|list| list.all("JobParameter"));
    let parameters = list.map(|item| (item.text("ParameterName").to_owned(), item.text("ParameterValue").to_owned()));
    let now = state.clock().milliseconds();
    let id = 1_400_000_000_000 + state.next();
    let job = Job {
        id,
        group: group.to_owned(),
        operation: operation.to_owned(),
        target: target.map(|target| target.id),
        parameters: parameters.collect(),
        status: "RUNNING".to_owned(),
        started: now,
        completed: None,
        results: Vec::new(),
        exception: None,
    };
    let factor = if let Some(Injection::SlowState(factor)) = request.injection { factor } else { 1 };
    match operations::begin(state, call.host, &job) {
        Ok(duration) => {
            state.hosts[call.host].jobs.insert(id, job);
            state.schedule(duration.saturating_mul(factor), Due::Job { host: call.host, id });
        }
        Err(message) => {
            let mut job = job;
            operations::fail(&mut job, message, now);
            state.hosts[call.host].jobs.insert(id, job);
        }
    }
    show(state, call, id)
}

fn find<'a>(state: &'a State, call: &Call, id: &str) -> Result<&'a Job, Fault> {
    let job = id.parse().ok().and_then(|id: u64| state.hosts[call.host].jobs.get(&id));
    job.ok_or_else(|| Fault::not_found("job", id))
}

fn show(state: &State, call: &Call, id: u64) -> Result<Response, Fault> {
    let job = find(state, call, &id.to_string())?;
    let mut element = Element::record(
        "JobResponse",
        &[
            ("TargetUuid", job.target.as_deref().unwrap_or_default()),
            ("JobID", &id.to_string()),
            ("TimeStarted", &job.started.to_string()),
            ("TimeCompleted", &job.completed.unwrap_or_default().to_string()),
            ("Status", &job.status),
        ],
    );
    let target = job.target.as_deref().map(|target| format!("/{target}")).unwrap_or_default();
    element.put(Element::reference("RequestURL", format!("{}{target}/do/{}", job.group, job.operation)));
    if let Some(message) = &job.exception {
        element.put(Element::record("ResponseException", &[("Message", message), ("StackTrace", "")]));
    }
    let parameter = |(name, value): &(String, String)| {
        Element::record("JobParameter", &[("ParameterName", name), ("ParameterValue", value)])
    };
    let parameters = Element::of("JobParameters", job.parameters.iter().map(parameter));
    element.put(Element::of("JobRequestInstance", [requested(&job.group, &job.operation), parameters]));
    element.put(Element::of("Results", job.results.iter().map(parameter)));
    let object = Object {
        id: crate::powervm::ids::uuid(&["job", &id.to_string()]),
        parent: None,
        created: job.started,
        element,
    };
    Ok(call.look(state).entry(&object, &format!("/rest/api/uom/jobs/{id}")))
}

/// Looks at a job, or forgets it.
pub(super) fn look(state: &mut State, call: &Call, request: &Request, id: &str) -> Result<Response, Fault> {
    let job = find(state, call, id)?;
    match request.method.as_str() {
        "GET" => show(state, call, job.id),
        "DELETE" if job.status == "RUNNING" => Err(Fault::refused(format!("REST0041: The job {id} is running."))),
        "DELETE" => {
            let id = job.id;
            state.hosts[call.host].jobs.remove(&id);
            Ok(Response { status: 204, headers: Vec::new(), body: bytes::Bytes::new() })
        }
        method => Err(Fault::new(405, "Method Not Allowed", format!("{method} is not supported."))),
    }
}

/// Asks a job to end early. Most cannot; a migration can.
pub(super) fn cancel(state: &mut State, call: &Call, request: &Request, id: &str) -> Result<Response, Fault> {
    if request.method != "POST" {
        return Err(Fault::new(405, "Method Not Allowed", format!("{} is not supported.", request.method)));
    }
    let id = find(state, call, id)?.id;
    let now = state.clock().milliseconds();
    if let Some(job) = state.hosts[call.host].jobs.get_mut(&id).filter(|job| job.status == "RUNNING") {
        operations::fail(job, "The job was cancelled.".to_owned(), now);
        "FAILED_BEFORE_COMPLETION".clone_into(&mut job.status);
        let job = job.clone();
        operations::cancelled(state, call.host, &job);
    }
    show(state, call, id)
}
