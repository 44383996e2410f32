//! Asking a server whether it is well. Nothing secret is sent and nothing that is said is trusted, so nobody's identity is
//! checked.

use std::time::Duration;

use landfall_wire::{Client, Limits, Request, Trust};
use url::Url;

use crate::Error;

/// Asks servers whether they are well.
#[derive(Clone, Debug)]
pub struct Probe {
    client: Client,
}

impl Probe {
    /// One that waits for an answer for no longer than this.
    pub fn new(patience: Duration) -> Result<Self, Error> {
        let limits = Limits { connect: patience, exchange: patience, answer: 1 << 20 };
        let client = Client::new(&Trust::Unverified, limits).map_err(|source| Error::Request {
            attempt: "preparing to call servers".into(),
            source: Box::new(source),
        })?;
        Ok(Self { client })
    }

    /// The status with which a URL answers.
    pub async fn status(&self, url: &str) -> Result<u16, Error> {
        let parsed = Url::parse(url).map_err(|error| Error::NotYet(format!("{url} is not a URL: {error}")))?;
        let reply = self.client.send(Request::get(parsed)).await;
        reply
            .map(|reply| reply.status())
            .map_err(|source| Error::Request { attempt: format!("asking {url}"), source: Box::new(source) })
    }

    /// Whether a URL answers that all is well.
    pub async fn is_well(&self, url: &str) -> bool {
        self.status(url).await.is_ok_and(|status| status == 200)
    }
}
