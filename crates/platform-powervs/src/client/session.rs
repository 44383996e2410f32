//! The verbs: one call, and all pages of a list.

use std::time::Duration;

use landfall_config::powervs::{Service, ServiceEndpoints};
use landfall_platform::ErrorClass;
use landfall_wire::{
    Limits, Method, Reply, Request,
    ibm_cloud::{Credentials, Fault, Place, Session, endpoint},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::sync::OnceCell;
use url::Url;

use super::Workspace;
use crate::Error;

/// Dates of the APIs that are spoken here.
const VPC_VERSION: &str = "version=2025-07-01&generation=2";
const TRANSIT_VERSION: &str = "version=2025-07-01";
/// How often something is read, and the pauses between.
const READS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Items that are asked for at once, and more pages than any account has.
const PAGE: usize = 100;
const PAGES: usize = 1000;

/// A client of all services that a cluster needs, in one zone.
#[derive(Debug)]
pub struct Client {
    session: Session,
    endpoints: ServiceEndpoints,
    place: Place,
    zone: String,
    account: OnceCell<String>,
}

/// Whom a request is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum To<'a> {
    /// Workspaces and other instances of services.
    Resources,
    /// Resource groups.
    Groups,
    /// Power Virtual Server, in a workspace.
    Power(&'a Workspace),
    /// Power Virtual Server, for the account as a whole.
    PowerAccount,
    /// VPC.
    Vpc,
    /// Transit gateways.
    Transit,
    /// Tags.
    Tagging,
    /// What carries a tag.
    Search,
}

/// A reference to another object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Reference {
    /// Its id.
    #[serde(default)]
    pub id: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
}

impl Client {
    /// A client that has not talked to anybody yet. `endpoints` go before those of the credentials.
    pub fn new(
        credentials: &Credentials,
        endpoints: &ServiceEndpoints,
        place: Place,
        zone: &str,
    ) -> Result<Self, Error> {
        let endpoints = endpoints.or(&credentials.endpoints);
        let http = landfall_wire::Client::new(&credentials.trust, Limits::default());
        let http = http.map_err(|source| Error::exchange("preparing a session", "IBM Cloud", source.into()))?;
        let session = Session::new(http, endpoint(Service::Iam, &endpoints, &place), credentials.api_key.clone());
        Ok(Self { session, endpoints, place, zone: zone.to_owned(), account: OnceCell::new() })
    }

    /// The zone of the machines.
    pub fn zone(&self) -> &str {
        &self.zone
    }

    /// The regions that services are asked in.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The account that the API key belongs to.
    pub async fn account(&self) -> Result<&str, Error> {
        let failed = |source| Error::exchange("exchanging the API key for a token", "IBM Cloud IAM", source);
        let ask = || async { self.session.account().await.map_err(failed) };
        Ok(self.account.get_or_try_init(|| patiently(ask)).await?)
    }

    /// Where a service is.
    pub(super) fn endpoint(&self, service: Service) -> Url {
        endpoint(service, &self.endpoints, &self.place)
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, attempt: &str, to: To<'_>, path: &str) -> Result<T, Error> {
        self.read(attempt, to, Method::GET, path, None).await
    }

