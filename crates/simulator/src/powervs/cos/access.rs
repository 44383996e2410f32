//! Who asks, and whether they may.

use std::time::Duration;

use super::Bucket;
use super::signature::Signed;
use crate::core::Injection;
use crate::powervs::call::Call;
use crate::powervs::cloud::Cloud;
use crate::powervs::iam;
use crate::powervs::reply::Refusal;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// The owner of the account, with a token of IAM.
    Owner,
    /// Whoever has the secrets of a key to an instance.
    Key { instance: String },
    /// Somebody.
    Nobody,
}

impl Caller {
    /// Whether they may change what is in a bucket.
    pub(super) fn may_write(&self, bucket: &Bucket) -> Result<(), Refusal> {
        match self {
            Self::Owner => Ok(()),
            Self::Key { instance } if *instance == bucket.instance => Ok(()),
            _ => Err(denied("Access Denied")),
        }
    }

    /// Whether they may read what is in a bucket.
    pub(super) fn may_read(&self, bucket: &Bucket) -> Result<(), Refusal> {
        if bucket.public { Ok(()) } else { self.may_write(bucket) }
    }
}

pub(super) fn denied(message: &str) -> Refusal {
    Refusal::new(403, "AccessDenied", message)
}

pub(super) fn caller(cloud: &mut Cloud, call: &Call) -> Result<Caller, Refusal> {
    if call.bearer().is_some() {
        iam::authenticate(cloud, call).map_err(|refusal| denied(&refusal.message))?;
        return Ok(Caller::Owner);
    }
    let signed = Signed::of(call).map_err(|reason| Refusal::new(400, "AuthorizationHeaderMalformed", reason))?;
    let Some(signed) = signed else { return Ok(Caller::Nobody) };
    if call.injection == Some(Injection::TokenExpired) || expired(cloud, &signed)? {
        return Err(denied("Request has expired"));
    }
    let key = cloud.state.resource_keys.values().find(|key| key.access_key.as_deref() == Some(&signed.access_key));
    let Some(key) = key else {
        let message = "The AWS Access Key Id you provided does not exist in our records.";
        return Err(Refusal::new(403, "InvalidAccessKeyId", message));
    };
    let secret = key.secret_key.as_deref().unwrap_or_default();
    if !signed.is_made_with(secret, call) {
        let message = "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.";
        return Err(Refusal::new(403, "SignatureDoesNotMatch", message));
    }
    Ok(Caller::Key { instance: key.source.clone() })
}

/// Whether a signature in a URL is too old. Its time is that of the clock on somebody's wall, which the simulated clock is a
/// multiple of; with a clock that is stepped, the two have nothing to do with each other, and a time that is still to come is
/// taken for the present.
fn expired(cloud: &Cloud, signed: &Signed) -> Result<bool, Refusal> {
    let Some(expires) = signed.expires else { return Ok(false) };
    if !(1..=604_800).contains(&expires) {
        let message = "X-Amz-Expires must be from one second to seven days";
        return Err(Refusal::new(400, "AuthorizationQueryParametersError", message));
    }
    let made = jiff::fmt::strtime::parse("%Y%m%dT%H%M%S%z", signed.time.replace('Z', "+0000"));
    let made = made.and_then(|made| made.to_timestamp());
    let made = made.map_err(|_| Refusal::new(400, "AuthorizationQueryParametersError", "X-Amz-Date is no time"))?;
    let since_start = made.duration_since(cloud.state.epoch).as_secs_f64();
    let made = since_start * cloud.options.scale().unwrap_or(1.0);
    let age = cloud.state.now.0.as_secs_f64() - made;
    Ok(age > Duration::from_secs(expires).as_secs_f64())
}
