//! The documents of the API. Pure.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    Data, Name, RecordSet, Type,
    data::{quoted, unquoted},
};

const NAMESPACE: &str = "https://route53.amazonaws.com/doc/2013-04-01/";

/// A zone, as far as it matters here.
#[derive(Clone, Debug)]
pub(super) struct HostedZone {
    pub(super) id: String,
    pub(super) name: Name,
    pub(super) name_servers: Vec<Name>,
}

/// What is done with a record set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Action {
    #[serde(rename = "CREATE")]
    Create,
    #[serde(rename = "DELETE")]
    Delete,
    #[serde(rename = "UPSERT")]
    Upsert,
}

/// Ids come with and without the path before them.
pub(super) fn bare_id(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

#[derive(Serialize)]
#[serde(rename = "ChangeResourceRecordSetsRequest")]
struct Request {
    #[serde(rename = "@xmlns")]
    namespace: &'static str,
    #[serde(rename = "ChangeBatch")]
    batch: Batch,
}

#[derive(Serialize)]
struct Batch {
    #[serde(rename = "Changes")]
    changes: Changes,
}

#[derive(Serialize)]
struct Changes {
    #[serde(rename = "Change")]
    change: Vec<OneChange>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct OneChange {
    action: Action,
    resource_record_set: WireSet,
}

/// A record set. Sets with a routing policy, and aliases, have further members: they are never ours.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct WireSet {
    pub(super) name: String,
    #[serde(rename = "Type")]
    pub(super) kind: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) set_identifier: Option<String>,
    #[serde(rename = "TTL", default)]
    ttl: u32,
    #[serde(default)]
    resource_records: WireRecords,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct WireRecords {
    #[serde(rename = "ResourceRecord", default)]
    records: Vec<WireRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
struct WireRecord {
    #[serde(rename = "Value")]
    value: String,
}

/// The body of a change.
pub(super) fn change_request(changes: &[(Action, &RecordSet)]) -> String {
    let change = changes.iter().map(|(action, set)| OneChange { action: *action, resource_record_set: wire_set(set) });
    let request = Request { namespace: NAMESPACE, batch: Batch { changes: Changes { change: change.collect() } } };
    let body = quick_xml::se::to_string(&request).expect("a change is made of elements with text");
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{body}")
}

fn wire_set(set: &RecordSet) -> WireSet {
    let value = |data: &Data| match data {
        Data::Txt(text) => quoted(text),
        other => other.to_string(),
    };
    let records = set.data.iter().map(|data| WireRecord { value: value(data) }).collect();
    WireSet {
        name: set.name.absolute(),
        kind: set.kind.to_string(),
        set_identifier: None,
        ttl: set.ttl,
        resource_records: WireRecords { records },
    }
}

impl WireSet {
    /// As a record set, if it is of a type known here.
    pub(super) fn record_set(&self) -> Option<RecordSet> {
        let (name, kind) = (unescaped(&self.name)?, self.kind.parse::<Type>().ok()?);
        let data = |text: &str| {
            Some(match kind {
                Type::A => Data::A(text.parse().ok()?),
                Type::Aaaa => Data::Aaaa(text.parse().ok()?),
                Type::Cname => Data::Cname(text.parse().ok()?),
                Type::Ptr => Data::Ptr(text.parse().ok()?),
                Type::Srv => Data::Srv(text.parse().ok()?),
                Type::Txt => Data::Txt(unquoted(text)),
            })
        };
        let data: BTreeSet<Data> =
            self.resource_records.records.iter().filter_map(|record| data(record.value.trim())).collect();
        Some(RecordSet { name, kind, ttl: self.ttl, data })
    }
}

/// Names come with octal escapes: a wildcard is `\052`.
pub(super) fn unescaped(text: &str) -> Option<Name> {
    let mut parts = text.split('\\');
    let mut name = parts.next()?.to_owned();
    for part in parts {
        let byte = u8::from_str_radix(part.get(..3)?, 8).ok()?;
        name.push(char::from(byte));
        name.push_str(&part[3..]);
    }
    name.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_as_the_api_wants_it() {
        let name: Name = "*.apps.demo.example.com".parse().unwrap();
        let old = RecordSet::one(name.clone(), 60, Data::A("192.0.2.6".parse().unwrap()));
        let new = RecordSet::one(name, 300, Data::Txt("say \"hello\" & <more>".to_owned()));
        insta::assert_snapshot!(change_request(&[(Action::Delete, &old), (Action::Create, &new)]));
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(unescaped("\\052.apps.demo.example.com.").unwrap().as_str(), "*.apps.demo.example.com");
        assert_eq!(unescaped("\\137landfall.api.example.com.").unwrap().as_str(), "_landfall.api.example.com");
        for text in ["\\05", "\\999.a", "a\\"] {
            assert!(unescaped(text).is_none(), "{text}");
        }
    }
}
