//! A session with an engine: login, and the four verbs.

use std::time::Duration;

use landfall_platform::ErrorClass;
use landfall_wire::{Limits, Method, Request, Trust};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::sync::Mutex;
use url::Url;

use crate::{Error, Fault, client::EngineUrl};

/// The scope of a token that is good for the API.
const SCOPE: &str = "ovirt-app-api";

/// For a piece of an image over a slow line.
const TRANSFER_EXCHANGE: Duration = Duration::from_mins(2);

/// A session with an engine, as one user.
///
/// The token is fetched at the first call and again when the engine no longer accepts it (it forgets sessions that are idle
/// for half an hour).
#[derive(Debug)]
pub struct Client {
    http: landfall_wire::Client,
    engine: EngineUrl,
    user: String,
    password: SecretString,
    token: Mutex<Option<SecretString>>,
    transfers: landfall_wire::Client,
}

/// A token, or why there is none. The engine answers refusals with status 400 and one of these two spellings.
#[derive(Deserialize)]
struct Grant {
    access_token: Option<SecretString>,
    error_code: Option<String>,
    error: Option<String>,
    error_description: Option<String>,
}

/// What the engine answers when it refuses: a bare fault, or for an action one inside of it.
#[derive(Deserialize)]
struct Failure {
    fault: Option<Words>,
    #[serde(flatten)]
    bare: Words,
}

#[derive(Deserialize)]
struct Words {
    #[serde(default)]
    reason: String,
    #[serde(default)]
    detail: String,
}

/// Checks that an engine's API answers at the address. Needs no credentials: an engine asks for them.
pub async fn probe(engine: &EngineUrl, trust: &Trust, limits: Limits) -> Result<(), Error> {
    let failed = |source| Error::exchange("reaching the API", engine, source);
    let client = landfall_wire::Client::new(trust, limits).map_err(failed)?;
    let reply = client.send(Request::get(engine.api()).accept_json()).await.map_err(failed)?;
    match reply.status() {
        401 => Ok(()),
        _ => reply.successful().map(drop).map_err(failed),
    }
}

impl Client {
    /// A session that is not logged in yet.
    pub fn new(
        engine: EngineUrl,
        trust: &Trust,
        limits: Limits,
        user: impl Into<String>,
        password: SecretString,
    ) -> Result<Self, Error> {
        let failed = |source| Error::exchange("preparing a session", &engine, source);
        let http = landfall_wire::Client::new(trust, limits).map_err(failed)?;
        let patient = Limits { exchange: limits.exchange.max(TRANSFER_EXCHANGE), ..limits };
        let transfers = landfall_wire::Client::new(trust, patient).map_err(failed)?;
        Ok(Self { http, engine, user: user.into(), password, token: Mutex::new(None), transfers })
    }

    /// For exchanges with the hosts and the proxy that take the bytes of images. Their certificates are of the engine's CA.
    pub(crate) fn transfers(&self) -> &landfall_wire::Client {
        &self.transfers
    }

    /// The engine.
    pub fn engine(&self) -> &EngineUrl {
        &self.engine
    }

