//! Cloudflare (API version 4), and IBM Cloud Internet Services, which hand the same API on.

use std::path::Path;

use async_trait::async_trait;
use landfall_config::{Cloudflare as Section, powervs::Service};
use landfall_platform::{Environment, ErrorClass};
use landfall_wire::{Client, Limits, Method, Reply, Request, Trust};
use secrecy::SecretString;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use url::Url;

use super::{
    contended::{Record, RecordApi},
    ibm::{Account, encoded},
    service,
};
use crate::{
    Data, Error, Name, Type, Zone,
    data::{quoted, unquoted},
    secret_file::SecretFile,
};

/// What the file of the section holds.
pub(crate) const TOKEN: &str = "API token";
const ENDPOINT: &str = "https://api.cloudflare.com/client/v4";
/// Records per page; the API allows more.
const PAGE: usize = 100;

/// The id of the service in IBM's catalogue.
const CIS_SERVICE: &str = "75874a60-cb12-11e7-948e-37ac098eb1b9";
/// The most that IBM's service gives at once of everything.
const IBM_PAGE: usize = 50;

/// Cloudflare, or a service that speaks its API.
pub(crate) struct Cloudflare {
    whose: Whose,
    endpoint: Url,
    zone: Name,
    found: OnceCell<Found>,
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
    total_count: Option<usize>,
}

impl ResultInfo {
    /// How many pages there are; some say only how many items.
    fn pages(&self, page: usize) -> usize {
        self.total_pages.or_else(|| Some(self.total_count?.div_ceil(page))).unwrap_or(1)
    }
}

#[derive(Clone, Deserialize)]
struct WireZone {
    id: String,
    name: String,
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
    #[serde(default)]
    content: String,
    /// The parts of what has several.
    #[serde(default)]
    data: Value,
    ttl: u32,
    #[serde(default)]
    created_on: String,
}

/// The zone, and what stands before all paths that lead to it.
struct Found {
    prefix: String,
    zone: WireZone,
}

/// Whose service it is that speaks this API.
enum Whose {
    Cloudflare { client: Client, token: SecretString },
    Ibm { account: Box<Account>, instance: Option<String> },
}

impl Whose {
    fn describe(&self, endpoint: &Url) -> String {
        match (self, endpoint.as_str().trim_end_matches('/')) {
            (Self::Cloudflare { .. }, ENDPOINT) => "Cloudflare".to_owned(),
            (Self::Cloudflare { .. }, other) => format!("Cloudflare ({other})"),
            (Self::Ibm { .. }, _) => "IBM Cloud Internet Services".to_owned(),
        }
    }

    /// Where zones may be.
    async fn prefixes(&self) -> Result<Vec<String>, Error> {
        match self {
            Self::Cloudflare { .. } => Ok(vec![String::new()]),
            Self::Ibm { account, instance } => {
                let instances = account.instances(CIS_SERVICE, instance.as_deref()).await?;
                Ok(instances.iter().map(|instance| format!("v1/{}/", encoded(&instance.crn))).collect())
            }
        }
    }

    /// The parameter that asks for records of one name.
    fn name_filter(&self) -> &'static str {
        match self {
            Self::Cloudflare { .. } => "name.exact",
            Self::Ibm { .. } => "name",
        }
    }

    /// The parts of an SRV record. IBM's service puts its name together from them, too.
    fn service(&self, name: &Name, service: &crate::Service) -> Value {
        let mut parts = service::to_json(service);
        if let (Self::Ibm { .. }, Some((service, protocol, rest))) = (self, service::parts(name)) {
            parts["service"] = format!("_{service}").into();
            parts["proto"] = format!("_{protocol}").into();
            parts["name"] = rest.into();
        }
        parts
    }

    /// Items per page.
    fn page(&self) -> usize {
        match self {
            Self::Cloudflare { .. } => PAGE,
            Self::Ibm { .. } => IBM_PAGE,
        }
    }
}

impl Cloudflare {
    /// Cloudflare itself, with a token of the user's.
    pub(crate) fn new(section: &Section, environment: &Environment) -> Result<Self, Error> {
        let named =
            environment.get("CLOUDFLARE_BASE_URL").and_then(|url| url.to_str()).and_then(|url| Url::parse(url).ok());
        let own = || Url::parse(ENDPOINT).expect("the endpoint is a URL");
        let client = Client::new(&Trust::System, Limits::default()).map_err(|source| Error::Http {
            attempt: "preparing to talk".to_owned(),
            service: "Cloudflare".to_owned(),
            source: Box::new(source),
        })?;
        let token = SecretFile::read(Path::new(&section.token_file), TOKEN)?.secret;
        Ok(Self {
            whose: Whose::Cloudflare { client, token },
            endpoint: section.endpoint.clone().or(named).unwrap_or_else(own),
            zone: section.zone.as_deref().unwrap_or_default().parse()?,
            found: OnceCell::new(),
        })
    }

    /// The same API as IBM Cloud Internet Services have it.
    pub(super) fn of_ibm(account: Account, instance: Option<String>, zone: Name) -> Self {
        let endpoint = account.endpoint(Service::Cis);
        Self { whose: Whose::Ibm { account: Box::new(account), instance }, endpoint, zone, found: OnceCell::new() }
    }

