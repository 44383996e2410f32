//! The verbs: one call, and all pages of a list.

use landfall_platform::ErrorClass;
use landfall_wire::{Limits, Method, Reply, Request, Trust};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use url::Url;

use crate::{Error, Fault};

/// Items that are asked for at once.
const PAGE: usize = 100;
/// More pages than any account has; ends a list whose end never comes.
const PAGES: usize = 1000;

/// A client of the API, with one key.
#[derive(Debug)]
pub struct Client {
    http: landfall_wire::Client,
    api: Url,
    key: SecretString,
}

/// A reference to another object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Reference {
    /// Its path.
    #[serde(default)]
    pub href: String,
}

impl Reference {
    /// The id that it ends with.
    pub fn id(&self) -> &str {
        self.href.rsplit('/').next().unwrap_or_default()
    }
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    errors: Vec<String>,
    error: Option<String>,
}

impl Client {
    /// A client that has not talked to anybody yet.
    pub fn new(api: Url, trust: &Trust, limits: Limits, key: SecretString) -> Result<Self, Error> {
        let host = host(&api);
        let http = landfall_wire::Client::new(trust, limits).map_err(|source| Error::Exchange {
            attempt: "preparing a session".to_owned(),
            api: host,
            source: Box::new(source),
        })?;
        Ok(Self { http, api, key })
    }

    /// The API's host, for people.
    pub fn host(&self) -> String {
        host(&self.api)
    }

    /// Whether this is the key that the client has.
    pub(super) fn has_key(&self, key: &str) -> bool {
        self.key.expose_secret() == key
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, attempt: &str, path: &str) -> Result<T, Error> {
        self.read(attempt, Request::get(self.url(path))).await
    }

    /// Reads an object that may not exist.
    pub(super) async fn get_existing<T: DeserializeOwned>(
        &self,
        attempt: &str,
        path: &str,
    ) -> Result<Option<T>, Error> {
        match self.get(attempt, path).await {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn post<T: DeserializeOwned>(&self, attempt: &str, path: &str, body: &Value) -> Result<T, Error> {
        self.read(attempt, Request::json(Method::POST, self.url(path), body)).await
    }

    /// Sends something that is answered with nothing worth reading.
    pub(super) async fn send(&self, attempt: &str, method: Method, path: &str, body: &Value) -> Result<(), Error> {
        self.call(attempt, Request::json(method, self.url(path), body)).await.map(drop)
    }

    /// Deletes something. That it is gone already is as good.
    pub(super) async fn delete(&self, attempt: &str, path: &str) -> Result<(), Error> {
        match self.call(attempt, Request::delete(self.url(path))).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_gone() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// All items of a list, page after page. `query` is what follows the question mark, if anything does.
    pub(super) async fn pages<T: DeserializeOwned>(
        &self,
        attempt: &str,
        path: &str,
        query: &[(&str, &str)],
        name: &str,
    ) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        for page in 1..=PAGES {
            let mut url = self.url(path);
            url.query_pairs_mut()
                .extend_pairs(query)
                .append_pair("page", &page.to_string())
                .append_pair("per_page", &PAGE.to_string());
            let mut answer: Value = self.read(attempt, Request::get(url)).await?;
            let items: Vec<T> =
                serde_json::from_value(answer[name].take()).map_err(|error| self.unreadable(attempt, &error))?;
            all.extend(items);
            if answer["meta"]["next"].is_null() {
                break;
            }
        }
        Ok(all)
    }

    async fn read<T: DeserializeOwned>(&self, attempt: &str, request: Request) -> Result<T, Error> {
        let reply = self.call(attempt, request).await?;
        reply.json().map_err(|source| self.failed(attempt, source))
    }

    async fn call(&self, attempt: &str, request: Request) -> Result<Reply, Error> {
        let request = request.accept_json().secret_header("x-auth-token", &self.key);
        let reply = self.http.send(request).await.map_err(|source| self.failed(attempt, source))?;
        match reply.status() {
            200..=299 => Ok(reply),
            status => {
                let is_json = reply.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
                let said = is_json.then(|| reply.json::<Refusal>().ok()).flatten();
                let errors = said.map(|said| said.errors.into_iter().chain(said.error).collect()).unwrap_or_default();
                let fault = Fault { status, errors, is_json, retry_after: reply.retry_after() };
                Err(Error::Fault { attempt: attempt.to_owned(), api: self.host(), fault: Box::new(fault) })
            }
        }
    }

    fn failed(&self, attempt: &str, source: landfall_wire::Error) -> Error {
        Error::Exchange { attempt: attempt.to_owned(), api: self.host(), source: Box::new(source) }
    }

    fn unreadable(&self, attempt: &str, error: &serde_json::Error) -> Error {
        let fault = Fault {
            status: 200,
            errors: vec![format!("an answer that is not understood ({error})")],
            is_json: true,
            retry_after: None,
        };
        Error::Fault { attempt: attempt.to_owned(), api: self.host(), fault: Box::new(fault) }
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.api.clone();
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        url.set_path(&format!("{}/{path}", self.api.path().trim_end_matches('/')));
        url.set_query(query);
        url
    }
}

fn host(api: &Url) -> String {
    api.host_str().map_or_else(
        || api.to_string(),
        |host| match api.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        },
    )
}
