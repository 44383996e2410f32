//! Feeds, entries, quick properties and searches.

use serde_json::{Map, Value};

use super::call::{Call, Place, header, is_root};
use crate::core::{Request, Response};
use crate::powervm::fault::Fault;
use crate::powervm::present;
use crate::powervm::state::{Object, State};

/// What can be searched by, for each kind.
const SEARCHES: [(&str, &[&str]); 4] = [
    ("LogicalPartition", &["PartitionName", "PartitionID"]),
    ("VirtualIOServer", &["PartitionName", "PartitionID"]),
    ("Cluster", &["ClusterName"]),
    ("SharedStoragePool", &["StoragePoolName"]),
];

/// Properties that can be had without the rest.
const QUICK: [(&str, &[&str]); 3] = [
    ("LogicalPartition", &PARTITION),
    ("VirtualIOServer", &PARTITION),
    ("ManagedSystem", &["SystemName", "State", "PrimaryIPAddress", "ReferenceCode"]),
];
const PARTITION: [&str; 7] = [
    "PartitionName",
    "PartitionID",
    "PartitionState",
    "PartitionType",
    "ResourceMonitoringControlState",
    "OperatingSystemVersion",
    "MigrationState",
];

/// Answers a read.
pub(super) fn read(state: &State, call: &Call, request: &Request) -> Result<Response, Fault> {
    let segments: Vec<&str> = call.segments.iter().map(String::as_str).collect();
    if let Some(at) = segments.iter().position(|part| *part == "quick") {
        let Place::Entry(object) = call.place(state, at)? else { return Err(Fault::no_route(&request.path)) };
        return quick(&present::present(state, call.host, &object), segments.get(at + 1).copied(), &request.path);
    }
    if let [kind, "search", expression] = segments.as_slice() {
        return search(state, call, request, kind, expression);
    }
    match call.place(state, segments.len())? {
        Place::Entry(object) => {
            let shown = present::present(state, call.host, &object);
            let response = call.look(state).entry(&shown, &request.path);
            let tag = response.headers.iter().find(|(name, _)| name == "etag").map(|(_, tag)| tag.as_str());
            if header(request, "if-none-match").is_some_and(|seen| Some(seen) == tag) {
                return Ok(Response { status: 304, body: bytes::Bytes::new(), ..response });
            }
            Ok(response)
        }
        Place::Feed { parent, kind } => {
            let objects = feed(state, call.host, parent.as_ref(), &kind)?;
            Ok(show(state, call, request, &objects))
        }
    }
}

/// The objects of a kind, at the top or of a parent.
fn feed(state: &State, host: usize, parent: Option<&Object>, kind: &str) -> Result<Vec<Object>, Fault> {
    let known = [
        "ManagementConsole",
        "ManagedSystem",
        "LogicalPartition",
        "VirtualIOServer",
        "Cluster",
        "SharedStoragePool",
        "Tier",
        "VirtualSwitch",
        "NetworkBridge",
        "SharedProcessorPool",
        "VolumeGroup",
        "ClientNetworkAdapter",
        "VirtualNICDedicated",
        "SRIOVEthernetLogicalPort",
        "LogicalUnit",
    ];
    match parent {
        Some(parent) if present::is_derived(kind) => Ok(present::derived(state, host, parent, kind)),
        Some(parent) if known.contains(&kind) => Ok(state.children(host, &parent.id, kind).cloned().collect()),
        None if known.contains(&kind) => Ok(state.all(host, kind).filter(|object| is_root(object)).cloned().collect()),
        _ => Err(Fault::no_route(kind)),
    }
}

fn show(state: &State, call: &Call, request: &Request, objects: &[Object]) -> Response {
    let shown: Vec<Object> = objects.iter().map(|object| present::present(state, call.host, object)).collect();
    let all: Vec<&Object> = shown.iter().collect();
    let feed = request.path.split("/search/").next().unwrap_or_default();
    call.look(state).feed(&all, &request.path, |object| format!("{feed}/{}", object.id))
}

/// `(Key=='value')` or `(Key!='value')`.
fn search(state: &State, call: &Call, request: &Request, kind: &str, expression: &str) -> Result<Response, Fault> {
    let refused = || Fault::new(400, "Bad Request", format!("REST0031: The search {expression} is not supported."));
    let inner = expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).ok_or_else(refused)?;
    let (key, value, negated) = match (inner.split_once("=="), inner.split_once("!=")) {
        (Some((key, value)), _) => (key, value, false),
        (None, Some((key, value))) => (key, value, true),
        _ => return Err(refused()),
    };
    let value = value.trim_matches('\'');
    let keys = SEARCHES.iter().find(|(name, _)| *name == kind).map(|(_, keys)| *keys).unwrap_or_default();
    if !keys.contains(&key) {
        return Err(refused());
    }
    let objects = feed(state, call.host, None, kind)?;
    let found: Vec<Object> =
        objects.into_iter().filter(|object| (object.element.text(key) == value) != negated).collect();
    Ok(show(state, call, request, &found))
}

fn quick(object: &Object, property: Option<&str>, path: &str) -> Result<Response, Fault> {
    let names = QUICK.iter().find(|(kind, _)| *kind == object.kind()).map(|(_, names)| *names).unwrap_or_default();
    let value = |name: &str| match (name, object.element.text(name)) {
        ("PartitionID", text) => text.parse::<u64>().map_or(Value::Null, Value::from),
        (_, text) => Value::from(text),
    };
    let answer = match property {
        None | Some("All") => {
            let mut all: Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), value(name))).collect();
            all.insert("UUID".to_owned(), object.id.clone().into());
            all.into()
        }
        Some(name) if names.contains(&name) => value(name),
        Some(_) => return Err(Fault::no_route(path)),
    };
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Ok(Response { status: 200, headers, body: answer.to_string().into() })
}
