//! Creating, updating and deleting objects.

use super::call::{Call, Place};
use crate::core::{Request, Response};
use crate::powervm::fault::Fault;
use crate::powervm::schema::{self, Groups};
use crate::powervm::state::{Object, State};
use crate::powervm::xml::Element;
use crate::powervm::{bridge, fibre, ids, network, partition, pool, present, scsi, sriov, storage};

/// Makes an object in a feed.
pub(super) fn create(state: &mut State, call: &Call, request: &Request) -> Result<Response, Fault> {
    let Place::Feed { parent, kind } = call.place(state, call.segments.len())? else {
        return Err(Fault::new(405, "Method Not Allowed", "PUT is for feeds."));
    };
    let mut body = Call::body(request, Some(&kind))?;
    let wish = body.text("Metadata/Atom/AtomID").to_owned();
    body.strip_metadata();
    let host = call.host;
    let parent = parent.ok_or_else(|| Fault::new(405, "Method Not Allowed", format!("{kind} needs a parent.")))?;
    let id = match (parent.kind(), kind.as_str()) {
        ("ManagedSystem", "LogicalPartition") => {
            let wish = if wish.is_empty() { body.text("PartitionUUID").to_owned() } else { wish };
            let fresh = state.fresh();
            let id = match uuid::Uuid::try_parse(&wish) {
                Ok(_) => wish.to_uppercase(),
                Err(_) => ids::partition_uuid(&["new", &fresh]),
            };
            partition::create(state, host, body, id)?
        }
        ("ManagedSystem", "VirtualSwitch") => network::create_switch(state, host, body)?,
        ("LogicalPartition" | "VirtualIOServer", "ClientNetworkAdapter") => {
            network::create_adapter(state, host, &parent.id, body)?
        }
        ("LogicalPartition", "VirtualNICDedicated") => sriov::create_vnic(state, host, &parent.id, body)?,
        ("Tier", "LogicalUnit") => pool::create_unit(state, host, &parent.id, &body)?,
        (owner, _) => {
            return Err(Fault::new(405, "Method Not Allowed", format!("{kind} cannot be created in a {owner}.")));
        }
    };
    show(state, call, &id, &format!("{}/{id}", request.path))
}

/// Takes over an object that a client has read, changed and sent back.
pub(super) fn update(state: &mut State, call: &Call, request: &Request) -> Result<Response, Fault> {
    let Place::Entry(object) = call.place(state, call.segments.len())? else {
        return Err(Fault::new(405, "Method Not Allowed", "POST is for entries."));
    };
    call.check_etag(state, request, &object)?;
    let mut body = Call::body(request, Some(object.kind()))?;
    body.strip_metadata();
    let (host, id) = (call.host, object.id.clone());
    let groups = Groups::of(&call.query);
    match object.kind() {
        "VolumeGroup" => storage::update_group(state, host, &id, &body)?,
        "NetworkBridge" => bridge::update(state, host, &id, &body)?,
        "SharedStoragePool" => pool::update_pool(state, host, &id, &body)?,
        "VirtualIOServer" => update_vios(state, host, &object, &body, &groups)?,
        "LogicalPartition" => {
            partition::check(state, host, &body, Some(&id))?;
            let mut merged = merge(&object.element, &body, &groups);
            partition::refresh(&mut merged);
            replace(state, host, &id, merged, "Other");
        }
        "ManagedSystem"
        | "ManagementConsole"
        | "ClientNetworkAdapter"
        | "LogicalUnit"
        | "VirtualSwitch"
        | "VirtualNICDedicated"
        | "SharedProcessorPool"
        | "Cluster"
        | "Tier" => {
            let merged = merge(&object.element, &body, &groups);
            replace(state, host, &id, merged, "Other");
        }
        kind => return Err(Fault::new(405, "Method Not Allowed", format!("{kind} cannot be updated."))),
    }
    show(state, call, &id, &request.path)
}

