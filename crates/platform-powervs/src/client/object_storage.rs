//! Object storage: a bucket, objects in it, and addresses with which anybody may read one for a while.

use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use landfall_config::powervs::Service;
use landfall_wire::{
    Method, Request,
    aws::{self, Call, Scope},
};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::{Client, ResourceInstance, session::To};
use crate::Error;

/// A bucket of an instance of object storage.
#[derive(Clone, Copy, Debug)]
pub struct Bucket<'a> {
    /// Its name, unique in the world.
    pub name: &'a str,
    /// The instance that it belongs to.
    pub instance: &'a ResourceInstance,
}

/// A key that signs addresses.
#[derive(Clone, Debug)]
pub struct HmacKey(aws::Credentials);

#[derive(Deserialize)]
struct WireKey {
    name: String,
    #[serde(default)]
    credentials: Value,
}

impl WireKey {
    fn hmac(&self) -> Option<HmacKey> {
        let text = |name: &str| self.credentials["cos_hmac_keys"][name].as_str().map(str::to_owned);
        let (key_id, secret_key) = (text("access_key_id")?, text("secret_access_key")?.into());
        Some(HmacKey(aws::Credentials { key_id, secret_key, session_token: None }))
    }
}

impl Client {
    /// The key of an instance of object storage with a name, if it is there.
    pub async fn hmac_key(&self, instance: &ResourceInstance, name: &str) -> Result<Option<HmacKey>, Error> {
        let path = format!("v2/resource_instances/{}/resource_keys", instance.guid);
        let keys: Vec<WireKey> =
            self.pages("listing keys of object storage", To::Resources, &path, "resources").await?;
        Ok(keys.iter().filter(|key| key.name == name).find_map(WireKey::hmac))
    }

    /// Makes a key of an instance of object storage that may read what is in it.
    pub async fn create_hmac_key(&self, instance: &ResourceInstance, name: &str) -> Result<Option<HmacKey>, Error> {
        let body = json!({"name": name, "source": instance.crn, "role": "Reader", "parameters": {"HMAC": true}});
        let made: WireKey =
            self.post("making a key of object storage", To::Resources, "v2/resource_keys", &body).await?;
        Ok(made.hmac())
    }

    /// Makes a bucket. That it is there already and ours is as good.
    pub async fn ensure_bucket(&self, bucket: Bucket<'_>) -> Result<(), Error> {
        let url = self.object_url(bucket.name, "");
        let request =
            || Request::put(url.clone(), Bytes::new()).header("ibm-service-instance-id", &bucket.instance.guid);
        match self.store(&format!("making bucket {}", bucket.name), request).await {
            Err(Error::Fault { fault, .. }) if fault.code.as_deref() == Some("BucketAlreadyOwnedByYou") => Ok(()),
            done => done.map(drop),
        }
    }

    /// Puts an object into a bucket.
    pub async fn put_object(&self, bucket: &str, key: &str, contents: Bytes) -> Result<(), Error> {
        let url = self.object_url(bucket, key);
        self.store(&format!("putting {key} into bucket {bucket}"), || Request::put(url.clone(), contents.clone()))
            .await
            .map(drop)
    }

    /// Whether a bucket that everybody may read has an object; nothing if it cannot be told.
    pub async fn has_public_object(&self, bucket: &str, key: &str) -> Option<bool> {
        let url = self.object_url(bucket, key);
        let request = || Request::bare(Method::HEAD, url.clone());
        match self.store(&format!("looking for {key} in bucket {bucket}"), request).await {
            Ok(_) => Some(true),
            Err(error) if error.is_gone() => Some(false),
            Err(_) => None,
        }
    }

    /// Deletes an object.
    pub async fn delete_object(&self, bucket: &str, key: &str) -> Result<(), Error> {
        self.clear(&format!("deleting {key} from bucket {bucket}"), self.object_url(bucket, key)).await
    }

    /// The names of the objects in a bucket, as far as one answer holds them; none if there is no such bucket.
    pub async fn objects(&self, bucket: &str) -> Result<Vec<String>, Error> {
        let mut url = self.object_url(bucket, "");
        url.set_query(Some("list-type=2"));
        let listed = self.store(&format!("listing bucket {bucket}"), || Request::get(url.clone())).await;
        let text = match listed {
            Err(error) if error.is_gone() => return Ok(Vec::new()),
            listed => String::from_utf8_lossy(listed?.contents()).into_owned(),
        };
        let keys = text.split("<Key>").skip(1).filter_map(|rest| rest.split_once("</Key>"));
        Ok(keys.map(|(key, _)| key.to_owned()).collect())
    }

    /// Deletes a bucket that is empty.
    pub async fn delete_bucket(&self, bucket: &str) -> Result<(), Error> {
        self.clear(&format!("deleting bucket {bucket}"), self.object_url(bucket, "")).await
    }

    /// An address with which anybody may read an object for a while. It is a secret.
    pub fn presigned(&self, bucket: &str, key: &str, signer: &HmacKey, lifetime: Duration) -> Url {
        let scope = Scope { region: &self.place().cos_region, service: "s3" };
        let url = self.object_url(bucket, key);
        let call = Call { method: "GET", url: &url, body: &[], at: Timestamp::now(), scope };
        aws::presigned(&call, lifetime, &signer.0)
    }

    async fn clear(&self, attempt: &str, url: Url) -> Result<(), Error> {
        match self.store(attempt, || Request::delete(url.clone())).await {
            Err(error) if error.is_gone() => Ok(()),
            done => done.map(drop),
        }
    }

    fn object_url(&self, bucket: &str, key: &str) -> Url {
        let mut url = self.endpoint(Service::Cos);
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&if key.is_empty() { format!("{base}/{bucket}") } else { format!("{base}/{bucket}/{key}") });
        url
    }
}
