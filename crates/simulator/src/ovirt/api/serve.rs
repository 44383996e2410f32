//! Requests of the API: who asks for what in which form, and the answer in the form that was asked for.

use super::access::Access;
use super::call::{Body, Call, Done};
use super::creation::progress;
use super::follow::Follow;
use super::negotiate;
use super::params::{Params, split_path};
use super::route;
use super::view::View;
use crate::core::{Injection, Request, Response};
use crate::ovirt::fault::Fault;
use crate::ovirt::http::{self, header, headers};
use crate::ovirt::lifecycle::operations;
use crate::ovirt::representation::{Format, Out};
use crate::ovirt::sso::{self, Caller};
use crate::ovirt::state::{Cause, State};
use crate::ovirt::table::Id;

/// Where the API is.
pub(crate) const BASE: &str = "/ovirt-engine/api";

/// A request, taken apart.
struct Ask<'r> {
    request: &'r Request,
    parts: Vec<String>,
    params: Params,
    base: String,
    format: Format,
}

/// Answers a request whose path is `path` after [`BASE`].
pub(crate) fn serve(state: &mut State, request: &Request, path: &str) -> Response {
    let mut params = Params::from_query(&request.query);
    let mut parts = split_path(path, &mut params);
    let versioned = parts.first().is_some_and(|part| is_version(part));
    let version =
        if versioned { parts.remove(0) } else { header(request, "version").map_or_else(String::new, str::to_owned) };
    let base = if versioned { format!("{BASE}/{version}") } else { BASE.to_owned() };
    let format = negotiate::output(request, &params);
    let correlation = correlation(state, request, &params);
    let ask = Ask { request, parts, params, base, format: format.unwrap_or(Format::Xml) };
    let mut response = match format {
        None => http::empty(406),
        Some(_) if !matches!(version.trim_start_matches('v'), "" | "4") => {
            ask.fault(&Fault::new(400, "Invalid version", "Supported versions are [4]"))
        }
        Some(_) => authenticated(state, &ask, &correlation),
    };
    response.headers.push(("Correlation-Id".into(), correlation));
    response
}

fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The id that joins a request with its job and events: the client's, made harmless, or a new one.
fn correlation(state: &mut State, request: &Request, params: &Params) -> String {
    let given = header(request, "correlation-id").or_else(|| params.get("correlation_id")).unwrap_or_default();
    let safe = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | ':');
    let kept: String = given.chars().filter(safe).take(36).collect();
    if kept.is_empty() { state.new_id().to_string() } else { kept }
}

fn authenticated(state: &mut State, ask: &Ask, correlation: &str) -> Response {
    let injection = ask.request.injection;
    if injection == Some(Injection::TokenExpired) {
        return unauthorized(sso::EXPIRED);
    }
    let (user, session) = match sso::caller(state, ask.request) {
        Caller::User(user, session) => (user, session),
        Caller::Nobody(reason) => return unauthorized(reason),
    };
    state.cause = Cause {
        user: Some(user),
        correlation: correlation.into(),
        slowdown: if let Some(Injection::SlowState(factor)) = injection { factor.max(1) } else { 1 },
        held: injection == Some(Injection::StuckLock),
        no_capacity: injection == Some(Injection::NoCapacity),
    };
    let mut response = answer(state, ask, user).unwrap_or_else(|fault| ask.refuse(&fault));
    state.cause = Cause::default();
    if let Some(session) = session {
        let cookie = format!("JSESSIONID={session}; path=/ovirt-engine/api; secure; HttpOnly");
        response.headers.push(("Set-Cookie".into(), cookie));
        response.headers.push(("Session-TTL".into(), "30".into()));
    }
    response
}

/// The application server answers those whom it does not know, before the API sees them.
fn unauthorized(reason: &str) -> Response {
    let mut response = http::html(401, "Error", reason);
    response.headers.push(("WWW-Authenticate".into(), "Basic realm=\"RESTAPI\"".into()));
    response
}

fn answer(state: &mut State, ask: &Ask, user: Id) -> Result<Response, Fault> {
    let filter = ask.params.flag("filter").or_else(|| {
        let mut given = Params::default();
        given.push("filter", header(ask.request, "filter")?);
        given.flag("filter")
    });
    let access = Access::of(state, user, filter)?;
    let parts: Vec<&str> = ask.parts.iter().map(String::as_str).collect();
    match ask.request.method.as_str() {
        "GET" | "HEAD" => ask.render(state, &access, &parts, 200, None),
        "OPTIONS" => {
            Ok(Response { headers: vec![("Allow".into(), "GET, POST, PUT, DELETE".into())], ..http::empty(200) })
        }
        method => {
            access.allow(state, method, &parts)?;
            let usage = usage(method, &parts);
            let body = Body { bytes: &ask.request.body, format: negotiate::input(ask.request), usage: &usage };
            let mut call = Call { state, params: &ask.params, body };
            let done = route::change(&mut call, method, &parts)?;
            let waits = waits(&call, ask, &parts);
            ask.finish(state, &access, &parts, done, waits)
        }
    }
}

/// Whether the client waits for the answer until everything is done. Time stands still for it: it is done at once.
fn waits(call: &Call, ask: &Ask, parts: &[&str]) -> bool {
    let expects = ["expect", "x-ovirt-expect"]
        .iter()
        .any(|name| headers(ask.request, name).any(|value| value.split(',').any(|one| one.trim() == "201-created")));
    let in_body = is_action(parts) && call.read_action().is_ok_and(|action| action.bool("async") == Some(false));
    expects || ask.params.flag("async") == Some(false) || in_body
}

