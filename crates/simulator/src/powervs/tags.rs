//! Global tagging and global search.
//!
//! Tags are kept apart from what they are on, and the search learns of them a while later; for as long it finds what it has found
//! before and is gone.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::call::Call;
use super::cloud::Cloud;
use super::knobs::Kind;
use super::reply::{Answer, Refusal, json_reply};
use crate::core::Instant;

/// Tags of one call, and letters of one tag.
const MOST: usize = 100;
const LONGEST: usize = 128;
/// What a search tells of everything unless it is asked for something else.
const USUAL_FIELDS: [&str; 5] = ["account_id", "name", "type", "family", "crn"];

pub(super) fn answer(cloud: &mut Cloud, call: &Call) -> Answer {
    match (call.method.as_str(), call.parts().as_slice()) {
        ("GET", ["v3", "tags"]) => list(cloud, call),
        ("POST", ["v3", "tags"]) => {
            let names = wanted(call.list("tag_names"))?;
            let results: Vec<Value> = names.iter().map(|name| json!({ "tag_name": name, "is_error": false })).collect();
            cloud.state.tag_names.extend(names);
            Ok(json_reply(200, &json!({ "results": results })))
        }
        ("POST", ["v3", "tags", action @ ("attach" | "detach")]) => change(cloud, call, action),
        ("DELETE", ["v3", "tags", name]) => {
            let name = name.to_lowercase();
            if is_attached(cloud, &name) {
                return Err(Refusal::new(400, "bad_request", format!("the tag {name} is still attached")));
            }
            if !cloud.state.tag_names.remove(&name) {
                return Err(Refusal::new(404, "not_found", format!("there is no tag {name}")));
            }
            Ok(json_reply(200, &json!({ "results": [{ "provider": "ghost", "is_error": false }] })))
        }
        _ => Err(Refusal::no_route()),
    }
}

fn list(cloud: &Cloud, call: &Call) -> Answer {
    let names: BTreeSet<&String> = match call.query("attached_to") {
        Some(crn) => cloud.state.tags.get(crn).into_iter().flatten().collect(),
        None => cloud.state.tag_names.iter().collect(),
    };
    let limit = call.number("limit", 100, 1000)?;
    let offset = call.query("offset").and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
    let items: Vec<Value> = names.iter().skip(offset).take(limit).map(|name| json!({ "name": name })).collect();
    let body = json!({ "total_count": names.len(), "offset": offset, "limit": limit, "items": items });
    Ok(json_reply(200, &body))
}

/// The tags that a call names, in the form in which they are kept.
fn wanted(names: &[Value]) -> Result<Vec<String>, Refusal> {
    if names.len() > MOST {
        return Err(Refusal::invalid(format!("more than {MOST} tags")));
    }
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter.is_ascii_whitespace() || ":_.-".contains(letter);
    let name = |name: &Value| {
        let name = name.as_str().map(str::trim).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| Refusal::invalid("a tag is a text"))?;
        if name.chars().count() > LONGEST || !name.chars().all(fits) {
            let message = format!("a tag has at most {LONGEST} letters, digits, spaces, '_', '-', '.' and ':'");
            return Err(Refusal::invalid(message));
        }
        Ok(name.to_lowercase())
    };
    names.iter().map(name).collect()
}

/// The tags that something is made with.
pub(super) fn of_call(call: &Call, field: &str) -> Result<Vec<String>, Refusal> {
    match call.value(field) {
        Some(value) if !value.is_array() => Err(Refusal::invalid(format!("{field} is no list"))),
        _ => wanted(call.list(field)),
    }
}

/// Returns true if something that exists carries a tag. With a resource go its tags.
fn is_attached(cloud: &Cloud, name: &str) -> bool {
    let carries = |thing: &Thing| cloud.state.tags.get(&thing.crn).is_some_and(|tags| tags.contains(name));
    everything(cloud).iter().any(carries)
}

/// Puts tags on something.
pub(super) fn attach(cloud: &mut Cloud, crn: &str, names: &[String]) {
    for name in names {
        let now = cloud.state.now;
        cloud.state.tag_names.insert(name.clone());
        if cloud.state.tags.entry(crn.to_owned()).or_default().insert(name.clone()) {
            cloud.state.tagged_at.insert(format!("{crn} {name}"), now);
        }
    }
}

/// The tags on something.
pub(super) fn of(cloud: &Cloud, crn: &str) -> Vec<String> {
    cloud.state.tags.get(crn).into_iter().flatten().cloned().collect()
}

