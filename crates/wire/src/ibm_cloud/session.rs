//! Requests in the name of an account.

use secrecy::SecretString;
use url::Url;

use super::{Error, tokens::Tokens};
use crate::{Client, Reply, Request};

/// How often a service may refuse a token before it is believed: one that others have just renewed may have run out, too.
const RENEWALS: usize = 3;

/// Sends requests with a token that is good, and renews it when it is not: callers never see one run out.
#[derive(Debug)]
pub struct Session {
    http: Client,
    tokens: Tokens,
}

impl Session {
    /// A session that has not talked to anybody yet.
    pub fn new(http: Client, iam: Url, api_key: SecretString) -> Self {
        Self { http, tokens: Tokens::new(iam, api_key) }
    }

    /// The account that the API key belongs to.
    pub async fn account(&self) -> Result<String, Error> {
        self.tokens.token(&self.http).await?.account()
    }

    /// Sends a request. A service that does not take the token any more gets another one.
    pub async fn send(&self, request: impl Fn() -> Request) -> Result<Reply, Error> {
        self.send_unless(request, |status| status == 401).await
    }

    /// Sends a request to a service that says in words of its own that it does not take the token any more: `is_refusal` knows by
    /// which status.
    pub async fn send_unless(
        &self,
        request: impl Fn() -> Request,
        is_refusal: impl Fn(u16) -> bool,
    ) -> Result<Reply, Error> {
        let mut token = self.tokens.token(&self.http).await?;
        for _ in 0..RENEWALS {
            let reply = self.http.send(request().bearer(&token.text)).await?;
            if !is_refusal(reply.status()) {
                return Ok(reply);
            }
            token = self.tokens.another(&self.http, &token).await?;
        }
        Ok(self.http.send(request().bearer(&token.text)).await?)
    }

    /// Sends a request that needs nobody's name.
    pub async fn send_plain(&self, request: Request) -> Result<Reply, Error> {
        Ok(self.http.send(request).await?)
    }
}
