//! Signature version 4 of AWS. Pure.

use aws_lc_rs::{
    digest::{SHA256, digest},
    hmac,
};
use jiff::{Timestamp, tz::TimeZone};
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use super::credentials::Credentials;

/// Route 53 is one service for the whole world, and its signatures name this region.
const SCOPE: &str = "us-east-1/route53/aws4_request";
const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// What is signed.
pub(super) struct Call<'a> {
    pub(super) method: &'a str,
    /// With a query as [`query`] writes it.
    pub(super) url: &'a Url,
    pub(super) body: &'a str,
    pub(super) at: Timestamp,
}

/// The headers of a signed call.
pub(super) fn sign(call: &Call<'_>, credentials: &Credentials) -> Vec<(&'static str, SecretString)> {
    let utc = call.at.to_zoned(TimeZone::UTC);
    let (day, moment) = (utc.strftime("%Y%m%d").to_string(), utc.strftime("%Y%m%dT%H%M%SZ").to_string());
    let host = match (call.url.host_str().unwrap_or_default(), call.url.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    };
    let mut headers = vec![("host", host), ("x-amz-date", moment.clone())];
    if let Some(token) = &credentials.session_token {
        headers.push(("x-amz-security-token", token.expose_secret().to_owned()));
    }
    let names = headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
    let lines = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect::<Vec<_>>().concat();
    let request = [
        call.method,
        call.url.path(),
        call.url.query().unwrap_or_default(),
        &lines,
        &names,
        &hex(digest(&SHA256, call.body.as_bytes()).as_ref()),
    ]
    .join("\n");
    let to_sign =
        format!("{ALGORITHM}\n{moment}\n{day}/{SCOPE}\n{}", hex(digest(&SHA256, request.as_bytes()).as_ref()));
    let mut key = format!("AWS4{}", credentials.secret_key.expose_secret()).into_bytes();
    for part in std::iter::once(day.as_str()).chain(SCOPE.split('/')) {
        key = mac(&key, part);
    }
    let signature = hex(&mac(&key, &to_sign));
    let authorization = format!(
        "{ALGORITHM} Credential={}/{day}/{SCOPE}, SignedHeaders={names}, Signature={signature}",
        credentials.key_id
    );
    // The host is set by whoever sends.
    let rest = headers.into_iter().filter(|(name, _)| *name != "host").map(|(name, value)| (name, value.into()));
    rest.chain([("authorization", authorization.into())]).collect()
}

/// A query in the one form that is signed: sorted, and everything encoded that is not unreserved.
pub(super) fn query(pairs: &[(&str, &str)]) -> String {
    let mut pairs: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    pairs.sort();
    pairs.join("&")
}

fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => encoded.push(char::from(byte)),
            byte => encoded.extend(['%', upper(byte >> 4), upper(byte & 0xf)]),
        }
        encoded
    })
}

fn upper(nibble: u8) -> char {
    digit(nibble).to_ascii_uppercase()
}

fn digit(nibble: u8) -> char {
    char::from_digit(nibble.into(), 16).unwrap_or_default()
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_have_one_form() {
        assert_eq!(query(&[("name", "*.a.example.com."), ("maxitems", "5")]), "maxitems=5&name=%2A.a.example.com.");
        assert_eq!(hex(&[0, 0x5f, 0xff]), "005fff");
    }

    /// Signatures that botocore 1.44.0 (`SigV4Auth`) made for the same calls at the same time.
    #[test]
    fn signatures_are_those_of_botocore() {
        let get = (
            "GET",
            "https://route53.amazonaws.com/2013-04-01/hostedzone/Z1/rrset?maxitems=300&name=%2A.apps.demo.example.com.",
            "",
        );
        let post = ("POST", "http://127.0.0.1:5000/2013-04-01/hostedzone/Z1/rrset", "<x/>");
        for ((method, url, body), token, expected) in [
            (get, None, "5de1cd228dfda86f843b232bc9ae2a2d3b1b6ccff2b6273f5e419a38f0b4cd10"),
            (post, None, "2ecb3030e6a5d5759c0be69c63dcf8d099351c81d7d692deca82061359e9710b"),
            (get, Some("session"), "aff575c31b16501016b94a03f2ea81411bc89b620050790aa15cef0768cf294b"),
            (post, Some("session"), "01ed92d1558f1463a65c2dc1bdfc37b8166bdeaf684d9de1a3d1784b04751b3c"),
        ] {
            let credentials = Credentials {
                key_id: "AKIDEXAMPLE".to_owned(),
                secret_key: "very-secret".into(),
                session_token: token.map(Into::into),
            };
            let url: Url = url.parse().unwrap();
            let call = Call { method, url: &url, body, at: "2026-11-15T17:00:00Z".parse().unwrap() };
            let signed = sign(&call, &credentials);
            let authorization = signed.last().unwrap().1.expose_secret();
            assert!(authorization.ends_with(&format!("Signature={expected}")), "{method}: {authorization}");
        }
    }
}
