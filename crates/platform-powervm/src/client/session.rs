//! A session with a console: logon, renewal, and the four verbs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::PoisonError;
use std::time::Duration;

use bytes::Bytes;
use landfall_wire::{Limits, Method, Reply, Request, Trust};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Mutex;
use url::Url;

use super::{WEB, address::ConsoleUrl, atom, atom::Entry, job::KnownJob, path::Path};
use crate::xml::{Document, Element};
use crate::{Error, Fault};

/// What the console's audit log says about who does all this.
const MEMENTO: &str = "landfall";
/// A change of a VIOS with many mappings takes its time.
const LONG_EXCHANGE: Duration = Duration::from_mins(20);
/// Feeds of thousands of partitions are large.
const LARGE_ANSWER: usize = 512 << 20;

/// How a session begins.
#[derive(Clone, Debug)]
pub enum Login {
    /// With a password.
    Password {
        /// Who.
        user: String,
        /// The password.
        password: SecretString,
    },
    /// With a token that the console puts into a file; only for programs on the management partition.
    Local {
        /// A name for the console's log; any will do.
        user: String,
    },
}

impl Login {
    fn user(&self) -> &str {
        let (Self::Password { user, .. } | Self::Local { user }) = self;
        user
    }
}

/// What a console is, as it says when somebody logs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Whether it is a NovaLink; else it is an HMC.
    pub is_novalink: bool,
    /// The version of its documents: `V1_3_0`.
    pub schema: String,
}

/// A session with a console, as one user.
///
/// The token is fetched at the first call and again when the console no longer accepts it.
#[derive(Debug)]
pub struct Client {
    http: landfall_wire::Client,
    console: ConsoleUrl,
    login: Login,
    token: Mutex<Option<SecretString>>,
    dialect: std::sync::Mutex<Option<Dialect>>,
    /// Jobs that were run before, by kind of object and operation.
    pub(super) known_jobs: std::sync::Mutex<BTreeMap<String, KnownJob>>,
}

impl Client {
    /// A session that is not logged on yet.
    pub fn new(console: ConsoleUrl, trust: &Trust, limits: Limits, login: Login) -> Result<Self, Error> {
        let limits =
            Limits { exchange: limits.exchange.max(LONG_EXCHANGE), answer: limits.answer.max(LARGE_ANSWER), ..limits };
        let http = landfall_wire::Client::new(trust, limits).map_err(|source| Error::Exchange {
            attempt: "preparing a session".to_owned(),
            console: console.to_string(),
            source: Box::new(source),
        })?;
        let (dialect, known_jobs) = (std::sync::Mutex::default(), std::sync::Mutex::default());
        Ok(Self { http, console, login, token: Mutex::new(None), dialect, known_jobs })
    }

    /// The console.
    pub fn console(&self) -> &ConsoleUrl {
        &self.console
    }

    /// What the console is. Logs on if nobody has yet.
    pub async fn dialect(&self) -> Result<Dialect, Error> {
        self.token().await?;
        let known = self.dialect.lock().unwrap_or_else(PoisonError::into_inner).clone();
        known.ok_or_else(|| self.misunderstood("logging on", "it does not say what it is".to_owned()))
    }

    /// Reads a feed. One without objects is empty.
    pub async fn feed(&self, path: &Path) -> Result<Vec<Entry>, Error> {
        let attempt = format!("reading {path}");
        let reply = self.call(&attempt, &path.query(), Request::get).await?;
        self.entries(&attempt, &reply)
    }

    /// Reads an object.
    pub async fn entry(&self, path: &Path) -> Result<Entry, Error> {
        let attempt = format!("reading {path}");
        let reply = self.call(&attempt, &path.query(), Request::get).await?;
        self.only(&attempt, &reply)
    }

    /// Finds objects by one of the few properties that the console can search by: names and numbers.
    pub async fn search(&self, kind: &str, key: &str, value: &str) -> Result<Vec<Entry>, Error> {
        let value: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
        let value = value.replace('+', "%20");
        let path = format!("uom/{kind}/search/({key}=='{value}')?group=None");
        let attempt = format!("searching for a {kind} by its {key}");
        let reply = self.call(&attempt, &path, Request::get).await?;
        self.entries(&attempt, &reply)
    }

    /// Creates an object in a feed.
    pub async fn create(&self, path: &Path, object: &Element) -> Result<Entry, Error> {
        let attempt = format!("creating a {}", object.local_name());
        self.put(&attempt, path.bare(), object).await
    }

