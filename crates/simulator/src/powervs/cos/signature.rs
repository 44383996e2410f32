//! AWS Signature Version 4, in headers and in queries.

use aws_lc_rs::{digest, hmac};

use crate::core::hex;
use crate::powervs::call::Call;

/// What a signature says about itself.
#[derive(Debug)]
pub(super) struct Signed {
    pub(super) access_key: String,
    date: String,
    region: String,
    service: String,
    headers: Vec<String>,
    signature: String,
    /// The time at which it was made, as `20240101T000000Z`.
    pub(super) time: String,
    /// How long it is good for, if it is in the query.
    pub(super) expires: Option<u64>,
    payload: String,
}

const UNSIGNED: &str = "UNSIGNED-PAYLOAD";

impl Signed {
    /// The signature of a request, if it has one; an error if it has one that cannot be read.
    pub(super) fn of(call: &Call) -> Result<Option<Self>, &'static str> {
        if call.has_query("X-Amz-Signature") {
            return Self::in_query(call).map(Some).ok_or("the signature in the query is incomplete");
        }
        match call.header("authorization") {
            Some(header) if header.starts_with("AWS4-HMAC-SHA256") => {
                Self::in_header(call, header).map(Some).ok_or("the header Authorization is malformed")
            }
            _ => Ok(None),
        }
    }

    fn in_query(call: &Call) -> Option<Self> {
        let (access_key, date, region, service) = scope(call.query("X-Amz-Credential")?)?;
        Some(Self {
            access_key,
            date,
            region,
            service,
            headers: call.query("X-Amz-SignedHeaders")?.split(';').map(str::to_owned).collect(),
            signature: call.query("X-Amz-Signature")?.to_owned(),
            time: call.query("X-Amz-Date")?.to_owned(),
            expires: Some(call.query("X-Amz-Expires")?.parse().ok()?),
            payload: call.header("x-amz-content-sha256").unwrap_or(UNSIGNED).to_owned(),
        })
    }

    fn in_header(call: &Call, header: &str) -> Option<Self> {
        let fields =
            header.trim_start_matches("AWS4-HMAC-SHA256").split(',').filter_map(|field| field.trim().split_once('='));
        let fields: Vec<(&str, &str)> = fields.collect();
        let field = |name: &str| fields.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
        let (access_key, date, region, service) = scope(field("Credential")?)?;
        Some(Self {
            access_key,
            date,
            region,
            service,
            headers: field("SignedHeaders")?.split(';').map(str::to_owned).collect(),
            signature: field("Signature")?.to_owned(),
            time: call.header("x-amz-date")?.to_owned(),
            expires: None,
            payload: call.header("x-amz-content-sha256")?.to_owned(),
        })
    }

    /// Whether it was made with a secret, over this request.
    pub(super) fn is_made_with(&self, secret: &str, call: &Call) -> bool {
        let sent = hex::encode(digest::digest(&digest::SHA256, &call.body).as_ref());
        let is_digest = self.payload.len() == 64;
        if is_digest && self.payload != sent {
            return false;
        }
        // Some sign the payload of a URL with its digest, and nobody can know that.
        let query = canonical_query(&call.raw_query);
        let headers: Vec<String> = self
            .headers
            .iter()
            .map(|name| {
                let values = call.headers.iter().filter(|(own, _)| own == name).map(|(_, value)| squeeze(value));
                format!("{name}:{}\n", values.collect::<Vec<_>>().join(","))
            })
            .collect();
        let request = [
            call.method.as_str(),
            &canonical_path(&call.raw_path),
            &query,
            &headers.concat(),
            &self.headers.join(";"),
            &self.payload,
        ]
        .join("\n");
        let scope = format!("{}/{}/{}/aws4_request", self.date, self.region, self.service);
        let digest = hex::encode(digest::digest(&digest::SHA256, request.as_bytes()).as_ref());
        let text = format!("AWS4-HMAC-SHA256\n{}\n{scope}\n{digest}", self.time);
        let mut key = sign(format!("AWS4{secret}").as_bytes(), &self.date);
        for part in [&self.region, &self.service, "aws4_request"] {
            key = sign(key.as_ref(), part);
        }
        hex::encode(sign(key.as_ref(), &text).as_ref()) == self.signature
    }
}

fn sign(key: &[u8], text: &str) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes())
}

fn scope(credential: &str) -> Option<(String, String, String, String)> {
    let parts: Vec<&str> = credential.rsplitn(5, '/').collect();
    let ["aws4_request", service, region, date, key] = parts.as_slice() else { return None };
    Some(((*key).to_owned(), (*date).to_owned(), (*region).to_owned(), (*service).to_owned()))
}

fn squeeze(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The path as it was sent: object storage does not encode it twice.
fn canonical_path(path: &str) -> String {
    if path.is_empty() { "/".to_owned() } else { path.to_owned() }
}

/// The query without the signature, encoded and sorted.
fn canonical_query(query: &str) -> String {
    let mut pairs: Vec<(String, String)> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (recode(name), recode(value)))
        .filter(|(name, _)| name != "X-Amz-Signature")
        .collect();
    pairs.sort();
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

/// Text that may be encoded, encoded as signatures want it.
fn recode(text: &str) -> String {
    let plain = crate::core::percent::percent_decode(&text.replace('+', " "));
    plain
        .bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::powervs::call::tests::request;

    /// The example of a URL that is signed in advance in the documentation of S3.
    #[test]
    fn the_documented_example_is_right() {
        let query = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";
        let mut request = request("GET", "/test.txt", query, "");
        request.headers.push(("host".to_owned(), "examplebucket.s3.amazonaws.com".to_owned()));
        let call = Call::read(&request).unwrap();
        let signed = Signed::of(&call).unwrap().unwrap();
        assert_eq!((signed.access_key.as_str(), signed.expires), ("AKIAIOSFODNN7EXAMPLE", Some(86400)));
        assert!(signed.is_made_with("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", &call));
        assert!(!signed.is_made_with("another", &call));
    }

    #[test]
    fn what_is_not_signed_has_no_signature() {
        let call = Call::read(&request("GET", "/cos/a", "", "")).unwrap();
        assert!(Signed::of(&call).unwrap().is_none());
        let call = Call::read(&request("GET", "/cos/a", "X-Amz-Signature=1", "")).unwrap();
        assert!(Signed::of(&call).is_err());
    }
}
