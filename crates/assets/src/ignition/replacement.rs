//! A config that another one takes the place of, for what is too large or too secret for user data.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::hex;

/// A config that fetches the real one: user data is for everybody on the machine to read, and has a limit.
///
/// `authority` is the CA of the server, if it is not one that everybody trusts. What is fetched is pinned.
pub fn replacement_config(url: &Url, authority: Option<&str>, contents: &[u8]) -> String {
    let mut config = json!({
        "ignition": {
            "version": "3.3.0",
            "config": { "replace": {
                "source": url,
                "verification": { "hash": format!("sha256-{}", hex::encode(&Sha256::digest(contents))) },
            }},
        },
    });
    if let Some(authority) = authority {
        let source = format!("data:;base64,{}", BASE64_STANDARD.encode(authority));
        config["ignition"]["security"] = json!({ "tls": { "certificateAuthorities": [{ "source": source }] } });
    }
    Value::to_string(&config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_pins_what_it_points_to() {
        let config = replacement_config(&"https://h/x".parse().unwrap(), Some("PEM"), b"{}");
        assert!(config.contains("sha256-44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"), "{config}");
        assert!(config.contains("data:;base64,UEVN"), "{config}");
    }
}
