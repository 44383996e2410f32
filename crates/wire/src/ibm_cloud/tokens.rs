//! Tokens: an API key is exchanged for one, and for another before it runs out.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::Value;
use tokio::{sync::Mutex, time::Instant};
use url::Url;

use super::{Error, Fault};
use crate::{Client, Request};

/// Tokens are renewed when so much of their life is over, as IBM's own clients do it.
const RENEW_AT: f64 = 0.8;

/// The tokens for one API key.
#[derive(Debug)]
pub(super) struct Tokens {
    iam: Url,
    api_key: SecretString,
    current: Mutex<Option<Token>>,
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) text: SecretString,
    renew_at: Instant,
}

#[derive(Deserialize)]
struct Answer {
    access_token: SecretString,
    #[serde(default)]
    expires_in: u64,
}

impl Tokens {
    pub(super) fn new(iam: Url, api_key: SecretString) -> Self {
        Self { iam, api_key, current: Mutex::default() }
    }

    /// A token that is good for a while.
    pub(super) async fn token(&self, http: &Client) -> Result<Token, Error> {
        let mut current = self.current.lock().await;
        if let Some(token) = current.as_ref().filter(|token| Instant::now() < token.renew_at) {
            return Ok(token.clone());
        }
        Ok(current.insert(self.exchange(http).await?).clone())
    }

    /// A token in the place of one that a service refused. Of many who come with the same, the first makes the exchange.
    pub(super) async fn another(&self, http: &Client, refused: &Token) -> Result<Token, Error> {
        let mut current = self.current.lock().await;
        let same = |token: &&mut Token| token.text.expose_secret() != refused.text.expose_secret();
        if let Some(token) = current.as_mut().filter(same) {
            return Ok(token.clone());
        }
        Ok(current.insert(self.exchange(http).await?).clone())
    }

    async fn exchange(&self, http: &Client) -> Result<Token, Error> {
        let mut url = self.iam.clone();
        url.set_path(&format!("{}/identity/token", url.path().trim_end_matches('/')));
        let fields = vec![
            ("grant_type", "urn:ibm:params:oauth:grant-type:apikey".into()),
            ("response_type", "cloud_iam".into()),
            ("apikey", self.api_key.clone()),
        ];
        let began = Instant::now();
        let reply = http.send(Request::post_form(url, fields).accept_json()).await?;
        if reply.status() >= 300 {
            return Err(match reply.status() {
                500.. => Error::Exchange(reply.refusal()),
                _ => Error::Key(Fault::of(&reply)),
            });
        }
        let Answer { access_token, expires_in } = reply.json()?;
        let life = Duration::from_secs(expires_in).mul_f64(RENEW_AT);
        Ok(Token { text: access_token, renew_at: began + life })
    }
}

impl Token {
    /// The account that it is for, which stands in it. Only services can verify a token, and they do.
    pub(super) fn account(&self) -> Result<String, Error> {
        let claims =
            self.text.expose_secret().split('.').nth(1).and_then(|part| BASE64_URL_SAFE_NO_PAD.decode(part).ok());
        let claims: Value = claims.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        claims["account"]["bss"].as_str().map(str::to_owned).ok_or(Error::NoAccount)
    }
}
