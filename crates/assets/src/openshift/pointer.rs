//! Pointer configs that the release rendered.

use serde_json::Value;
use url::Url;

use super::Error;

/// The spec version that Landfall writes and, later on, reads: it puts each machine's name into its pointer config.
const SPEC: &str = "3.3.0";

/// A pointer config that asks the config server under another host; `path` names it in errors.
///
/// The release writes spec 3.2, of which 3.3 is an extension.
pub(super) fn point_at(path: &str, pointer: &[u8], host: &str) -> Result<Vec<u8>, Error> {
    let unusable = |reason: &str| Error::Unusable { path: path.to_owned(), reason: reason.to_owned() };
    let mut config: Value = serde_json::from_slice(pointer).map_err(|error| unusable(&error.to_string()))?;
    let source =
        config.pointer_mut("/ignition/config/merge/0/source").ok_or_else(|| unusable("it merges no other config"))?;
    let mut url: Url =
        source.as_str().and_then(|url| url.parse().ok()).ok_or_else(|| unusable("what it merges has no URL"))?;
    url.set_host(Some(host)).map_err(|error| unusable(&error.to_string()))?;
    *source = url.as_str().into();
    config["ignition"]["version"] = SPEC.into();
    Ok(serde_json::to_vec(&config).expect("what was read as JSON can be written as JSON"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTER: &str = r#"{"ignition":{"config":{"merge":[{"source":"https://api-int.demo.example.com:22623/config/master"}]},"security":{"tls":{"certificateAuthorities":[{"source":"data:,CA"}]}},"version":"3.2.0"}}"#;

    #[test]
    fn changes_the_host_and_nothing_else() {
        for (host, expected) in
            [("192.0.2.5", "https://192.0.2.5:22623/"), ("[2001:db8::5]", "https://[2001:db8::5]:22623/")]
        {
            let pointer =
                String::from_utf8(point_at("master.ign", POINTER.as_bytes(), host).expect("a pointer")).expect("text");
            assert_eq!(
                pointer,
                POINTER.replace("https://api-int.demo.example.com:22623/", expected).replace("3.2.0", "3.3.0")
            );
        }
    }

    #[test]
    fn says_what_is_no_pointer() {
        let error = point_at("master.ign", br#"{"ignition":{"version":"3.2.0"}}"#, "192.0.2.5").expect_err("no merge");
        assert_eq!(error.to_string(), "cannot use master.ign: it merges no other config");
    }
}