    async fn wire_zone(&self) -> Result<&Found, Error> {
        self.found
            .get_or_try_init(|| async {
                let attempt = format!("looking for the zone {}", self.zone);
                for prefix in self.whose.prefixes().await? {
                    let path = format!("{prefix}zones");
                    let filter = [("name", self.zone.as_str())];
                    let mut zones: Vec<WireZone> = self.pages(&attempt, &path, &filter).await?;
                    zones.retain(|zone| zone.name == self.zone.as_str());
                    // A zone that was moved between accounts is there twice, and only one of them is served.
                    if let Some(zone) = zones.iter().find(|zone| zone.status == "active").or(zones.first()).cloned() {
                        return Ok(Found { prefix, zone });
                    }
                }
                Err(Error::NoZone { zone: self.zone.to_string(), service: self.describe() })
            })
            .await
    }

    async fn records_path(&self) -> Result<String, Error> {
        let Found { prefix, zone } = self.wire_zone().await?;
        Ok(format!("{prefix}zones/{}/dns_records", zone.id))
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
            let request = || {
                let request = Request::get(self.url(path));
                let filtered = filter.iter().fold(request, |request, (name, value)| request.query(name, value));
                filtered.query("per_page", &self.whose.page().to_string()).query("page", &page.to_string())
            };
            let envelope: Envelope<Vec<T>> = self.call(attempt, request).await?;
            all.extend(envelope.result.unwrap_or_default());
            let pages = envelope.result_info.map_or(1, |info| info.pages(self.whose.page()));
            if page >= pages {
                break;
            }
        }
        Ok(all)
    }

    async fn call<T: DeserializeOwned>(
        &self,
        attempt: &str,
        request: impl Fn() -> Request,
    ) -> Result<Envelope<T>, Error> {
        let http =
            |source| Error::Http { attempt: attempt.to_owned(), service: self.describe(), source: Box::new(source) };
        let reply = match &self.whose {
            Whose::Cloudflare { client, token } => {
                client.send(request().accept_json().bearer(token)).await.map_err(http)?
            }
            Whose::Ibm { account, .. } => account.send(attempt, request).await?,
        };
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
}

impl WireRecord {
    /// The record, if its type is one known here.
    fn understood(self) -> Option<Record> {
        let Self { id, kind, name, content, data, ttl, created_on } = self;
        let data = match kind.parse().ok()? {
            Type::A => Data::A(content.parse().ok()?),
            Type::Aaaa => Data::Aaaa(content.parse().ok()?),
            Type::Cname => Data::Cname(content.parse().ok()?),
            Type::Ptr => Data::Ptr(content.parse().ok()?),
            Type::Srv => Data::Srv(service::from_json(&data)?),
            Type::Txt => Data::Txt(unquoted(&content)),
        };
        Some(Record { id, created_on, name: name.parse().ok()?, ttl, data })
    }
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
impl RecordApi for Cloudflare {
    fn describe(&self) -> String {
        self.whose.describe(&self.endpoint)
    }

    async fn zone(&self) -> Result<Zone, Error> {
        let servers = &self.wire_zone().await?.zone.name_servers;
        let name_servers = servers.iter().map(|server| server.parse()).collect::<Result<_, _>>()?;
        Ok(Zone { name: self.zone.clone(), name_servers })
    }

    async fn records(&self, name: Option<&Name>) -> Result<Vec<Record>, Error> {
        let attempt =
            name.map_or("listing the records of the zone".to_owned(), |name| format!("reading the records of {name}"));
        let filter: Vec<(&str, &str)> = name.iter().map(|name| (self.whose.name_filter(), name.as_str())).collect();
        let records: Vec<WireRecord> = self.pages(&attempt, &self.records_path().await?, &filter).await?;
        Ok(records.into_iter().filter_map(WireRecord::understood).collect())
    }

    async fn add(&self, name: &Name, ttl: u32, data: &Data) -> Result<(), Error> {
        let mut body = json!({"type": data.kind().as_str(), "name": name.as_str(), "ttl": ttl});
        match data {
            Data::Txt(text) => body["content"] = quoted(text).into(),
            Data::Cname(name) | Data::Ptr(name) => body["content"] = name.as_str().into(),
            Data::Srv(service) => body["data"] = self.whose.service(name, service),
            address => body["content"] = address.to_string().into(),
        }
        // What Cloudflare proxies is HTTP only, which the API's port is not.
        if [Type::A, Type::Aaaa, Type::Cname].contains(&data.kind()) {
            body["proxied"] = false.into();
        }
        let url = self.url(&self.records_path().await?);
        let attempt = format!("making the record {name} {}", data.kind());
        match self.call::<Value>(&attempt, || Request::json(Method::POST, url.clone(), &body)).await {
            // An identical record exists: that is what was wanted, and perhaps the reply to making it was lost.
            Err(Error::Api { code, .. }) if ["81057", "81058"].contains(&code.as_str()) => Ok(()),
            done => done.map(|_| ()),
        }
    }

    async fn delete(&self, record: &Record) -> Result<(), Error> {
        let url = self.url(&format!("{}/{}", self.records_path().await?, record.id));
        let attempt = format!("removing the record {} {}", record.name, record.data.kind());
        match self.call::<Value>(&attempt, || Request::delete(url.clone())).await {
            Err(Error::Api { class: ErrorClass::NotFound, .. }) => Ok(()),
            done => done.map(|_| ()),
        }
    }
}