    /// Reads a resource: `clusters`, `networks/<id>/vnicprofiles`.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        let attempt = format!("reading {}", if path.is_empty() { "the API's root" } else { path });
        self.call(&attempt, path, Request::get).await
    }

    /// Reads an object that may not exist.
    pub(super) async fn get_existing<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>, Error> {
        match self.get(path).await {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Creates an object in a collection, or carries out an action.
    pub(super) async fn post<T: DeserializeOwned>(&self, attempt: &str, path: &str, body: &Value) -> Result<T, Error> {
        self.call(attempt, path, |url| Request::json(Method::POST, url, body)).await
    }

    /// Changes an object.
    pub(super) async fn put<T: DeserializeOwned>(&self, attempt: &str, path: &str, body: &Value) -> Result<T, Error> {
        self.call(attempt, path, |url| Request::json(Method::PUT, url, body)).await
    }

    /// Deletes an object. That it is not there is as good.
    pub(super) async fn delete(&self, attempt: &str, path: &str) -> Result<(), Error> {
        match self.call::<Value>(attempt, path, Request::delete).await {
            Err(error) if error.class() != ErrorClass::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Sends a request under a new correlation id, by which the engine's log, jobs and events name it.
    async fn call<T: DeserializeOwned>(
        &self,
        attempt: &str,
        path: &str,
        request: impl Fn(Url) -> Request,
    ) -> Result<T, Error> {
        let correlation = format!("landfall-{:016x}", rand::random::<u64>());
        let url = if path.is_empty() { self.engine.api() } else { self.engine.resource(path) };
        let changes = *request(url.clone()).method() != Method::GET;
        let failed = |source| Error::Exchange {
            attempt: attempt.to_owned(),
            engine: self.engine.host(),
            correlation: changes.then(|| correlation.clone()),
            source: Box::new(source),
        };
        let send = async |token: &SecretString| {
            let request = request(url.clone()).accept_json().bearer(token).header("correlation-id", &correlation);
            self.http.send(request).await.map_err(failed)
        };
        let mut token = self.token().await?;
        let mut reply = send(&token).await?;
        if reply.status() == 401 {
            // The engine has forgotten the session. Nothing was done, so any request may be repeated with a new token.
            self.forget(&token).await;
            token = self.token().await?;
            reply = send(&token).await?;
        }
        if reply.status() == 401 {
            self.forget(&token).await;
        }
        if reply.status() >= 400
            && !reply.is_web_page()
            && let Ok(failure) = reply.json::<Failure>()
        {
            let Words { reason, detail } = failure.fault.unwrap_or(failure.bare);
            let (status, retry_after) = (reply.status(), reply.retry_after());
            return Err(Error::Fault {
                attempt: attempt.to_owned(),
                engine: self.engine.host(),
                fault: Box::new(Fault { status, reason, detail, correlation, retry_after }),
            });
        }
        reply.successful().and_then(|reply| reply.json()).map_err(failed)
    }

    /// Drops a token that the engine does not accept any more, unless somebody else has got a new one meanwhile.
    async fn forget(&self, expired: &SecretString) {
        self.token.lock().await.take_if(|token| token.expose_secret() == expired.expose_secret());
    }

    async fn token(&self) -> Result<SecretString, Error> {
        let mut token = self.token.lock().await;
        if let Some(token) = &*token {
            return Ok(token.clone());
        }
        Ok(token.insert(self.login().await?).clone())
    }

    async fn login(&self) -> Result<SecretString, Error> {
        let failed = |source| Error::exchange(format!("logging in as {}", self.user), &self.engine, source);
        let fields = vec![
            ("grant_type", SecretString::from("password")),
            ("scope", SecretString::from(SCOPE)),
            ("username", SecretString::from(self.user.as_str())),
            ("password", self.password.clone()),
        ];
        let request = Request::post_form(self.engine.token(), fields).accept_json();
        let reply = self.http.send(request).await.map_err(failed)?;
        let refused = |answer: String| Error::Login { engine: self.engine.host(), user: self.user.clone(), answer };
        match reply.status() {
            200 | 400 | 401 | 403 if !reply.is_web_page() => {}
            401 => return Err(refused("status 401".to_owned())),
            _ => return Err(failed(reply.refusal())),
        }
        let Grant { access_token, error_code, error, error_description } = reply.json().map_err(failed)?;
        access_token.ok_or_else(|| {
            let said: Vec<String> = [error_code, error, error_description].into_iter().flatten().collect();
            // The engine ends its sentences with one stop, or with two.
            let said = said.join(": ").trim_end_matches('.').to_owned();
            refused(if said.is_empty() { format!("status {}", reply.status()) } else { said })
        })
    }
}
