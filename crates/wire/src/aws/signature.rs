//! Signature version 4 of AWS. Pure.

use std::time::Duration;

use aws_lc_rs::{
    digest::{SHA256, digest},
    hmac,
};
use jiff::{Timestamp, tz::TimeZone};
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use super::credentials::Credentials;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const FORMAT: &str = "%Y%m%dT%H%M%SZ";

/// For which service, and where, a signature holds.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The region.
    pub region: &'a str,
    /// The service: `route53`, `s3`.
    pub service: &'a str,
}

/// What is signed.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The method.
    pub method: &'a str,
    /// With a query as [`query`] writes it.
    pub url: &'a Url,
    /// The body.
    pub body: &'a [u8],
    /// When it is sent.
    pub at: Timestamp,
    /// For what.
    pub scope: Scope<'a>,
}

/// The headers of a signed call.
pub fn sign(call: &Call<'_>, credentials: &Credentials) -> Vec<(&'static str, SecretString)> {
    let moment = call.at.to_zoned(TimeZone::UTC).strftime(FORMAT).to_string();
    let contents = hex(digest(&SHA256, call.body).as_ref());
    let mut headers = vec![("host", host(call.url))];
    if call.scope.service == OBJECT_STORE {
        headers.push(("x-amz-content-sha256", contents.clone()));
    }
    headers.push(("x-amz-date", moment));
    if let Some(token) = &credentials.session_token {
        headers.push(("x-amz-security-token", token.expose_secret().to_owned()));
    }
    let names = headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
    let signature = signature(call, &headers, &contents, credentials);
    let authorization = format!(
        "{ALGORITHM} Credential={}, SignedHeaders={names}, Signature={signature}",
        credential(call, credentials)
    );
    // The host is set by whoever sends.
    let rest = headers.into_iter().filter(|(name, _)| *name != "host").map(|(name, value)| (name, value.into()));
    rest.chain([("authorization", authorization.into())]).collect()
}

/// A link by which everybody may do a call, for a while. The URL must have no query.
pub fn presigned(call: &Call<'_>, lifetime: Duration, credentials: &Credentials) -> Url {
    let moment = call.at.to_zoned(TimeZone::UTC).strftime(FORMAT).to_string();
    let (credential, seconds) = (credential(call, credentials), lifetime.as_secs().to_string());
    let mut pairs = vec![
        ("X-Amz-Algorithm", ALGORITHM),
        ("X-Amz-Credential", credential.as_str()),
        ("X-Amz-Date", moment.as_str()),
        ("X-Amz-Expires", seconds.as_str()),
        ("X-Amz-SignedHeaders", "host"),
    ];
    if let Some(token) = &credentials.session_token {
        pairs.push(("X-Amz-Security-Token", token.expose_secret()));
    }
    let mut url = call.url.clone();
    url.set_query(Some(&query(&pairs)));
    let signed = Call { url: &url, ..*call };
    let signature = signature(&signed, &[("host", host(&url))], UNSIGNED, credentials);
    let link = format!("{}&X-Amz-Signature={signature}", url.query().unwrap_or_default());
    url.set_query(Some(&link));
    url
}

/// Whose calls name the digest of their body in a header.
const OBJECT_STORE: &str = "s3";
/// The digest of a body that is not known when a link is made.
const UNSIGNED: &str = "UNSIGNED-PAYLOAD";

fn host(url: &Url) -> String {
    match (url.host_str().unwrap_or_default(), url.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    }
}

fn day(call: &Call<'_>) -> String {
    call.at.to_zoned(TimeZone::UTC).strftime("%Y%m%d").to_string()
}

fn scope(call: &Call<'_>) -> String {
    format!("{}/{}/{}/aws4_request", day(call), call.scope.region, call.scope.service)
}

fn credential(call: &Call<'_>, credentials: &Credentials) -> String {
    format!("{}/{}", credentials.key_id, scope(call))
}

