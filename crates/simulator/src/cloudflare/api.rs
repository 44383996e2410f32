//! Who may do what, and which call is which.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    Options,
    envelope::{self, Fault},
    filter::Query,
    record::Record,
    state::{State, Zone},
};
use crate::core::{Instant, Request, Response, Simulation, clock::timestamp};

const PREFIX: &str = "/client/v4";

/// The account.
pub struct Cloudflare {
    state: State,
    seed: u64,
    epoch: Timestamp,
    edit_token: String,
    read_token: Option<String>,
}

impl Cloudflare {
    pub(super) fn new(options: &Options, seed: u64, epoch: Timestamp, saved: Option<State>) -> Self {
        Self {
            state: saved.unwrap_or_else(|| State::new(&options.zones, seed)),
            seed,
            epoch,
            edit_token: options.edit_token().to_owned(),
            read_token: options.read_token.clone(),
        }
    }

    fn answer(&mut self, now: Instant, request: &Request) -> Result<Response, Fault> {
        self.authorize(request)?;
        let path = request.path.strip_prefix(PREFIX).unwrap_or_default();
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        match (request.method.as_str(), parts.as_slice()) {
            ("GET", ["user", "tokens", "verify"]) => {
                Ok(envelope::result(&json!({"id": "ed17574386854bf78a67040be0a770b0", "status": "active"})))
            }
            ("GET", ["zones"]) => self.zones(&Query::parse(&request.query)),
            ("GET", ["zones", zone]) => Ok(envelope::result(&shown(self.zone(zone, path)?))),
            ("GET", ["zones", zone, "dns_records"]) => self.records(zone, path, &Query::parse(&request.query)),
            ("POST", ["zones", zone, "dns_records"]) => self.create(now, zone, path, request),
            ("GET", ["zones", zone, "dns_records", id]) => {
                self.zone(zone, path)?;
                Ok(envelope::result(&self.state.records[self.find(zone, id)?].shown()))
            }
            ("PUT" | "PATCH", ["zones", zone, "dns_records", id]) => self.edit(now, zone, path, id, request),
            ("DELETE", ["zones", zone, "dns_records", id]) => {
                self.zone(zone, path)?;
                let position = self.find(zone, id)?;
                self.state.records.remove(position);
                Ok(envelope::result(&json!({"id": id})))
            }
            _ => Err(Fault::new(404, 7000, "No route for that URI")),
        }
    }

    /// Tokens are bearer tokens; one that may only read may not change.
    fn authorize(&self, request: &Request) -> Result<(), Fault> {
        let header = request.headers.iter().find(|(name, _)| name == "authorization").map(|(_, value)| value.as_str());
        let Some(header) = header else {
            let message = "Missing X-Auth-Key, X-Auth-Email or Authorization headers";
            return Err(Fault::new(400, 9106, message));
        };
        match header.strip_prefix("Bearer ") {
            None => Err(Fault::new(400, 6003, "Invalid request headers")),
            Some(token) if token == self.edit_token => Ok(()),
            Some(token) if self.read_token.as_deref() == Some(token) && request.is_safe() => Ok(()),
            Some(token) if self.read_token.as_deref() == Some(token) => {
                Err(Fault::new(403, 10000, "Authentication error"))
            }
            Some(_) => Err(Fault::new(403, 9109, "Invalid access token")),
        }
    }

    fn zones(&self, query: &Query) -> Result<Response, Fault> {
        let (page, per_page) = query.page(1)?;
        let wanted = |zone: &&Zone| {
            query.get("name").is_none_or(|name| zone.name == name)
                && query.get("status").is_none_or(|status| zone.status == status)
        };
        let all: Vec<Value> = self.state.zones.iter().filter(wanted).map(shown).collect();
        let items: Vec<Value> = all.iter().skip((page - 1) * per_page).take(per_page).cloned().collect();
        Ok(envelope::page(&items, page, per_page, all.len()))
    }

    fn zone(&self, id: &str, path: &str) -> Result<&Zone, Fault> {
        let unknown = || format!("Could not route to {path}, perhaps your object identifier is invalid?");
        self.state.zones.iter().find(|zone| zone.id == id).ok_or_else(|| Fault::new(404, 7003, unknown()))
    }

    fn records(&self, zone: &str, path: &str, query: &Query) -> Result<Response, Fault> {
        self.zone(zone, path)?;
        let (page, per_page) = query.page(1)?;
        let of_zone = self.state.records.iter().filter(|record| record.zone_id == zone);
        let all: Vec<Value> = of_zone.filter(|record| query.matches(record)).map(Record::shown).collect();
        let items: Vec<Value> = all.iter().skip((page - 1).saturating_mul(per_page)).take(per_page).cloned().collect();
        Ok(envelope::page(&items, page, per_page, all.len()))
    }