    /// Reads an object that may not exist.
    pub(super) async fn get_existing<T: DeserializeOwned>(
        &self,
        attempt: &str,
        to: To<'_>,
        path: &str,
    ) -> Result<Option<T>, Error> {
        match self.get(attempt, to, path).await {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.is_gone() => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        attempt: &str,
        to: To<'_>,
        path: &str,
        body: &Value,
    ) -> Result<T, Error> {
        self.read(attempt, to, Method::POST, path, Some(body)).await
    }

    /// Sends something that is answered with nothing worth reading.
    pub(super) async fn send(
        &self,
        attempt: &str,
        to: To<'_>,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(), Error> {
        self.call(attempt, to, method, path, body).await.map(drop)
    }

    /// Deletes something. That it is gone already is as good.
    pub(super) async fn delete(&self, attempt: &str, to: To<'_>, path: &str) -> Result<(), Error> {
        match self.call(attempt, to, Method::DELETE, path, None).await {
            Err(error) if error.is_gone() => Ok(()),
            done => done.map(drop),
        }
    }

    /// All items of a list whose pages lead to each other: by `next.href` in VPC and for gateways, by `next_url` for resources.
    pub(super) async fn pages<T: DeserializeOwned>(
        &self,
        attempt: &str,
        to: To<'_>,
        path: &str,
        name: &str,
    ) -> Result<Vec<T>, Error> {
        let separator = if path.contains('?') { '&' } else { '?' };
        let first = format!("{path}{separator}limit={PAGE}");
        let (mut all, mut start) = (Vec::new(), None::<String>);
        for _ in 0..PAGES {
            let path = start.take().map_or_else(|| first.clone(), |start| format!("{first}&start={start}"));
            let mut answer: Value = self.get(attempt, to, &path).await?;
            all.extend(understood::<Vec<T>>(attempt, to, answer[name].take())?);
            let next = answer["next"]["href"].as_str().or_else(|| answer["next_url"].as_str());
            start = next.and_then(start_of);
            if start.is_none() {
                break;
            }
        }
        Ok(all)
    }

    async fn read<T: DeserializeOwned>(
        &self,
        attempt: &str,
        to: To<'_>,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, Error> {
        let reply = self.call(attempt, to, method, path, body).await?;
        reply.json().map_err(|source| Error::exchange(attempt, to.name(), source.into()))
    }

    async fn call(
        &self,
        attempt: &str,
        to: To<'_>,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Reply, Error> {
        if method == Method::GET {
            return patiently(|| self.call_once(attempt, to, method.clone(), path, body)).await;
        }
        self.call_once(attempt, to, method, path, body).await
    }

    async fn call_once(
        &self,
        attempt: &str,
        to: To<'_>,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Reply, Error> {
        let url = self.url(to, path);
        let request = || {
            let request = match body {
                Some(body) => Request::json(method.clone(), url.clone(), body),
                None => Request::bare(method.clone(), url.clone()),
            };
            let request = request.accept_json();
            match to {
                To::Power(workspace) => request.header("crn", &workspace.crn),
                _ => request,
            }
        };
        let reply = self.session.send(request).await.map_err(|source| Error::exchange(attempt, to.name(), source))?;
        checked(attempt, to.name(), reply)
    }

    /// Asks for something that everybody may know.
    pub(super) async fn get_plain<T: DeserializeOwned>(&self, attempt: &str, path: &str) -> Result<T, Error> {
        let to = To::PowerAccount;
        let once = || async {
            let request = Request::get(self.url(to, path)).accept_json();
            let reply = self.session.send_plain(request).await;
            checked(attempt, to.name(), reply.map_err(|source| Error::exchange(attempt, to.name(), source))?)
        };
        let reply = patiently(once).await?;
        reply.json().map_err(|source| Error::exchange(attempt, to.name(), source.into()))
    }

    /// Sends a request to object storage, which does not speak JSON.
    pub(super) async fn store(&self, attempt: &str, request: impl Fn() -> Request) -> Result<Reply, Error> {
        const STORAGE: &str = "object storage";
        // Object storage answers to a token that has run out as to one that may not.
        let reply = self.session.send_unless(request, |status| [401, 403].contains(&status)).await;
        let reply = reply.map_err(|source| Error::exchange(attempt, STORAGE, source))?;
        match reply.status() {
            200..=299 => Ok(reply),
            status => {
                let text = String::from_utf8_lossy(reply.contents()).into_owned();
                let part = |name: &str| between(&text, &format!("<{name}>"), &format!("</{name}>"));
                let fault = Fault {
                    status,
                    code: part("Code"),
                    message: part("Message").unwrap_or_default(),
                    retry_after: reply.retry_after(),
                };
                Err(Error::fault(attempt, STORAGE, fault))
            }
        }
    }

    fn url(&self, to: To<'_>, path: &str) -> Url {
        let (service, version, fixed) = match to {
            To::Resources => (Service::ResourceController, "", None),
            To::Groups => (Service::ResourceManager, "/v2", None),
            To::Power(_) | To::PowerAccount => (Service::Power, "", None),
            To::Vpc => (Service::Vpc, "/v1", Some(VPC_VERSION)),
            To::Transit => (Service::TransitGateway, "/v1", Some(TRANSIT_VERSION)),
            To::Tagging => (Service::GlobalTagging, "", None),
            To::Search => (Service::GlobalSearch, "", None),
        };
        let mut url = self.endpoint(service);
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        url.set_path(&format!("{}{version}/{path}", url.path().trim_end_matches('/')));
        let query: Vec<&str> = fixed.into_iter().chain(query).collect();
        url.set_query((!query.is_empty()).then(|| query.join("&")).as_deref());
        url
    }
}

/// Reads, and again if the service is out of sorts or asks to slow down. Whoever acts by steps is repeated by the engine, for much
/// longer; this is for those who only look, before an installation and after it.
async fn patiently<T, F: Future<Output = Result<T, Error>>>(once: impl Fn() -> F) -> Result<T, Error> {
    let mut pause = FIRST_PAUSE;
    for _ in 1..READS {
        let error = match once().await {
            Err(error) if [ErrorClass::Transient, ErrorClass::Throttled].contains(&error.class()) => error,
            done => return done,
        };
        let wait = error.retry_after().unwrap_or_default().max(pause);
        if wait > LONGEST_PAUSE {
            return Err(error);
        }
        tokio::time::sleep(wait).await;
        pause *= 2;
    }
    once().await
}

impl To<'_> {
    fn name(self) -> &'static str {
        match self {
            Self::Resources => "the resource controller",
            Self::Groups => "the resource manager",
            Self::Power(_) | Self::PowerAccount => "Power Virtual Server",
            Self::Vpc => "VPC",
            Self::Transit => "the transit gateway service",
            Self::Tagging => "the tagging service",
            Self::Search => "the search service",
        }
    }
}