/// The signature over a call with these headers, in their order, and the digest of its body.
fn signature(call: &Call<'_>, headers: &[(&str, String)], contents: &str, credentials: &Credentials) -> String {
    let moment = call.at.to_zoned(TimeZone::UTC).strftime(FORMAT).to_string();
    let names = headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
    let lines = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect::<Vec<_>>().concat();
    let query = call.url.query().unwrap_or_default();
    let request = [call.method, call.url.path(), query, &lines, &names, contents].join("\n");
    let scope = scope(call);
    let to_sign = format!("{ALGORITHM}\n{moment}\n{scope}\n{}", hex(digest(&SHA256, request.as_bytes()).as_ref()));
    let mut key = format!("AWS4{}", credentials.secret_key.expose_secret()).into_bytes();
    for part in scope.split('/') {
        key = mac(&key, part);
    }
    hex(&mac(&key, &to_sign))
}

/// A query in the one form that is signed: sorted, and everything encoded that is not unreserved.
pub fn query(pairs: &[(&str, &str)]) -> String {
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
            let call = Call {
                method,
                url: &url,
                body: body.as_bytes(),
                at: "2026-11-15T17:00:00Z".parse().unwrap(),
                scope: Scope { region: "us-east-1", service: "route53" },
            };
            let signed = sign(&call, &credentials);
            let authorization = signed.last().unwrap().1.expose_secret();
            assert!(authorization.ends_with(&format!("Signature={expected}")), "{method}: {authorization}");
        }
    }

    /// Signatures and links that botocore 1.44.0 (`S3SigV4Auth`, `S3SigV4QueryAuth`) made for the same calls at the same time.
    #[test]
    fn object_stores_get_what_botocore_gives_them() {
        const OBJECT: &str = "https://s3.example.com/assets/landfall/demo/bootstrap.ign";
        let scope = Scope { region: "eu-central-1", service: "s3" };
        let at = "2026-11-15T17:00:00Z".parse().unwrap();
        for (token, put, delete, link) in [
            (
                None,
                "248119b8c526b308487e0e20b5c831f9f9d718e8bb40476959fff7a437de0b47",
                "d1ded5b24c5f9fa350e239792b8357845884708b88d946fd56d9bfa08cb2c641",
                "2b22ea0a95336fd7777e549c3cb3c42adaebc4bc8c55d0b0c3e7aef56fdfe55e",
            ),
            (
                Some("session"),
                "fec7b3814bc6188234db7d7f2bb07dfb490ef9019b7f90195f28f5c062049105",
                "984ef4371d6c0bc87b515e902bbc31209e4f18a28e86841e33ae63e3fd675f28",
                "05b81c668a0c32d463b6fb981c3ec5ff7a22f216d9c7d80ff8b78e0f9b913b87",
            ),
        ] {
            let credentials = Credentials {
                key_id: "AKIDEXAMPLE".to_owned(),
                secret_key: "very-secret".into(),
                session_token: token.map(Into::into),
            };
            let object: Url = OBJECT.parse().unwrap();
            let other: Url = "http://127.0.0.1:5000/assets/landfall/demo/boot.ipxe".parse().unwrap();
            for (call, expected) in [
                (Call { method: "PUT", url: &object, body: b"{}", at, scope }, put),
                (Call { method: "DELETE", url: &other, body: b"", at, scope }, delete),
            ] {
                let signed = sign(&call, &credentials);
                let authorization = signed.last().unwrap().1.expose_secret();
                assert!(authorization.ends_with(&format!("Signature={expected}")), "{}: {authorization}", call.method);
            }
            let call = Call { method: "GET", url: &object, body: b"", at, scope };
            let made = presigned(&call, Duration::from_hours(1), &credentials);
            assert!(made.as_str().ends_with(&format!("&X-Amz-Signature={link}")), "{made}");
            assert!(made.as_str().starts_with(&format!("{OBJECT}?X-Amz-Algorithm=AWS4-HMAC-SHA256&")), "{made}");
        }
    }
}