    fn create(&mut self, now: Instant, zone: &str, path: &str, request: &Request) -> Result<Response, Fault> {
        let zone = self.zone(zone, path)?.clone();
        let body = body(request)?;
        let said = if body.get("type").is_some_and(|kind| kind == "SRV") { "data" } else { "content" };
        for field in ["type", "name", said] {
            if body.get(field).is_none() {
                return Err(Fault::new(400, 9101, format!("{field} is a required data field.")));
            }
        }
        let at = self.time(now);
        let mut record = Record {
            id: String::new(),
            zone_id: zone.id,
            name: String::new(),
            kind: String::new(),
            content: String::new(),
            data: None,
            ttl: 1,
            proxied: false,
            comment: None,
            created_on: at.clone(),
            modified_on: at,
        };
        record.take(&body, &zone.name)?;
        if let Some(conflict) = record.conflict(&self.state.records) {
            return Err(conflict);
        }
        record.id = self.state.next_id(self.seed);
        let shown = record.shown();
        self.state.records.push(record);
        Ok(envelope::result(&shown))
    }

    fn edit(&mut self, now: Instant, zone: &str, path: &str, id: &str, request: &Request) -> Result<Response, Fault> {
        let zone_name = self.zone(zone, path)?.name.clone();
        let position = self.find(zone, id)?;
        let mut record = self.state.records[position].clone();
        if request.method == "PUT" {
            (record.ttl, record.proxied, record.comment) = (1, false, None);
        }
        record.take(&body(request)?, &zone_name)?;
        record.modified_on = self.time(now);
        if let Some(conflict) = record.conflict(&self.state.records) {
            return Err(conflict);
        }
        let shown = record.shown();
        self.state.records[position] = record;
        Ok(envelope::result(&shown))
    }

    fn find(&self, zone: &str, id: &str) -> Result<usize, Fault> {
        let position = self.state.records.iter().position(|record| record.zone_id == zone && record.id == id);
        position.ok_or_else(|| Fault::new(404, 81044, "Record does not exist."))
    }

    fn time(&self, now: Instant) -> String {
        timestamp(self.epoch, now).strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
    }

    /// All records, one per line: for tests.
    pub fn zone_lines(&self) -> Vec<String> {
        let line = |record: &Record| format!("{} {} {} {}", record.name, record.ttl, record.kind, record.content);
        self.state.records.iter().map(line).collect()
    }
}

fn shown(zone: &Zone) -> Value {
    json!({
        "id": zone.id,
        "name": zone.name,
        "status": zone.status,
        "paused": false,
        "type": "full",
        "development_mode": 0,
        "name_servers": zone.name_servers,
        "original_name_servers": null,
        "original_registrar": null,
        "original_dnshost": null,
        "created_on": "2024-01-01T00:00:00.000000Z",
        "modified_on": "2024-01-01T00:00:00.000000Z",
        "activated_on": "2024-01-01T00:00:00.000000Z",
        "account": {"id": "0123456789abcdef0123456789abcdef", "name": "simulated"},
        "owner": {"id": null, "type": "user", "name": null},
        "meta": {},
    })
}

fn body(request: &Request) -> Result<Value, Fault> {
    serde_json::from_slice(&request.body).map_err(|_| Fault::new(400, 9207, "Request body is invalid."))
}

impl Simulation for Cloudflare {
    fn handle(&mut self, now: Instant, request: &Request) -> Response {
        self.answer(now, request).unwrap_or_else(|fault| fault.response())
    }

    fn advance(&mut self, _: Instant) {}

    fn next_deadline(&self) -> Option<Instant> {
        None
    }

    fn snapshot(&self) -> Value {
        serde_json::to_value(&self.state).unwrap_or_default()
    }

    fn administer(&mut self, _: Instant, _: &Request) -> Option<Response> {
        None
    }

    fn error_response(&self, _: &Request, status: u16) -> Option<Response> {
        let fault = match status {
            429 => Fault::new(429, 971, "Please wait and consider throttling your request speed"),
            401 | 403 => Fault::new(status, 10000, "Authentication error"),
            _ => Fault::new(status, 10013, "An unknown error has occurred"),
        };
        Some(fault.response())
    }

    fn ready(&self, url: &str) -> serde_json::Map<String, Value> {
        let fields = [("url", format!("{url}{PREFIX}")), ("token", self.edit_token.clone())];
        fields.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
    }
}
