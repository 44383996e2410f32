//! A bucket of an object store that speaks S3.
//!
//! Objects are private to whoever has rights to the bucket; machines get links that are signed, hold one object each, and
//! expire. Buckets are named in paths, which every store understands.

use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use landfall_platform::Environment;
use landfall_wire::{
    Client, Limits, Method, Reply, Request, Trust,
    aws::{self, Call, Credentials, NoCredentials, Scope},
};
use url::Url;

/// Where a bucket is.
#[derive(Clone, Copy, Debug)]
pub struct BucketPlace<'a> {
    /// The object store; nothing is Amazon's own in the region.
    pub endpoint: Option<&'a Url>,
    /// The region.
    pub region: &'a str,
    /// The bucket.
    pub name: &'a str,
}

/// A bucket.
#[derive(Debug)]
pub struct Bucket {
    client: Client,
    /// What the paths of objects begin with.
    base: Url,
    region: String,
    credentials: Credentials,
}

/// Why a bucket cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BucketError {
    /// There are no credentials.
    #[error("there are no credentials for the object store: {0}")]
    Credentials(#[from] NoCredentials),
    /// It has no address.
    #[error("'{0}' is not the URL of an object store")]
    Address(String),
    /// No answer.
    #[error("{attempt} at {store} failed")]
    Exchange {
        /// What was attempted.
        attempt: String,
        /// Which store.
        store: String,
        /// How.
        #[source]
        source: Box<landfall_wire::Error>,
    },
    /// The store refused.
    #[error(
        "{attempt} at {store} was answered with status {status} {code}: check the bucket's name, and what the keys may do"
    )]
    Refused {
        /// What was attempted.
        attempt: String,
        /// Which store.
        store: String,
        /// The status.
        status: u16,
        /// The store's word for it.
        code: String,
    },
}

impl Bucket {
    /// A bucket that has not been talked to yet. Credentials are those of the usual AWS variables and files.
    pub fn new(place: &BucketPlace<'_>, environment: &Environment, trust: &Trust) -> Result<Self, BucketError> {
        let own = format!("https://s3.{}.amazonaws.com", place.region);
        let store = place.endpoint.map_or(own.as_str(), Url::as_str).trim_end_matches('/');
        let base = format!("{store}/{}/", place.name);
        let base = base.parse().map_err(|_| BucketError::Address(store.to_owned()))?;
        let client = Client::new(trust, Limits::default()).map_err(|source| BucketError::Exchange {
            attempt: "preparing to talk".to_owned(),
            store: store.to_owned(),
            source: Box::new(source),
        })?;
        Ok(Self { client, base, region: place.region.to_owned(), credentials: Credentials::find(environment)? })
    }

    /// Puts an object there, in place of one with the same key.
    pub async fn put(&self, key: &str, contents: Bytes) -> Result<(), BucketError> {
        let attempt = format!("putting {key} into the bucket");
        let request = Request::put(self.url(key), contents.clone());
        self.call(&attempt, Method::PUT, key, &contents, request).await.map(drop)
    }

    /// Removes an object. That it is gone already is as good.
    pub async fn remove(&self, key: &str) -> Result<(), BucketError> {
        let attempt = format!("removing {key} from the bucket");
        let request = Request::delete(self.url(key));
        match self.call(&attempt, Method::DELETE, key, b"", request).await {
            Err(BucketError::Refused { status: 404, .. }) => Ok(()),
            done => done.map(drop),
        }
    }

    /// A link by which everybody can read an object until it expires.
    pub fn link(&self, key: &str, lifetime: Duration) -> Url {
        let url = self.url(key);
        let call = Call { method: "GET", url: &url, body: b"", at: Timestamp::now(), scope: self.scope() };
        aws::presigned(&call, lifetime, &self.credentials)
    }

    async fn call(
        &self,
        attempt: &str,
        method: Method,
        key: &str,
        body: &[u8],
        request: Request,
    ) -> Result<Reply, BucketError> {
        let url = self.url(key);
        let call = Call { method: method.as_str(), url: &url, body, at: Timestamp::now(), scope: self.scope() };
        let signed = aws::sign(&call, &self.credentials);
        let request = signed.into_iter().fold(request, |request, (name, value)| request.secret_header(name, &value));
        let reply = self.client.send(request).await.map_err(|source| BucketError::Exchange {
            attempt: attempt.to_owned(),
            store: self.store(),
            source: Box::new(source),
        })?;
        match reply.status() {
            200..=299 => Ok(reply),
            status => {
                let text = String::from_utf8_lossy(reply.contents()).into_owned();
                let code = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
                let code = code.map(|(code, _)| code.to_owned()).unwrap_or_default();
                Err(BucketError::Refused { attempt: attempt.to_owned(), store: self.store(), status, code })
            }
        }
    }

    fn scope(&self) -> Scope<'_> {
        Scope { region: &self.region, service: "s3" }
    }

    fn url(&self, key: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{key}", self.base.path()));
        url
    }

    fn store(&self) -> String {
        self.base.origin().ascii_serialization()
    }
}