fn change(cloud: &mut Cloud, call: &Call, action: &str) -> Answer {
    let names: Vec<Value> = call.list("tag_names").iter().chain(call.value("tag_name")).cloned().collect();
    let names = wanted(&names)?;
    if names.is_empty() {
        return Err(Refusal::missing("tag_names"));
    }
    let resources: Vec<&str> =
        call.list("resources").iter().filter_map(|resource| resource["resource_id"].as_str()).collect();
    if resources.is_empty() {
        return Err(Refusal::missing("resources"));
    }
    let known: BTreeSet<String> = everything(cloud).into_iter().map(|thing| thing.crn).collect();
    let mut results = Vec::new();
    for crn in resources {
        if !known.contains(crn) {
            let message = format!("Resource {crn} was not found, or you may not tag it");
            results.push(json!({ "resource_id": crn, "is_error": true, "message": message }));
            continue;
        }
        if action == "attach" {
            attach(cloud, crn, &names);
        } else if let Some(tags) = cloud.state.tags.get_mut(crn) {
            tags.retain(|tag| !names.contains(tag));
        }
        results.push(json!({ "resource_id": crn, "is_error": false }));
    }
    Ok(json_reply(200, &json!({ "results": results })))
}

/// What can be found.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Thing {
    crn: String,
    name: String,
    kind: String,
    family: String,
}

fn everything(cloud: &Cloud) -> Vec<Thing> {
    let state = &cloud.state;
    let mut all = Vec::new();
    let mut add = |crn: &str, name: &str, kind: &str, family: &str| {
        let [crn, name, kind, family] = [crn, name, kind, family].map(str::to_owned);
        all.push(Thing { crn, name, kind, family });
    };
    for instance in state.instances.values().filter(|instance| instance.deleted.is_none()) {
        add(&instance.crn, &instance.name, "resource-instance", "resource_controller");
    }
    let documents = [
        (&state.vpcs, "vpc", "is"),
        (&state.subnets, "subnet", "is"),
        (&state.public_gateways, "public-gateway", "is"),
        (&state.floating_ips, "floating-ip", "is"),
        (&state.security_groups, "security-group", "is"),
        (&state.gateways, "gateway", "resource_controller"),
    ];
    for (documents, kind, family) in documents {
        for own in documents.values() {
            let text = |name: &str| own[name].as_str().unwrap_or_default();
            add(text("crn"), text("name"), kind, family);
        }
    }
    for own in state.load_balancers.values() {
        add(&own.crn, &own.name, "load-balancer", "is");
    }
    for workspace in state.workspaces.values() {
        let crn = |kind: &str, id: &str| cloud.crn("power-iaas", &workspace.zone, &workspace.guid, kind, id);
        for own in workspace.instances.values() {
            add(&crn("pvm-instance", &own.id), &own.name, "pvm-instance", "resource_controller");
        }
        for own in workspace.images.values() {
            add(&crn("image", &own.id), &own.name, "image", "resource_controller");
        }
        for own in workspace.networks.values() {
            add(&crn("network", &own.id), &own.name, "network", "resource_controller");
        }
        for own in workspace.volumes.values() {
            add(&crn("volume", &own.id), &own.name, "volume", "resource_controller");
        }
    }
    all
}

/// What the search knows of: everything, and for a while what it knew and is gone.
fn indexed(cloud: &mut Cloud) -> Vec<Thing> {
    let (now, delay) = (cloud.state.now, cloud.options.delay(Kind::Tag));
    for thing in everything(cloud) {
        cloud.state.searched.insert(thing.crn.clone(), (thing, now));
    }
    cloud.state.searched.retain(|_, (_, seen)| *seen == now || Instant(seen.0 + delay) > now);
    cloud.state.searched.values().map(|(thing, _)| thing.clone()).collect()
}

