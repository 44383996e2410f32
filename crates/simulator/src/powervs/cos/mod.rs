//! Object storage, as S3 speaks it, in path style: buckets, objects, and URLs that are signed in advance.

mod access;
mod buckets;
mod objects;
mod signature;
mod xml;

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::call::Call;
use super::cloud::Cloud;
use super::reply::{Answer, Refusal};
use crate::core::{Instant, Response};

/// A bucket and what is in it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Bucket {
    pub(super) name: String,
    /// The instance of object storage that it belongs to.
    pub(super) instance: String,
    pub(super) region: String,
    /// The region and how its objects are kept, as whoever made it put it.
    pub(super) location: String,
    /// Whether everybody may read it.
    pub(super) public: bool,
    /// Whether it holds every machine image that anybody asks for.
    pub(super) all_images: bool,
    pub(super) created: Instant,
    pub(super) objects: BTreeMap<String, Object>,
}

/// An object.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Object {
    #[serde(with = "encoded")]
    pub(super) content: Bytes,
    pub(super) kind: String,
    pub(super) tag: String,
    pub(super) updated: Instant,
    /// `x-amz-meta-` headers, which come back.
    pub(super) metadata: Vec<(String, String)>,
}

/// Contents in the state file.
mod encoded {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use bytes::Bytes;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Bytes::from).map_err(serde::de::Error::custom)
    }
}

pub(super) fn answer(cloud: &mut Cloud, call: &Call) -> Answer {
    let caller = access::caller(cloud, call)?;
    match call.path.as_slice() {
        [] if call.method == "GET" => buckets::list(cloud, call, &caller),
        [] => Err(Refusal::new(405, "MethodNotAllowed", "The specified method is not allowed against this resource.")),
        [bucket] => buckets::answer(cloud, call, &caller, bucket),
        [bucket, key @ ..] => {
            let mut key = key.join("/");
            if call.raw_path.ends_with('/') {
                key.push('/');
            }
            objects::answer(cloud, call, &caller, bucket, &key)
        }
    }
}

/// A refusal as S3 writes it.
pub(super) fn refusal(refusal: &Refusal, trace: &str) -> Response {
    let code = match (refusal.status, refusal.code.as_str()) {
        (401 | 403, "not_authenticated" | "not_authorized") => "AccessDenied",
        (404, "not_found") => "NoSuchKey",
        (409, "conflict") => "OperationAborted",
        (429, _) => "SlowDown",
        (500.., _) => "InternalError",
        (_, code) => code,
    };
    let status = if code == "AccessDenied" { 403 } else { refusal.status };
    let body = xml::Element::new("Error")
        .text("Code", code)
        .text("Message", &refusal.message)
        .text("RequestId", trace)
        .text("httpStatusCode", &status.to_string());
    body.reply(status)
}

/// Why an image cannot be imported from here, if it cannot.
pub(super) fn flaw(
    cloud: &Cloud,
    region: &str,
    bucket: &str,
    key: &str,
    keys: (Option<&str>, Option<&str>),
) -> Option<String> {
    let Some(own) = cloud.state.buckets.get(bucket).filter(|own| own.region == region) else {
        return Some(format!("bucket {bucket} was not found in region {region}"));
    };
    let may_read = match keys {
        (Some(access), Some(secret)) => cloud.state.resource_keys.values().any(|key| {
            key.access_key.as_deref() == Some(access)
                && key.secret_key.as_deref() == Some(secret)
                && key.source == own.instance
        }),
        _ => own.public,
    };
    if !may_read {
        return Some(format!("access to bucket {bucket} was denied"));
    }
    let exists = own.objects.contains_key(key) || (own.all_images && key.ends_with(".ova.gz"));
    (!exists).then(|| format!("object {key} was not found in bucket {bucket}"))
}
