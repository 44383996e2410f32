//! Cloudflare (API version 4).
//!
//! There are no transactions and no conditions: two clusters can mark one name at the same moment. So a mark is made first and
//! read back, and if there are two, the older one has the name and the other one is taken back before any record is made. A run
//! that dies just then leaves a mark without records, which names its owner and goes when that cluster is destroyed.

use std::path::Path;

use async_trait::async_trait;
use landfall_config::Cloudflare as Section;
use landfall_platform::{Environment, ErrorClass};
use landfall_wire::{Client, Limits, Method, Reply, Request, Trust};
use secrecy::SecretString;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;
use tokio::sync::OnceCell;
use url::Url;

use crate::{
    Backend, Change, Data, Error, Guard, Mark, Name, RecordSet, Type, Zone,
    data::{quoted, unquoted},
    secret_file::SecretFile,
};

/// What the file of the section holds.
pub(crate) const TOKEN: &str = "API token";
const ENDPOINT: &str = "https://api.cloudflare.com/client/v4";
/// Records per page; the API allows more.
const PAGE: usize = 100;

/// Cloudflare.
pub(crate) struct Cloudflare {
    client: Client,
    endpoint: Url,
    token: SecretString,
    zone: Name,
    found: OnceCell<WireZone>,
}

#[derive(Deserialize)]
struct Envelope<T> {
    success: bool,
    #[serde(default = "Vec::new")]
    errors: Vec<WireError>,
    result: Option<T>,
    result_info: Option<ResultInfo>,
}

#[derive(Deserialize)]
struct WireError {
    code: u32,
    message: String,
}

#[derive(Deserialize)]
struct ResultInfo {
    total_pages: Option<usize>,
}

#[derive(Clone, Deserialize)]
struct WireZone {
    id: String,
    status: String,
    #[serde(default)]
    name_servers: Vec<String>,
}

#[derive(Clone, Deserialize)]
struct WireRecord {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    name: String,
    content: String,
    ttl: u32,
    #[serde(default)]
    created_on: String,
}

/// A record of a type known here.
struct Record {
    id: String,
    created_on: String,
    name: Name,
    ttl: u32,
    data: Data,
}

impl Cloudflare {
    pub(crate) fn new(section: &Section, environment: &Environment) -> Result<Self, Error> {
        let named =
            environment.get("CLOUDFLARE_BASE_URL").and_then(|url| url.to_str()).and_then(|url| Url::parse(url).ok());
        let own = || Url::parse(ENDPOINT).expect("the endpoint is a URL");
        let client = Client::new(&Trust::System, Limits::default()).map_err(|source| Error::Http {
            attempt: "preparing to talk".to_owned(),
            service: "Cloudflare".to_owned(),
            source: Box::new(source),
        })?;
        Ok(Self {
            client,
            endpoint: section.endpoint.clone().or(named).unwrap_or_else(own),
            token: SecretFile::read(Path::new(&section.token_file), TOKEN)?.secret,
            zone: section.zone.as_deref().unwrap_or_default().parse()?,
            found: OnceCell::new(),
        })
    }

    async fn wire_zone(&self) -> Result<&WireZone, Error> {
        self.found
            .get_or_try_init(|| async {
                let attempt = format!("looking for the zone {}", self.zone);
                let zones: Vec<WireZone> = self.pages(&attempt, "zones", &[("name", self.zone.as_str())]).await?;
                // A zone that was moved between accounts is there twice, and only one of them is served.
                let active = zones.iter().find(|zone| zone.status == "active").or(zones.first()).cloned();
                active.ok_or_else(|| Error::NoZone { zone: self.zone.to_string(), service: self.describe() })
            })
            .await
    }

    async fn records(&self, name: Option<&Name>) -> Result<Vec<Record>, Error> {
        let path = format!("zones/{}/dns_records", self.wire_zone().await?.id);
        let attempt =
            name.map_or("listing the records of the zone".to_owned(), |name| format!("reading the records of {name}"));
        let filter: Vec<(&str, &str)> = name.iter().map(|name| ("name.exact", name.as_str())).collect();
        let records: Vec<WireRecord> = self.pages(&attempt, &path, &filter).await?;
        Ok(records.into_iter().filter_map(Record::new).collect())
    }

