//! Events: the engine's log, the newest first.

use super::call::{Call, Done, Outcome, require};
use super::found::{Found, Lookup};
use super::kind::{Kind, Subject};
use super::refs;
use super::view::View;
use crate::ovirt::fault::Fault;
use crate::ovirt::model::{About, Event, Severity};
use crate::ovirt::representation::types::EVENT;
use crate::ovirt::state::State;

/// The code of events that clients write.
const EXTERNAL: u32 = 9801;

/// Writes an event.
pub(crate) fn render(view: &mut View, element: &'static str, event: &Event) {
    let state = view.state;
    view.open(element, format_args!("events/{}", event.index), event.index);
    view.out.text("description", &event.description);
    view.out.text("code", event.code);
    if !event.correlation.is_empty() {
        view.out.text("correlation_id", &event.correlation);
    }
    view.out.text("custom_id", event.custom_id.unwrap_or(-1));
    view.out.text("flood_rate", 30);
    view.out.text("index", event.index);
    view.out.text("origin", &event.origin);
    view.out.text("severity", event.severity);
    view.date("time", event.time);
    // What an event was about may be gone; then there is nothing to refer to.
    let about = event.about;
    view.maybe_reference("cluster", "clusters", about.cluster.filter(|id| state.clusters.contains(*id)));
    view.maybe_reference("data_center", "datacenters", about.data_center.filter(|id| state.data_centers.contains(*id)));
    view.maybe_reference("host", "hosts", about.host.filter(|id| state.hosts.contains(*id)));
    view.maybe_reference(
        "storage_domain",
        "storagedomains",
        about.storage_domain.filter(|id| state.storage_domains.contains(*id)),
    );
    view.maybe_reference("template", "templates", about.template.filter(|id| state.templates.contains(*id)));
    view.maybe_reference("user", "users", event.user.filter(|id| state.users.contains(*id)));
    view.maybe_reference("vm", "vms", about.vm.filter(|id| state.vms.contains(*id)));
    view.close();
}

/// An event by its number.
pub(crate) fn at<'s>(state: &'s State, parts: &[&str]) -> Lookup<'s> {
    match parts {
        [index] => {
            let index = index.parse().map_err(|_| Fault::not_found())?;
            let event = state.events.get(index).ok_or_else(Fault::not_found)?;
            Ok(Found::subject(Subject::Event(event)))
        }
        _ => Err(Fault::not_found()),
    }
}

/// Writes an event of a client.
pub(crate) fn add(call: &mut Call) -> Outcome {
    let tree = call.read(&EVENT)?;
    let description = require(&tree, "Event", "description", "add")?;
    let origin = require(&tree, "Event", "origin", "add")?;
    let severity = require(&tree, "Event", "severity", "add")?;
    let custom_id = tree.int("custom_id").ok_or_else(|| Fault::incomplete("Event", "customId", "add"))?;
    let state = &mut *call.state;
    let about = About {
        vm: refs::reference(state, &tree, "vm", Kind::Vm)?,
        host: refs::reference(state, &tree, "host", Kind::Host)?,
        template: refs::reference(state, &tree, "template", Kind::Template)?,
        storage_domain: refs::reference(state, &tree, "storage_domain", Kind::StorageDomain)?,
        cluster: refs::reference(state, &tree, "cluster", Kind::Cluster)?,
        data_center: refs::reference(state, &tree, "data_center", Kind::DataCenter)?,
    };
    let duplicate =
        state.events.newest_first().any(|event| *event.origin == *origin && event.custom_id == Some(custom_id));
    if duplicate {
        return Err(Fault::conflict("Cannot add External Event. External Event with this custom id already exists."));
    }
    let index = state.events.push(Event {
        index: 0,
        code: EXTERNAL,
        severity: Severity::parse(severity).unwrap_or(Severity::Normal),
        time: state.now,
        description: description.into(),
        correlation: state.cause.correlation.clone(),
        origin: origin.into(),
        custom_id: Some(custom_id),
        user: state.cause.user,
        about,
    });
    Ok(Done::Created { path: format!("events/{index}"), job: None })
}

/// Removes an event.
pub(crate) fn remove(call: &mut Call, index: &str) -> Outcome {
    let removed = index.parse().is_ok_and(|index| call.state.events.remove(index));
    if removed { Ok(Done::Removed { job: None }) } else { Err(Fault::not_found()) }
}
