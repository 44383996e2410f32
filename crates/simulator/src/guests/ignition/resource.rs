//! Inline resources: data URLs, compression and digests.

use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use sha2::{Digest, Sha256, Sha512};

use super::IgnitionError;
use super::config::Resource;

/// What a data URL holds, decompressed and verified; `None` for a resource that must be fetched, or that is none.
pub(super) fn decode(resource: &Resource) -> Result<Option<Vec<u8>>, IgnitionError> {
    let Some(rest) = resource.source.as_deref().and_then(|source| source.strip_prefix("data:")) else {
        return Ok(None);
    };
    let broken = |reason: &str| IgnitionError::Source { url: "data:…".to_owned(), reason: reason.to_owned() };
    let (kind, data) = rest.split_once(',').ok_or_else(|| broken("there is no comma in the data URL"))?;
    let bytes = percent_decode(data).ok_or_else(|| broken("a percent sign is not followed by two digits"))?;
    let bytes = if kind.ends_with(";base64") {
        STANDARD.decode(bytes).map_err(|error| broken(&format!("it is not base64: {error}")))?
    } else {
        bytes
    };
    unpack(resource, bytes).map(Some)
}

/// Decompresses and verifies what was fetched or decoded.
pub(super) fn unpack(resource: &Resource, bytes: Vec<u8>) -> Result<Vec<u8>, IgnitionError> {
    let url = resource.source.clone().unwrap_or_default();
    let url = if url.starts_with("data:") { "data:…".to_owned() } else { url };
    let bytes = match resource.compression.as_deref() {
        None | Some("") => bytes,
        Some("gzip") => {
            let mut unpacked = Vec::new();
            let failed = |error| IgnitionError::Source { url: url.clone(), reason: format!("it is not gzip: {error}") };
            GzDecoder::new(bytes.as_slice()).read_to_end(&mut unpacked).map_err(failed)?;
            unpacked
        }
        Some(other) => {
            return Err(IgnitionError::Source { url, reason: format!("compression '{other}' is not known") });
        }
    };
    if let Some(expected) = &resource.verification.hash {
        let found = match expected.split_once('-') {
            Some(("sha256", _)) => format!("sha256-{:x}", Sha256::digest(&bytes)),
            Some(("sha512", _)) => format!("sha512-{:x}", Sha512::digest(&bytes)),
            _ => return Err(IgnitionError::Source { url, reason: format!("digest '{expected}' is not known") }),
        };
        if found != *expected {
            return Err(IgnitionError::Digest { url, expected: expected.clone() });
        }
    }
    Ok(bytes)
}

fn percent_decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Option<String>, String> {
        let resource: Resource = serde_json::from_str(json).unwrap();
        let bytes = decode(&resource).map_err(|error| error.to_string())?;
        Ok(bytes.map(|bytes| String::from_utf8(bytes).unwrap()))
    }

    #[test]
    fn all_forms_of_inline_data() {
        assert_eq!(read(r#"{"source": "data:,a%20b%0a"}"#), Ok(Some("a b\n".to_owned())));
        assert_eq!(read(r#"{"source": "data:;base64,aGk="}"#), Ok(Some("hi".to_owned())));
        assert_eq!(read(r#"{"source": "data:text/plain;charset=utf-8;base64,aGk="}"#), Ok(Some("hi".to_owned())));
        // printf hi | gzip -n | base64
        let packed = r#"{"source": "data:;base64,H4sIAAAAAAAAA8vIBACsKpPYAgAAAA==", "compression": "gzip"}"#;
        assert_eq!(read(packed), Ok(Some("hi".to_owned())));
        assert_eq!(read(r#"{"source": "https://example.com/"}"#), Ok(None));
        assert_eq!(read("{}"), Ok(None));
    }

    #[test]
    fn digests_are_checked() {
        // printf hi | sha256sum
        let digest = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4";
        let resource = |digest: &str| format!(r#"{{"source": "data:,hi", "verification": {{"hash": "{digest}"}}}}"#);
        assert!(read(&resource(&format!("sha256-{digest}"))).is_ok());
        assert!(read(&resource(&format!("sha256-{}", digest.replace('8', "7")))).unwrap_err().contains("digest"));
        assert!(read(&resource(&format!("md5-{digest}"))).unwrap_err().contains("not known"));
    }

    #[test]
    fn broken_data_is_refused() {
        for source in ["data:;base64,a", "data:hi", "data:,%4"] {
            assert!(read(&format!(r#"{{"source": "{source}"}}"#)).is_err(), "{source}");
        }
        assert!(read(r#"{"source": "data:,hi", "compression": "gzip"}"#).unwrap_err().contains("not gzip"));
        assert!(read(r#"{"source": "data:,hi", "compression": "xz"}"#).unwrap_err().contains("'xz'"));
    }
}
