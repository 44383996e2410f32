//! Records: what is valid, and what can stand beside what.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::envelope::Fault;

/// The types that the simulator knows.
const TYPES: [&str; 8] = ["A", "AAAA", "CNAME", "MX", "NS", "PTR", "SRV", "TXT"];
const PROXIABLE: [&str; 3] = ["A", "AAAA", "CNAME"];

/// A record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) id: String,
    pub(super) zone_id: String,
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) content: String,
    /// The parts of an SRV record, of which its content is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<Value>,
    pub(super) ttl: u32,
    pub(super) proxied: bool,
    pub(super) comment: Option<String>,
    pub(super) created_on: String,
    pub(super) modified_on: String,
}

impl Record {
    /// As the API shows it.
    pub(super) fn shown(&self) -> Value {
        let mut shown = json!({
            "id": self.id,
            "name": self.name,
            "type": self.kind,
            "content": self.content,
            "proxiable": PROXIABLE.contains(&self.kind.as_str()),
            "proxied": self.proxied,
            "ttl": self.ttl,
            "settings": {},
            "meta": {},
            "comment": self.comment,
            "tags": [],
            "created_on": self.created_on,
            "modified_on": self.modified_on,
        });
        if let Some(data) = &self.data {
            shown["data"] = data.clone();
            shown["priority"] = data["priority"].clone();
        }
        shown
    }

    /// Takes over the fields of a body; those that are missing stay as they are.
    pub(super) fn take(&mut self, body: &Value, zone: &str) -> Result<(), Fault> {
        let text = |field: &str| body.get(field).and_then(Value::as_str);
        if let Some(kind) = text("type") {
            kind.clone_into(&mut self.kind);
        }
        if let Some(name) = text("name") {
            self.name = absolute(name, zone);
        }
        match (self.kind.as_str(), body.get("data")) {
            ("SRV", Some(data)) => (self.content, self.data) = service(data)?,
            // What it says can only be given in parts.
            ("SRV", None) => {}
            _ => {
                self.data = None;
                if let Some(content) = text("content") {
                    content.clone_into(&mut self.content);
                }
            }
        }
        if let Some(ttl) = body.get("ttl") {
            self.ttl = ttl.as_u64().and_then(|ttl| u32::try_from(ttl).ok()).unwrap_or_default();
        }
        if let Some(proxied) = body.get("proxied").and_then(Value::as_bool) {
            self.proxied = proxied;
        }
        if let Some(comment) = body.get("comment") {
            self.comment = comment.as_str().map(str::to_owned);
        }
        self.validate()
    }

    fn validate(&self) -> Result<(), Fault> {
        let invalid = |code, message: &str| Err(Fault::new(400, code, message));
        if !TYPES.contains(&self.kind.as_str()) {
            return invalid(1004, "DNS Validation Error: the record type is not valid");
        }
        if self.name.is_empty() || self.name.len() > 255 {
            return invalid(9000, "DNS name is invalid.");
        }
        match self.kind.as_str() {
            "A" if self.content.parse::<Ipv4Addr>().is_err() => {
                return invalid(9005, "Content for A record must be a valid IPv4 address.");
            }
            "AAAA" if self.content.parse::<Ipv6Addr>().is_err() => {
                return invalid(9006, "Content for AAAA record must be a valid IPv6 address.");
            }
            "SRV" if self.data.is_none() => return invalid(9101, "data is a required data field."),
            _ if self.content.is_empty() => return invalid(9101, "content is a required data field."),
            _ => {}
        }
        if self.ttl != 1 && !(60..=86400).contains(&self.ttl) {
            return invalid(9021, "Invalid TTL. Must be between 60 and 86400 seconds, or 1 for Automatic.");
        }
        if self.proxied && !PROXIABLE.contains(&self.kind.as_str()) {
            return invalid(9004, "This record type cannot be proxied.");
        }
        Ok(())
    }

    /// Why it cannot stand beside the others of its zone, if it cannot.
    pub(super) fn conflict(&self, others: &[Self]) -> Option<Fault> {
        let beside = || {
            others.iter().filter(|other| {
                other.id != self.id && other.zone_id == self.zone_id && other.name.eq_ignore_ascii_case(&self.name)
            })
        };
        if beside().any(|other| other.kind == self.kind && other.content == self.content) {
            return Some(Fault::new(400, 81058, "An identical record already exists."));
        }
        let hosts = ["A", "AAAA", "CNAME"];
        let clash = |other: &Self| {
            let both = hosts.contains(&other.kind.as_str()) && hosts.contains(&self.kind.as_str());
            both && (other.kind == "CNAME" || self.kind == "CNAME")
        };
        let message = "An A, AAAA, or CNAME record with that host already exists.";
        beside().any(clash).then(|| Fault::new(400, 81053, message))
    }
}

/// The content of an SRV record and its parts, out of what a body says.
fn service(data: &Value) -> Result<(String, Option<Value>), Fault> {
    let number = |field: &str| data.get(field).and_then(Value::as_u64).filter(|number| u16::try_from(*number).is_ok());
    let target = data.get("target").and_then(Value::as_str).map(|target| target.trim_end_matches('.'));
    match (number("priority"), number("weight"), number("port"), target) {
        (Some(priority), Some(weight), Some(port), Some(target)) if !target.is_empty() => {
            let parts = json!({"port": port, "priority": priority, "target": target, "weight": weight});
            Ok((format!("{priority} {weight} {port} {target}"), Some(parts)))
        }
        _ => Err(Fault::new(400, 1004, "DNS Validation Error: an SRV record needs priority, weight, port and target")),
    }
}

/// Names may be given without the zone, and `@` is the zone itself.
fn absolute(name: &str, zone: &str) -> String {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let inside = name == zone || name.strip_suffix(zone).is_some_and(|rest| rest.ends_with('.'));
    match name.as_str() {
        "@" => zone.to_owned(),
        _ if inside => name,
        _ => format!("{name}.{zone}"),
    }
}