impl Ask<'_> {
    /// What is at an address, written. A job is given when the address was just made by it.
    fn render(
        &self,
        state: &State,
        access: &Access,
        parts: &[&str],
        status: u16,
        job: Option<Id>,
    ) -> Result<Response, Fault> {
        let found = route::find(state, parts)?;
        if !route::is_visible(state, access, parts) {
            return Err(Fault::not_found());
        }
        let follow = self.params.get("follow").map(Follow::parse).unwrap_or_default();
        let mut view = View::new(state, self.format, access, &self.params, &self.base, &follow);
        view.announce(job);
        found.render(&mut view, None)?;
        Ok(self.document(status, view.out))
    }

    fn finish(
        &self,
        state: &mut State,
        access: &Access,
        parts: &[&str],
        done: Done,
        waits: bool,
    ) -> Result<Response, Fault> {
        let job = match &done {
            Done::Created { job, .. } | Done::Removed { job } | Done::Acted { job, .. } => *job,
            Done::Updated { .. } => None,
        };
        if let Some(job) = job.filter(|_| waits) {
            operations::finish_for_waiter(state, job);
        }
        let under_way = job.filter(|job| state.operations.contains_key(job));
        if state.cause.held && under_way.is_none() {
            hold(state, parts);
        }
        match done {
            Done::Created { path, .. } => {
                let made: Vec<&str> = path.split('/').collect();
                let status = if under_way.is_some() { 202 } else { 201 };
                let mut response = self.render(state, access, &made, status, under_way)?;
                response.headers.push(("Location".into(), format!("{}/{path}", self.base)));
                Ok(response)
            }
            Done::Updated { path } => self.render(state, access, &path.split('/').collect::<Vec<_>>(), 200, None),
            Done::Removed { job } => Ok(self.action(state, parts, job, None)),
            Done::Acted { job, pending } => Ok(self.action(state, parts, job, under_way.filter(|_| pending))),
        }
    }

    /// The answer to an action or a removal; `pending` is the job that it goes on in.
    fn action(&self, state: &State, parts: &[&str], job: Option<Id>, pending: Option<Id>) -> Response {
        let mut out = Out::new(self.format);
        out.open("action");
        let path = parts.join("/");
        if let Some(pending) = pending {
            out.attribute("href", format_args!("{}/{path}/{pending}", self.base));
            out.attribute("id", pending);
            out.text("async", true);
        }
        if let Some(job) = job {
            out.open("job");
            out.attribute("href", format_args!("{}/jobs/{job}", self.base));
            out.attribute("id", job);
            out.close();
        }
        out.text("status", pending.map_or("complete", |job| progress(state, job)));
        out.close();
        self.document(if pending.is_some() { 202 } else { 200 }, out)
    }

    /// A fault; for an action, within the action.
    fn refuse(&self, fault: &Fault) -> Response {
        let parts: Vec<&str> = self.parts.iter().map(String::as_str).collect();
        match &fault.text {
            Some(text) if self.request.method == "POST" && is_action(&parts) => {
                let mut out = Out::new(self.format);
                out.open("action");
                text.write(&mut out);
                out.text("status", "failed");
                out.close();
                self.document(fault.status, out)
            }
            _ => self.fault(fault),
        }
    }

    fn fault(&self, fault: &Fault) -> Response {
        let Some(text) = &fault.text else { return http::empty(fault.status) };
        let mut out = Out::new(self.format);
        text.write(&mut out);
        self.document(fault.status, out)
    }

    fn document(&self, status: u16, out: Out) -> Response {
        http::response(status, negotiate::content_type(self.format), out.finish())
    }
}

/// A fault in the API's form, for faults that are injected from outside.
pub(crate) fn injected_fault(request: &Request, status: u16) -> Response {
    let params = Params::from_query(&request.query);
    let format = negotiate::output(request, &params).unwrap_or(Format::Xml);
    let ask = Ask { request, parts: Vec::new(), params, base: BASE.to_owned(), format };
    ask.fault(&Fault::new(status, "Operation Failed", "[Internal Engine Error]"))
}

/// Reserves what a call touched, although it started nothing that could hang: until an administrator releases it.
fn hold(state: &mut State, parts: &[&str]) {
    let power = matches!(parts, ["vms", _, action] if super::vms::ACTIONS.contains(action));
    if let Some(id) = parts.get(1).and_then(|id| Id::try_parse(id).ok()).filter(|_| !power) {
        state.busy.insert(id);
    }
}

/// Whether a `POST` to this address is an action, and not the making of something.
fn is_action(parts: &[&str]) -> bool {
    match parts {
        ["vms", _, action] => super::vms::ACTIONS.contains(action),
        ["disks" | "storagedomains" | "clusters" | "hosts" | "templates", _, action] => {
            !matches!(*action, "permissions" | "tags" | "networks" | "affinitygroups" | "affinitylabels")
        }
        ["imagetransfers", _, _] | ["datacenters", _, "storagedomains", _, _] => true,
        ["jobs", .., action] => matches!(*action, "clear" | "end"),
        ["vms", _, "nics", _, action] => matches!(*action, "activate" | "deactivate"),
        ["vms", _, "snapshots", _, action] => *action == "restore",
        _ => false,
    }
}

/// Where the documentation of an address is: `vms/methods/add`.
fn usage(method: &str, parts: &[&str]) -> String {
    let service = parts.iter().find(|part| Id::try_parse(part).is_err()).copied().unwrap_or("system");
    let verb = match method {
        "POST" => parts.last().filter(|_| is_action(parts)).copied().unwrap_or("add"),
        "PUT" => "update",
        "DELETE" => "remove",
        _ => "get",
    };
    format!("{service}/methods/{verb}")
}
