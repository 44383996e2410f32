//! What the API answers: a function of the request, who asks, and the objects.

use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::{Value, json};

use super::auth::User;
use super::patch::{self, Rules};
use super::path::Target;
use super::query::Query;
use super::status::Problem;
use super::store::{Refusal, Store};
use super::{discovery, scale, table, watch};

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) query: &'a str,
    pub(super) accept: &'a str,
    pub(super) content_type: &'a str,
    pub(super) body: &'a [u8],
}

/// An answer.
pub(super) enum Answer {
    Json(u16, Value),
    Text(&'static str),
    Stream(BoxStream<'static, Bytes>),
}

/// Answers a request.
pub(super) fn answer(store: &Arc<Store>, user: &User, request: &Request<'_>) -> Answer {
    match respond(store, user, request) {
        Ok(answer) => answer,
        Err(problem) => Answer::Json(problem.code, problem.to_json()),
    }
}

fn respond(store: &Arc<Store>, user: &User, request: &Request<'_>) -> Result<Answer, Problem> {
    let Some(target) = Target::parse(store, request.path) else {
        return look(store, user, request);
    };
    let query = Query::parse(request.query)?;
    let verb = verb(request.method, &target, &query)?;
    if !user.may(store, verb, &target) {
        return Err(Problem::forbidden(&user.name, verb, &target.resource()));
    }
    match (verb, target.name.clone()) {
        ("watch", _) => Ok(Answer::Stream(watch::events(store.clone(), target, query).boxed())),
        ("list", _) => Ok(list(store, &target, &query, request.accept)),
        ("create", _) => create(store, &target, read(request)?),
        ("get", Some(name)) => {
            let object = store.get(&target.key(&name)).ok_or_else(|| Problem::not_found(&target.resource(), &name))?;
            if is_scale(&target) {
                return Ok(Answer::Json(200, scale::of(&object)));
            }
            Ok(Answer::Json(200, shown(&target, &object, request.accept)))
        }
        ("update", Some(name)) => change(store, &target, &name, read(request)?, None),
        ("patch", Some(name)) => apply(store, &target, &name, request),
        ("delete", Some(name)) => {
            let removed = store.remove(&target.key(&name)).map_err(|refusal| refused(refusal, &target, &name))?;
            Ok(Answer::Json(200, Value::clone(&removed)))
        }
        _ => Err(Problem::method()),
    }
}

/// Everything that is no object.
fn look(store: &Store, user: &User, request: &Request<'_>) -> Result<Answer, Problem> {
    if !user.may_look(store, request.path) {
        return Err(Problem::forbidden(&user.name, "get", &format!("path \"{}\"", request.path)));
    }
    match (request.method, request.path) {
        ("GET" | "HEAD", "/healthz" | "/livez" | "/readyz") => Ok(Answer::Text("ok")),
        ("GET" | "HEAD", path) => {
            let description = discovery::describe(store, path).ok_or_else(Problem::nowhere)?;
            Ok(Answer::Json(200, description))
        }
        _ => Err(Problem::nowhere()),
    }
}

/// What Kubernetes calls a request.
fn verb(method: &str, target: &Target, query: &Query) -> Result<&'static str, Problem> {
    match (method, &target.name) {
        ("GET" | "HEAD", None) if query.watch => Ok("watch"),
        ("GET" | "HEAD", None) => Ok("list"),
        ("POST", None) => Ok("create"),
        ("GET" | "HEAD", Some(_)) => Ok("get"),
        ("PUT", Some(_)) => Ok("update"),
        ("PATCH", Some(_)) => Ok("patch"),
        ("DELETE", Some(_)) if target.part.is_none() => Ok("delete"),
        _ => Err(Problem::method()),
    }
}

fn list(store: &Store, target: &Target, query: &Query, accept: &str) -> Answer {
    let kind = &target.kind;
    let (objects, revision) = store.list(&kind.group, &kind.resource, target.namespace.as_deref());
    let selected = objects.iter().map(AsRef::as_ref).filter(|object| query.selects(object));
    if table::is_asked(accept) {
        return Answer::Json(200, table::render(&kind.resource, selected, revision));
    }
    let list = json!({
        "kind": format!("{}List", kind.name),
        "apiVersion": kind.api_version(),
        "metadata": { "resourceVersion": revision.to_string() },
        "items": selected.collect::<Vec<_>>(),
    });
    Answer::Json(200, list)
}

fn shown(target: &Target, object: &Value, accept: &str) -> Value {
    if !table::is_asked(accept) {
        return object.clone();
    }
    let revision = object.pointer("/metadata/resourceVersion").and_then(Value::as_str);
    let revision = revision.and_then(|text| text.parse().ok()).unwrap_or_default();
    table::render(&target.kind.resource, std::iter::once(object), revision)
}

fn create(store: &Store, target: &Target, mut object: Value) -> Result<Answer, Problem> {
    let named = object.pointer("/metadata/name").and_then(Value::as_str).map(str::to_owned);
    let generated = || {
        let prefix = object.pointer("/metadata/generateName")?.as_str()?;
        Some(format!("{prefix}{}", &uuid::Uuid::new_v4().simple().to_string()[..5]))
    };
    let name = named.or_else(generated).ok_or_else(|| Problem::bad_request("name or generateName is required"))?;
    check(target, &object, &name)?;
    if target.kind.namespaced {
        let namespace = target.namespace.as_deref().unwrap_or_default();
        let key = super::store::Key::core("namespaces", "", namespace);
        store.get(&key).ok_or_else(|| Problem::not_found("namespaces", namespace))?;
    }
    if target.kind.has_status && target.kind.is_custom() {
        object.as_object_mut().and_then(|fields| fields.shift_remove("status"));
    }
    let created = store.create(target.key(&name), object).map_err(|refusal| refused(refusal, target, &name))?;
    Ok(Answer::Json(201, Value::clone(&created)))
}

fn apply(store: &Store, target: &Target, name: &str, request: &Request<'_>) -> Result<Answer, Problem> {
    let kind = request.content_type.split(';').next().unwrap_or_default().trim();
    let rules = match kind {
        "application/merge-patch+json" => Rules::Merge,
        "application/strategic-merge-patch+json" | "application/apply-patch+yaml" => Rules::Strategic,
        _ => return Err(Problem::media_type()),
    };
    let patch = read(request)?;
    // Server-side apply makes what is missing.
    if kind == "application/apply-patch+yaml" && target.part.is_none() && store.get(&target.key(name)).is_none() {
        return create(store, target, patch);
    }
    change(store, target, name, patch, Some(rules))
}

/// Replaces an object, or patches it by `rules`; through its part `status` only that, and otherwise all but that.
fn change(store: &Store, target: &Target, name: &str, new: Value, rules: Option<Rules>) -> Result<Answer, Problem> {
    if is_scale(target) {
        let changed = store.change(&target.key(name), |old| scale::applied(old, &new));
        let changed = changed.map_err(|refusal| refused(refusal, target, name))?;
        return Ok(Answer::Json(200, scale::of(&changed)));
    }
    if rules.is_none() {
        check(target, &new, name)?;
    }
    let part = match target.part.as_deref() {
        None => None,
        Some("status") if target.kind.has_status => Some("status"),
        Some(_) => return Err(Problem::nowhere()),
    };
    let changed = store.change(&target.key(name), |old| {
        let mut wanted = match rules {
            None => new,
            Some(rules) => {
                let mut wanted = old.clone();
                // A patch may leave out the version that it was made from, and then does not depend on it.
                if let Some(metadata) = wanted["metadata"].as_object_mut() {
                    metadata.shift_remove("resourceVersion");
                }
                patch::apply(rules, &mut wanted, new);
                wanted
            }
        };
        let keep = |whole: &mut Value, field: &str| match old.get(field) {
            Some(value) => whole[field] = value.clone(),
            None => drop(whole.as_object_mut().and_then(|fields| fields.shift_remove(field))),
        };
        if part.is_some() {
            let mut whole = old.clone();
            whole["status"] = wanted["status"].take();
            whole["metadata"]["resourceVersion"] = wanted["metadata"]["resourceVersion"].take();
            return whole;
        }
        if target.kind.has_status {
            keep(&mut wanted, "status");
        }
        wanted
    });
    let changed = changed.map_err(|refusal| refused(refusal, target, name))?;
    Ok(Answer::Json(200, Value::clone(&changed)))
}

fn is_scale(target: &Target) -> bool {
    target.kind.has_scale && target.part.as_deref() == Some("scale")
}

/// Whether an object is what its path says.
fn check(target: &Target, object: &Value, name: &str) -> Result<(), Problem> {
    let kind = &target.kind;
    if object["kind"] != kind.name.as_str() || object["apiVersion"] != kind.api_version().as_str() {
        let message = format!("the object is not a {} of {}", kind.name, kind.api_version());
        return Err(Problem::bad_request(message));
    }
    let says = |field: &str, expected: Option<&str>| match object["metadata"][field].as_str() {
        Some(given) => expected == Some(given),
        None => true,
    };
    if !says("name", Some(name)) || !says("namespace", target.namespace.as_deref()) {
        return Err(Problem::bad_request("the name or namespace of the object is not that of the request"));
    }
    Ok(())
}

fn read(request: &Request<'_>) -> Result<Value, Problem> {
    let broken = |error: String| Problem::bad_request(format!("the object cannot be read: {error}"));
    if request.content_type.contains("yaml") {
        let text = std::str::from_utf8(request.body).map_err(|error| broken(error.to_string()))?;
        return serde_saphyr::from_str(text).map_err(|error| broken(error.to_string()));
    }
    serde_json::from_slice(request.body).map_err(|error| broken(error.to_string()))
}

fn refused(refusal: Refusal, target: &Target, name: &str) -> Problem {
    match refusal {
        Refusal::Exists => Problem::exists(&target.resource(), name),
        Refusal::Missing => Problem::not_found(&target.resource(), name),
        Refusal::Conflict => Problem::conflict(&target.resource(), name),
    }
}