/// Queries of the form `name:demo* AND tags:"owned"`; other words are looked for in names.
pub(super) fn search(cloud: &mut Cloud, call: &Call) -> Answer {
    let (("POST", ["v3", "resources", "search"]) | ("GET", ["v3", "resources"])) =
        (call.method.as_str(), call.parts().as_slice())
    else {
        return Err(Refusal::no_route());
    };
    let limit = call.number("limit", 10, 1000)?;
    // A cursor says by itself what goes on.
    let cursor: Option<Cursor> = call.text("search_cursor").map(read_cursor).transpose()?;
    let (query, fields, start) = if let Some(cursor) = cursor {
        cursor
    } else {
        let fields = call.list("fields").iter().filter_map(|field| Some(field.as_str()?.to_owned())).collect();
        let query = call.text("query").or_else(|| call.query("query")).unwrap_or("*");
        (query.to_owned(), fields, 0)
    };
    let delay = cloud.options.delay(Kind::Tag);
    let terms = terms(&query);
    let mut items: Vec<Value> = Vec::new();
    for thing in indexed(cloud) {
        let is_known = |tag: &&String| {
            let at = cloud.state.tagged_at.get(&format!("{} {tag}", thing.crn));
            at.is_none_or(|at| Instant(at.0 + delay) <= cloud.state.now)
        };
        let tags: Vec<&String> = cloud.state.tags.get(&thing.crn).into_iter().flatten().filter(is_known).collect();
        let service = thing.crn.split(':').nth(4).unwrap_or_default();
        let is_found = terms.iter().all(|(field, wanted)| match field.as_str() {
            "tags" => tags.iter().any(|tag| fits(wanted, tag)),
            "type" => fits(wanted, &thing.kind),
            "family" => fits(wanted, &thing.family),
            "crn" => fits(wanted, &thing.crn),
            "service_name" => fits(wanted, service),
            _ => fits(wanted, &thing.name),
        });
        if is_found {
            let all = json!({
                "crn": thing.crn, "name": thing.name, "type": thing.kind, "family": thing.family, "tags": tags,
                "service_name": service, "account_id": cloud.state.account,
            });
            items.push(shown(&all, &fields));
        }
    }
    let rest = items.len().saturating_sub(start);
    let page: Vec<Value> = items.into_iter().skip(start).take(limit).collect();
    let mut body = json!({ "limit": limit, "items": page });
    if rest > limit {
        body["search_cursor"] = json!(write_cursor(&(query, fields, start + limit)));
    }
    Ok(json_reply(200, &body))
}

/// What is looked for, what is told of it, and where to go on.
type Cursor = (String, Vec<String>, usize);

fn write_cursor(cursor: &Cursor) -> String {
    crate::core::hex::encode(json!(cursor).to_string().as_bytes())
}

fn read_cursor(text: &str) -> Result<Cursor, Refusal> {
    let wrong = || Refusal::invalid("the search_cursor is not valid");
    let digits = text.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let bytes: Vec<u8> = digits.collect::<Option<_>>().ok_or_else(wrong)?;
    serde_json::from_slice(&bytes).map_err(|_| wrong())
}

/// What is told of something: its CRN always.
fn shown(all: &Value, fields: &[String]) -> Value {
    let is_wanted = |name: &str| match fields {
        [] => USUAL_FIELDS.contains(&name),
        fields => name == "crn" || fields.iter().any(|field| field == name || field == "*"),
    };
    let told: Map<String, Value> = all.as_object().into_iter().flatten().fold(Map::new(), |mut told, (name, value)| {
        if is_wanted(name) {
            told.insert(name.clone(), value.clone());
        }
        told
    });
    Value::Object(told)
}

/// The terms of a query, each with its field. Letters that mean something may be escaped.
fn terms(query: &str) -> Vec<(String, String)> {
    let term = |term: &str| {
        let term = term.trim().trim_matches(['(', ')']);
        let (field, value) = term.split_once(':').unwrap_or(("name", term));
        (field.to_owned(), value.trim_matches('"').replace('\\', "").to_lowercase())
    };
    query.split(" AND ").map(term).collect()
}

/// Whether a text is what a pattern with stars asks for, in any case of letters.
fn fits(pattern: &str, text: &str) -> bool {
    let text = text.to_lowercase();
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else { return rest.is_empty() };
    for piece in middle {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, text, expected) in [
            ("*", "a", true),
            ("de*", "Demo", true),
            ("*mo", "demo", true),
            ("d*m*", "demo", true),
            ("em", "demo", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern}");
        }
    }

    #[test]
    fn queries_are_taken_apart() {
        let own = |field: &str, value: &str| (field.to_owned(), value.to_owned());
        let expected = [own("tags", "a:b"), own("crn", "crn:v1*"), own("name", "x")];
        assert_eq!(terms(r#"tags:"A:b" AND crn:crn\:v1* AND x"#), expected);
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let cursor = ("tags:\"a\"".to_owned(), vec!["crn".to_owned()], 7);
        assert_eq!(read_cursor(&write_cursor(&cursor)).unwrap(), cursor);
        assert!(read_cursor("xyz").is_err());
    }
}