fn checked(attempt: &str, service: &str, reply: Reply) -> Result<Reply, Error> {
    match reply.status() {
        200..=299 => Ok(reply),
        _ => Err(Error::fault(attempt, service, Fault::of(&reply))),
    }
}

/// Reads a part of an answer.
pub(super) fn understood<T: DeserializeOwned>(attempt: &str, to: To<'_>, part: Value) -> Result<T, Error> {
    serde_json::from_value(part).map_err(|error| {
        let message = format!("an answer that is not understood ({error})");
        Error::fault(attempt, to.name(), Fault { status: 200, code: None, message, retry_after: None })
    })
}

/// The token of the next page, which hides in the query of an address.
fn start_of(href: &str) -> Option<String> {
    let query = href.split_once('?')?.1;
    query.split('&').find_map(|pair| pair.strip_prefix("start=")).map(str::to_owned)
}

fn between(text: &str, before: &str, after: &str) -> Option<String> {
    let start = text.find(before)? + before.len();
    Some(text[start..start + text[start..].find(after)?].to_owned())
}

impl Error {
    /// Whether something is not there.
    pub(crate) fn is_gone(&self) -> bool {
        match self {
            Self::Fault { fault, .. } => {
                // The DHCP service says so with other statuses, too.
                let missing = ["dhcp server does not exist", "could not retrieve dhcp server"];
                let text = fault.message.to_ascii_lowercase();
                fault.class() == ErrorClass::NotFound || missing.iter().any(|phrase| text.contains(phrase))
            }
            _ => false,
        }
    }
}