    async fn add(&self, name: &Name, ttl: u32, data: &Data) -> Result<(), Error> {
        let content = match data {
            Data::Txt(text) => quoted(text),
            Data::Cname(name) | Data::Ptr(name) => name.to_string(),
            other => other.to_string(),
        };
        // What Cloudflare proxies is HTTP only, which the API's port is not.
        let mut body = json!({"type": data.kind().as_str(), "name": name.as_str(), "content": content, "ttl": ttl});
        if [Type::A, Type::Aaaa, Type::Cname].contains(&data.kind()) {
            body["proxied"] = false.into();
        }
        let url = self.url(&format!("zones/{}/dns_records", self.wire_zone().await?.id));
        let attempt = format!("making the record {name} {}", data.kind());
        match self.call::<serde_json::Value>(&attempt, Request::json(Method::POST, url, &body)).await {
            // An identical record exists: that is what was wanted, and perhaps the reply to making it was lost.
            Err(Error::Api { code, .. }) if ["81057", "81058"].contains(&code.as_str()) => Ok(()),
            done => done.map(|_| ()),
        }
    }

    async fn delete(&self, record: &Record) -> Result<(), Error> {
        let url = self.url(&format!("zones/{}/dns_records/{}", self.wire_zone().await?.id, record.id));
        let attempt = format!("removing the record {} {}", record.name, record.data.kind());
        match self.call::<serde_json::Value>(&attempt, Request::delete(url)).await {
            Err(Error::Api { class: ErrorClass::NotFound, .. }) => Ok(()),
            done => done.map(|_| ()),
        }
    }

    /// All pages of a list.
    async fn pages<T: DeserializeOwned>(
        &self,
        attempt: &str,
        path: &str,
        filter: &[(&str, &str)],
    ) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        for page in 1.. {
            let filter =
                filter.iter().fold(Request::get(self.url(path)), |request, (name, value)| request.query(name, value));
            let request = filter.query("per_page", &PAGE.to_string()).query("page", &page.to_string());
            let envelope: Envelope<Vec<T>> = self.call(attempt, request).await?;
            all.extend(envelope.result.unwrap_or_default());
            let pages = envelope.result_info.and_then(|info| info.total_pages).unwrap_or(1);
            if page >= pages {
                break;
            }
        }
        Ok(all)
    }

    async fn call<T: DeserializeOwned>(&self, attempt: &str, request: Request) -> Result<Envelope<T>, Error> {
        let http =
            |source| Error::Http { attempt: attempt.to_owned(), service: self.describe(), source: Box::new(source) };
        let reply = self.client.send(request.accept_json().bearer(&self.token)).await.map_err(http)?;
        match reply.json::<Envelope<T>>() {
            Ok(envelope) if envelope.success && reply.status() < 300 => Ok(envelope),
            Ok(envelope) => Err(self.refusal(attempt, &reply, &envelope.errors)),
            Err(_) if reply.status() >= 300 => Err(http(reply.refusal())),
            Err(error) => Err(http(error)),
        }
    }

    fn refusal(&self, attempt: &str, reply: &Reply, errors: &[WireError]) -> Error {
        let codes: Vec<String> = errors.iter().map(|error| error.code.to_string()).collect();
        let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
        Error::Api {
            attempt: attempt.to_owned(),
            service: self.describe(),
            code: if codes.is_empty() { reply.status().to_string() } else { codes.join(", ") },
            message: messages.join("; "),
            class: class(reply.status(), errors),
            retry_after: reply.retry_after(),
        }
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.endpoint.clone();
        url.set_path(&format!("{}/{path}", self.endpoint.path().trim_end_matches('/')));
        url
    }

    fn guard(&self, name: &Name, answer: impl Into<String>) -> Error {
        Error::Guard { name: name.clone(), service: self.describe(), answer: answer.into() }
    }

    /// Whether a guard holds at this moment.
    async fn check(&self, change: &Change) -> Result<(), Error> {
        match &change.guard {
            Guard::Unchanged(set) => {
                let now = self.read(&[&set.name]).await?;
                if now.contains(set) { Ok(()) } else { Err(self.guard(&set.name, "the mark is another one now")) }
            }
            Guard::Free => {
                for set in &change.add {
                    let there = self.read(&[&set.name]).await?;
                    let clash = there.iter().find(|other| {
                        other.kind == set.kind && !is_note(other)
                            || (other.kind == Type::Cname) != (set.kind == Type::Cname)
                    });
                    if let Some(clash) = clash {
                        return Err(self.guard(&set.name, format!("there is {clash}")));
                    }
                }
                Ok(())
            }
        }
    }

    /// Whether the name is ours after our mark has been made: the older of two marks has it.
    async fn contend(&self, place: &Name, text: &str) -> Result<(), Error> {
        let mut marks: Vec<Record> = self.records(Some(place)).await?;
        marks.retain(|record| matches!(&record.data, Data::Txt(text) if Mark::parse(text).is_some()));
        marks.sort_by(|a, b| (&a.created_on, &a.id).cmp(&(&b.created_on, &b.id)));
        let is_ours = |record: &Record| matches!(&record.data, Data::Txt(other) if other == text);
        if marks.first().is_some_and(is_ours) {
            return Ok(());
        }
        for mark in marks.iter().filter(|record| is_ours(record)) {
            self.delete(mark).await?;
        }
        Err(self.guard(place, "another cluster was faster"))
    }
}

