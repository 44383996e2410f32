//! Single sign-on: tokens, and who they belong to.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::api::params::Params;
use super::delays;
use super::http::{self, header};
use super::state::State;
use super::table::Id;
use crate::core::{Instant, Request, Response};

/// The scope without which a token is of no use to the API.
const API_SCOPE: &str = "ovirt-app-api";

/// The grant that takes the credentials from the request's own authentication.
const HTTP_GRANT: &str = "urn:ovirt:params:oauth:grant-type:http";

/// What an expired or unknown token is answered with; clients look for these words.
pub(crate) const EXPIRED: &str = "invalid_grant: The provided authorization grant for the auth code has expired.";

/// The tokens that were issued.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sessions(BTreeMap<String, Session>);

/// How many tokens there may be before those that are no longer good are looked for.
const MANY: usize = 1024;

#[derive(Debug, Serialize, Deserialize)]
struct Session {
    user: Id,
    issued: Instant,
    used: Instant,
}

impl Sessions {
    /// The user of a token, if it is still good. Using it keeps it alive.
    pub(crate) fn user(&mut self, token: &str, now: Instant) -> Option<Id> {
        let session = self.0.get_mut(token)?;
        if !session.is_good(now) {
            self.0.remove(token);
            return None;
        }
        session.used = now;
        Some(session.user)
    }

    /// How many users have a token.
    pub(crate) fn users(&self) -> usize {
        self.0.values().map(|session| session.user).collect::<std::collections::BTreeSet<_>>().len()
    }

    /// Forgets a token.
    pub(crate) fn revoke(&mut self, token: &str) -> bool {
        self.0.remove(token).is_some()
    }

    /// Forgets the tokens of a user.
    pub(crate) fn revoke_user(&mut self, user: Id) {
        self.0.retain(|_, session| session.user != user);
    }

    /// Forgets all tokens: for tests of clients.
    pub(crate) fn revoke_all(&mut self) -> usize {
        let count = self.0.len();
        self.0.clear();
        count
    }
}

impl Session {
    fn is_good(&self, now: Instant) -> bool {
        let age = |since: Instant| now.0.saturating_sub(since.0);
        age(self.issued) <= delays::TOKEN_LIFETIME && age(self.used) <= delays::SESSION_IDLE
    }
}

/// Issues a token for a user.
pub(crate) fn open_session(state: &mut State, user: Id) -> String {
    let token = state.new_secret();
    let now = state.now;
    if state.sessions.0.len() >= MANY && state.sessions.0.len().is_power_of_two() {
        state.sessions.0.retain(|_, session| session.is_good(now));
    }
    state.sessions.0.insert(token.clone(), Session { user, issued: now, used: now });
    token
}

/// A refusal: the code and the text.
struct Refusal(&'static str, String);

/// Answers a request under `/ovirt-engine/sso`.
pub(crate) fn handle(state: &mut State, request: &Request, path: &str) -> Response {
    let params = form(request);
    let scope = params.get("scope").unwrap_or_default().to_owned();
    let answer = match (request.method.as_str(), path) {
        ("POST" | "GET", "/oauth/token") => token(state, &params, request),
        ("POST" | "GET", "/oauth/token-http-auth") => http_token(state, &params, request),
        ("POST", "/oauth/revoke") => {
            state.sessions.revoke(params.get("token").unwrap_or_default());
            Ok(json!({}))
        }
        ("POST", "/oauth/token-info") => token_info(state, &params),
        ("GET", "/oauth/authorize") => return http::redirect("/ovirt-engine/"),
        ("GET", "/status") => return http::text(200, "DB Up!Welcome to Health Status!"),
        _ => return http::html(404, "Not Found", "The requested page does not exist."),
    };
    match answer {
        Ok(body) => http::json(200, &body),
        Err(Refusal(code, text)) if scope.contains(API_SCOPE) => {
            http::json(400, &json!({ "error_code": code, "error": text }))
        }
        Err(Refusal(code, text)) => http::json(400, &json!({ "error": code, "error_description": text })),
    }
}

/// Answers `services/sso-logout`: always 200.
pub(crate) fn logout(state: &mut State, request: &Request) -> Response {
    let params = form(request);
    let body = match params.get("token") {
        Some(token) if state.sessions.revoke(token) => json!({}),
        Some(_) => json!({ "error_code": "invalid_grant", "error": EXPIRED }),
        None => json!({ "error_code": "invalid_request", "error": "Missing parameter: 'token'" }),
    };
    http::json(200, &body)
}

fn form(request: &Request) -> Params {
    let mut params = Params::from_query(&String::from_utf8_lossy(&request.body));
    for (name, value) in url::form_urlencoded::parse(request.query.as_bytes()) {
        params.push(&name, &value);
    }
    params
}

fn token(state: &mut State, params: &Params, request: &Request) -> Result<serde_json::Value, Refusal> {
    match params.get("grant_type") {
        Some("password") => {
            let username = required(params, "username")?;
            let password = required(params, "password")?;
            let user = authenticate(state, username, password)?;
            grant(state, params, user)
        }
        Some(HTTP_GRANT) => http_token(state, params, request),
        Some(_) => Err(Refusal(
            "unsupported_grant_type",
            "The authorization grant type is not supported by the authorization server.".into(),
        )),
        None => Err(Refusal("invalid_request", "Missing parameter: 'grant_type'".into())),
    }
}

fn http_token(state: &mut State, params: &Params, request: &Request) -> Result<serde_json::Value, Refusal> {
    let credentials = header(request, "authorization").and_then(basic);
    let (username, password) =
        credentials.ok_or_else(|| Refusal("access_denied", "No valid authentication mechanism found.".into()))?;
    let user = authenticate(state, &username, &password)?;
    grant(state, params, user)
}

fn required<'p>(params: &'p Params, name: &str) -> Result<&'p str, Refusal> {
    params.get(name).ok_or_else(|| Refusal("invalid_request", format!("Missing parameter: '{name}'")))
}