fn update_vios(state: &mut State, host: usize, vios: &Object, body: &Element, groups: &Groups) -> Result<(), Fault> {
    let lists = ["VirtualSCSIMappings", "VirtualFibreChannelMappings"];
    let posted = |list: &str| {
        let asked = groups.includes("VirtualIOServer", list);
        asked.then(|| body.child(list).cloned().unwrap_or_else(|| Element::new(list)))
    };
    let mut merged = merge(&vios.element, body, groups);
    // These have laws of their own.
    for list in lists.into_iter().chain(["PhysicalVolumes", "PartitionIOConfiguration"]) {
        if let Some(stored) = vios.element.child(list) {
            merged.put(stored.clone());
        }
    }
    let (scsi_mappings, fibre_mappings) = (posted(lists[0]), posted(lists[1]));
    if let Some(mappings) = scsi_mappings {
        scsi::update(state, host, &vios.id, &mappings)?;
    }
    if let Some(mappings) = fibre_mappings {
        fibre::update(state, host, &vios.id, &mappings)?;
    }
    if let Some(stored) = state.object_mut(host, &vios.id) {
        for list in lists.into_iter().chain(["PartitionIOConfiguration"]) {
            if let Some(current) = stored.element.child(list) {
                merged.put(current.clone());
            }
        }
        stored.element = merged;
    }
    Ok(())
}

/// What is kept of an object, with what a client changed: it cannot change what is not its to change, or what it has not
/// asked for; what it leaves out is gone.
fn merge(stored: &Element, posted: &Element, groups: &Groups) -> Element {
    let kept = |child: &Element| {
        !schema::is_updatable(&stored.name, &child.name) || !groups.includes(&stored.name, &child.name)
    };
    let mut merged = Element {
        name: stored.name.clone(),
        href: posted.href.clone(),
        text: posted.text.clone(),
        children: Vec::new(),
    };
    merged.children.extend(stored.children.iter().filter(|child| kept(child)).cloned());
    for child in posted.children.iter().filter(|child| !kept(child)) {
        let before =
            stored.child(&child.name).filter(|before| !before.children.is_empty() && !child.children.is_empty());
        let single = posted.all(&child.name).count() == 1;
        let list = child.children.len() > 1 && child.children.iter().all(|item| item.name == child.children[0].name);
        merged.children.push(match before {
            Some(before) if single && !list => merge(before, child, groups),
            _ => child.clone(),
        });
    }
    merged
}

fn replace(state: &mut State, host: usize, id: &str, element: Element, detail: &str) {
    if let Some(object) = state.object_mut(host, id) {
        object.element = element;
    }
    state.announce(host, "MODIFY_URI", id, detail);
}

/// Deletes an object.
pub(super) fn delete(state: &mut State, call: &Call, request: &Request) -> Result<Response, Fault> {
    let Place::Entry(object) = call.place(state, call.segments.len())? else {
        return Err(Fault::new(405, "Method Not Allowed", "DELETE is for entries."));
    };
    call.check_etag(state, request, &object)?;
    let (host, id) = (call.host, object.id.clone());
    match object.kind() {
        "LogicalPartition" => partition::delete(state, host, &id)?,
        "VirtualSwitch" => network::delete_switch(state, host, &id)?,
        "ClientNetworkAdapter" => {
            if let Some(owner) = object.parent.as_deref().and_then(|parent| state.object(host, parent)) {
                partition::can_change_adapters(&owner.element)?;
            }
            state.remove(host, &id);
        }
        "VirtualNICDedicated" => sriov::delete_vnic(state, host, &id)?,
        "LogicalUnit" => pool::delete_unit(state, host, &id)?,
        kind => return Err(Fault::new(405, "Method Not Allowed", format!("{kind} cannot be deleted."))),
    }
    Ok(Response { status: 204, headers: Vec::new(), body: bytes::Bytes::new() })
}

fn show(state: &State, call: &Call, id: &str, path: &str) -> Result<Response, Fault> {
    let object = state.object(call.host, id).ok_or_else(|| Fault::not_found("object", id))?;
    Ok(call.look(state).entry(&present::present(state, call.host, object), path))
}