    /// Sends an object as a new version, unless it has changed since the version of the tag.
    pub async fn update(&self, path: &Path, object: &Element, etag: Option<&str>) -> Result<Entry, Error> {
        let attempt = format!("changing {path}");
        let (body, kind) = (body(object), media_type(object));
        let send = |url: Url| {
            let request = Request::post(url, body.clone()).header("content-type", &kind).header("accept", ATOM);
            match etag {
                Some(tag) => request.header("if-match", tag),
                None => request,
            }
        };
        let reply = self.call(&attempt, &path.query(), send).await?;
        self.only(&attempt, &reply)
    }

    /// Deletes an object. That it is not there is as good.
    pub async fn delete(&self, path: &Path) -> Result<(), Error> {
        self.remove(&format!("deleting {path}"), path.bare()).await
    }

    pub(super) async fn remove(&self, attempt: &str, path: &str) -> Result<(), Error> {
        match self.call(attempt, path, Request::delete).await {
            Err(error) if error.class() != landfall_platform::ErrorClass::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Sends something and reads the entry that it has become.
    pub(super) async fn put(&self, attempt: &str, path: &str, object: &Element) -> Result<Entry, Error> {
        let (body, kind) = (body(object), media_type(object));
        let send = |url: Url| Request::put(url, body.clone()).header("content-type", &kind).header("accept", ATOM);
        let reply = self.call(attempt, path, send).await?;
        self.only(attempt, &reply)
    }

    pub(super) fn entries(&self, attempt: &str, reply: &Reply) -> Result<Vec<Entry>, Error> {
        if reply.status() == 204 || reply.contents().trim_ascii().is_empty() {
            return Ok(Vec::new());
        }
        let document = self.document(attempt, reply)?;
        atom::entries(document, reply.header("etag")).map_err(|reason| self.misunderstood(attempt, reason))
    }

    pub(super) fn only(&self, attempt: &str, reply: &Reply) -> Result<Entry, Error> {
        let mut entries = self.entries(attempt, reply)?;
        match entries.len() {
            1 => Ok(entries.remove(0)),
            count => Err(self.misunderstood(attempt, format!("it holds {count} entries instead of one"))),
        }
    }

    fn document(&self, attempt: &str, reply: &Reply) -> Result<Document, Error> {
        Document::parse(reply.contents()).map_err(|source| Error::Xml {
            attempt: attempt.to_owned(),
            console: self.console.to_string(),
            source,
        })
    }

    pub(super) fn misunderstood(&self, attempt: &str, reason: String) -> Error {
        Error::Answer { attempt: attempt.to_owned(), console: self.console.to_string(), reason }
    }

    /// The error for an answer that is not what it should be.
    pub(crate) fn misread(&self, attempt: &str, reason: &str) -> Error {
        self.misunderstood(attempt, reason.to_owned())
    }

    /// The address of something, from the service on, as documents refer to it.
    pub(crate) fn link(&self, path: &str) -> String {
        self.console.join(path).to_string()
    }

    /// Sends a request, with a new token if the old one is no longer accepted.
    pub(super) async fn call(
        &self,
        attempt: &str,
        path: &str,
        request: impl Fn(Url) -> Request,
    ) -> Result<Reply, Error> {
        let url = self.console.join(path);
        let send = async |token: &SecretString| {
            let request = request(url.clone()).secret_header("x-api-session", token).header("x-audit-memento", MEMENTO);
            self.http.send(request).await.map_err(|source| self.failed(attempt, source))
        };
        let mut token = self.token().await?;
        let mut reply = send(&token).await?;
        if reply.status() == 401 {
            // The console has forgotten the session. Nothing was done, so any request may be repeated with a new token.
            self.forget(&token).await;
            token = self.token().await?;
            reply = send(&token).await?;
        }
        if reply.status() == 401 {
            self.forget(&token).await;
        }
        self.accepted(attempt, reply)
    }

    /// Sends a request that cannot be repeated, because its body is gone then.
    pub(super) async fn call_once(
        &self,
        attempt: &str,
        path: &str,
        request: impl FnOnce(Url) -> Request,
    ) -> Result<Reply, Error> {
        let token = self.token().await?;
        let request = request(self.console.join(path)).secret_header("x-api-session", &token);
        let reply = self.http.send(request.header("x-audit-memento", MEMENTO)).await;
        self.accepted(attempt, reply.map_err(|source| self.failed(attempt, source))?)
    }

    /// A reply that is no refusal.
    fn accepted(&self, attempt: &str, reply: Reply) -> Result<Reply, Error> {
        if reply.status() >= 400
            && !reply.is_web_page()
            && let Some(fault) = fault(&reply)
        {
            let console = self.console.to_string();
            return Err(Error::Fault { attempt: attempt.to_owned(), console, fault: Box::new(fault) });
        }
        if reply.status() == 304 {
            return Ok(reply);
        }
        reply.successful().map_err(|source| self.failed(attempt, source))
    }

    fn failed(&self, attempt: &str, source: landfall_wire::Error) -> Error {
        Error::Exchange { attempt: attempt.to_owned(), console: self.console.to_string(), source: Box::new(source) }
    }

    /// Drops a token that the console does not accept any more, unless somebody else has got a new one meanwhile.
    async fn forget(&self, expired: &SecretString) {
        self.token.lock().await.take_if(|token| token.expose_secret() == expired.expose_secret());
    }

    pub(super) async fn token(&self) -> Result<SecretString, Error> {
        let mut token = self.token.lock().await;
        if let Some(token) = &*token {
            return Ok(token.clone());
        }
        Ok(token.insert(self.logon().await?).clone())
    }

    async fn logon(&self) -> Result<SecretString, Error> {
        let user = self.login.user();
        let attempt = format!("logging on as {user}");
        let mut request =
            Element::new("LogonRequest").with_attribute("xmlns", WEB).with_attribute("schemaVersion", "V1_0");
        request.push(Element::text_of("UserID", user));
        request.push(match &self.login {
            Login::Password { password, .. } => Element::text_of("Password", password.expose_secret()),
            Login::Local { .. } => Element::text_of("GenerateX-API-SessionFile", true),
        });
        let request = Request::put(self.console.join("web/Logon"), body(&request))
            .header("content-type", "application/vnd.ibm.powervm.web+xml; type=LogonRequest")
            .header("accept", "application/vnd.ibm.powervm.web+xml; type=LogonResponse")
            .header("x-audit-memento", MEMENTO);
        let reply = self.http.send(request).await.map_err(|source| self.failed(&attempt, source))?;
        if matches!(reply.status(), 401 | 403) {
            let answer = fault(&reply).map_or_else(|| format!("status {}", reply.status()), |fault| fault.message);
            let answer = answer.trim_end_matches('.').to_owned();
            return Err(Error::Logon { console: self.console.to_string(), user: user.to_owned(), answer });
        }
        let reply = self.accepted(&attempt, reply)?;
        let answer = self.document(&attempt, &reply)?.root;
        let schema = reply.header("x-hmc-schema-version").map(ToString::to_string);
        let schema = schema.or_else(|| answer.attribute("schemaVersion").map(ToString::to_string)).unwrap_or_default();
        // Only a NovaLink says what it is.
        let dialect = Dialect { is_novalink: reply.header("x-mc-type").is_some_and(|kind| kind == "PVM"), schema };
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = Some(dialect);
        match (answer.text_at("X-API-Session"), answer.text_at("X-API-SessionFile")) {
            (Some(token), _) if !token.is_empty() => Ok(token.into()),
            (_, Some(path)) if !path.is_empty() => {
                let path = PathBuf::from(path);
                let token = tokio::fs::read_to_string(&path).await.map_err(|source| Error::TokenFile {
                    console: self.console.to_string(),
                    path,
                    source,
                })?;
                Ok(token.trim().into())
            }
            _ => Err(self.misunderstood(&attempt, "it holds no token".to_owned())),
        }
    }

    /// Ends the session, if there is one. A console keeps a limited number of them.
    pub async fn logoff(&self) -> Result<(), Error> {
        if self.token.lock().await.is_none() {
            return Ok(());
        }
        let ended = self.remove("logging off", "web/Logon").await;
        *self.token.lock().await = None;
        ended
    }
}

const ATOM: &str = "application/atom+xml; charset=UTF-8";

/// What a document is called in a header.
fn media_type(object: &Element) -> String {
    let service = if object.namespace([]).is_some_and(|namespace| namespace == WEB) { "web" } else { "uom" };
    format!("application/vnd.ibm.powervm.{service}+xml; type={}", object.local_name())
}

fn body(object: &Element) -> Bytes {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n{object}").into()
}

/// What the console says about a refusal.
fn fault(reply: &Reply) -> Option<Fault> {
    let entries = atom::entries(Document::parse(reply.contents()).ok()?, None).ok()?;
    let object = &entries.first().filter(|entry| entry.object.local_name() == "HttpErrorResponse")?.object;
    let text = |name: &str| object.text_at(name).unwrap_or_default();
    Some(Fault {
        status: text("HTTPStatus").parse().unwrap_or_else(|_| reply.status()),
        reason: text("ReasonCode"),
        message: text("Message"),
        retry_after: reply.retry_after(),
    })
}

impl Client {
    /// A read whose method the caller has no use for, for quick properties, which are JSON.
    pub(super) async fn get_json(&self, attempt: &str, path: &str) -> Result<serde_json::Value, Error> {
        let reply = self.call(attempt, path, |url| Request::bare(Method::GET, url).header("accept", "*/*")).await?;
        reply.json().map_err(|source| self.failed(attempt, source))
    }
}