/// The user with these credentials.
fn authenticate(state: &State, username: &str, password: &str) -> Result<Id, Refusal> {
    if username.is_empty() {
        return Err(Refusal("access_denied", "No user name found in credentials.".into()));
    }
    if !username.contains('@') {
        return Err(Refusal("access_denied", "No valid profile found in credentials.".into()));
    }
    check(state, username, password).ok_or_else(|| {
        let text = "Unable to log in. Verify your login information or contact the system administrator.";
        Refusal("access_denied", format!("Cannot authenticate user '{username}': {text}."))
    })
}

fn check(state: &State, username: &str, password: &str) -> Option<Id> {
    let user = state.users.iter().find(|user| *user.login == *username)?;
    (*user.password == *password).then_some(user.id)
}

fn grant(state: &mut State, params: &Params, user: Id) -> Result<serde_json::Value, Refusal> {
    let scope = params.get("scope").unwrap_or_default();
    if !scope.split_whitespace().any(|part| part == API_SCOPE) {
        let text = format!("The requested scope '{scope}' is invalid, unknown, or malformed.");
        return Err(Refusal("invalid_scope", text));
    }
    let expires = state.timestamp(state.after(delays::TOKEN_LIFETIME)).as_millisecond();
    let scope = scope.to_owned();
    let token = open_session(state, user);
    Ok(json!({ "access_token": token, "scope": scope, "exp": expires.to_string(), "token_type": "bearer" }))
}

fn token_info(state: &mut State, params: &Params) -> Result<serde_json::Value, Refusal> {
    let now = state.now;
    let user = state.sessions.user(params.get("token").unwrap_or_default(), now);
    let user = user.and_then(|user| state.users.get(user)).ok_or_else(|| Refusal("invalid_grant", EXPIRED.into()))?;
    Ok(json!({ "active": true, "user_id": user.login, "token_type": "bearer" }))
}

/// How a request of the API says who sends it.
pub(crate) enum Caller {
    /// A user; a session that began with this request has a token to be set as a cookie.
    User(Id, Option<String>),
    /// Nobody, and why.
    Nobody(&'static str),
}

/// Finds out who sends a request of the API.
pub(crate) fn caller(state: &mut State, request: &Request) -> Caller {
    let now = state.now;
    let prefers = |wanted: &str| header(request, "prefer").is_some_and(|value| value.contains(wanted));
    if let Some(cookie) = cookie(request).filter(|_| !prefers("new-auth"))
        && let Some(user) = state.sessions.user(&cookie, now)
    {
        return Caller::User(user, None);
    }
    let Some(authorization) = header(request, "authorization") else {
        return Caller::Nobody("Authentication required.");
    };
    if let Some(token) = strip_scheme(authorization, "bearer") {
        return state.sessions.user(token, now).map_or(Caller::Nobody(EXPIRED), |user| Caller::User(user, None));
    }
    match basic(authorization).and_then(|(username, password)| check(state, &username, &password)) {
        Some(user) => {
            let session = prefers("persistent-auth").then(|| open_session(state, user));
            Caller::User(user, session)
        }
        None => Caller::Nobody("access_denied: Cannot authenticate user: Invalid credentials."),
    }
}

fn cookie(request: &Request) -> Option<String> {
    let cookies = header(request, "cookie")?;
    cookies.split(';').find_map(|cookie| cookie.trim().strip_prefix("JSESSIONID=")).map(str::to_owned)
}

fn strip_scheme<'v>(value: &'v str, scheme: &str) -> Option<&'v str> {
    let (given, rest) = value.split_once(' ')?;
    given.eq_ignore_ascii_case(scheme).then(|| rest.trim())
}

/// User and password of basic authentication.
fn basic(authorization: &str) -> Option<(String, String)> {
    let decoded = STANDARD.decode(strip_scheme(authorization, "basic")?).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    text.split_once(':').map(|(user, password)| (user.to_owned(), password.to_owned()))
}