impl Record {
    fn new(record: WireRecord) -> Option<Self> {
        let WireRecord { id, kind, name, content, ttl, created_on } = record;
        let data = match kind.parse().ok()? {
            Type::A => Data::A(content.parse().ok()?),
            Type::Aaaa => Data::Aaaa(content.parse().ok()?),
            Type::Cname => Data::Cname(content.parse().ok()?),
            Type::Ptr => Data::Ptr(content.parse().ok()?),
            Type::Txt => Data::Txt(unquoted(&content)),
        };
        Some(Self { id, created_on, name: name.parse().ok()?, ttl, data })
    }
}

/// Whether a set of texts holds no mark: it can stand beside one.
fn is_note(set: &RecordSet) -> bool {
    set.kind == Type::Txt && Mark::all_in(std::slice::from_ref(set), &set.name).is_empty()
}

fn class(status: u16, errors: &[WireError]) -> ErrorClass {
    let has = |code| errors.iter().any(|error| error.code == code);
    match status {
        429 => ErrorClass::Throttled,
        // 81044: there is no such record.
        404 => ErrorClass::NotFound,
        _ if has(81044) => ErrorClass::NotFound,
        401 | 403 => ErrorClass::Auth,
        // What the API answers to a token that is not even one: 400 with these.
        _ if [6003, 6111, 9109, 10000].into_iter().any(has) => ErrorClass::Auth,
        500.. => ErrorClass::Transient,
        _ => ErrorClass::Invalid,
    }
}

#[async_trait]
impl Backend for Cloudflare {
    fn describe(&self) -> String {
        match self.endpoint.as_str().trim_end_matches('/') {
            ENDPOINT => "Cloudflare".to_owned(),
            other => format!("Cloudflare ({other})"),
        }
    }

    fn reads_exactly(&self) -> bool {
        true
    }

    async fn zone(&self) -> Result<Zone, Error> {
        let servers = &self.wire_zone().await?.name_servers;
        let name_servers = servers.iter().map(|server| server.parse()).collect::<Result<_, _>>()?;
        Ok(Zone { name: self.zone.clone(), name_servers })
    }

    async fn read(&self, names: &[&Name]) -> Result<Vec<RecordSet>, Error> {
        let mut records = Vec::new();
        for name in names {
            records.extend(self.records(Some(name)).await?);
        }
        Ok(RecordSet::gather(records.into_iter().map(|record| (record.name, record.ttl, record.data))))
    }

    async fn change(&self, change: &Change) -> Result<(), Error> {
        self.check(change).await?;
        let stays = |name: &Name, ttl: u32, data: &Data| {
            change.add.iter().any(|set| set.name == *name && set.ttl == ttl && set.data.contains(data))
        };
        let mut old = Vec::new();
        for set in &change.delete {
            let there = self.records(Some(&set.name)).await?;
            old.extend(there.into_iter().filter(|record| set.data.contains(&record.data)));
        }
        let is_new = |set: &RecordSet, data: &Data| {
            !old.iter().any(|record| record.name == set.name && record.ttl == set.ttl && record.data == *data)
        };
        let (marks, records): (Vec<&RecordSet>, Vec<&RecordSet>) =
            change.add.iter().partition(|set| set.kind == Type::Txt);
        let (old_marks, old_records): (Vec<&Record>, Vec<&Record>) = old
            .iter()
            .filter(|record| !stays(&record.name, record.ttl, &record.data))
            .partition(|record| record.data.kind() == Type::Txt);
        // Whatever happens in between, records are there only while a mark is.
        for set in marks {
            for data in set.data.iter().filter(|data| is_new(set, data)) {
                self.add(&set.name, set.ttl, data).await?;
                if let (Data::Txt(text), Guard::Free) = (data, &change.guard) {
                    self.contend(&set.name, text).await?;
                }
            }
        }
        for record in old_records {
            self.delete(record).await?;
        }
        for set in records {
            for data in set.data.iter().filter(|data| is_new(set, data)) {
                self.add(&set.name, set.ttl, data).await?;
            }
        }
        for mark in old_marks {
            self.delete(mark).await?;
        }
        Ok(())
    }

    async fn list(&self) -> Result<Option<Vec<RecordSet>>, Error> {
        let records = self.records(None).await?;
        Ok(Some(RecordSet::gather(records.into_iter().map(|record| (record.name, record.ttl, record.data)))))
    }
}
