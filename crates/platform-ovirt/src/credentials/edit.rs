//! Changing the credentials in the text of a file that others write too.
//!
//! The file is edited as text, line by line, so that comments and keys of other tools stay exactly as they are. Whether that
//! worked is checked by reading the result: a file in a form that lines cannot be cut out of (a flow mapping, for example) is
//! refused rather than mangled.

use landfall_wire::Trust;
use secrecy::ExposeSecret;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Credentials;

/// The keys that are written here; whatever the file says about them is replaced.
const KEYS: [&str; 8] = [
    "ovirt_url",
    "ovirt_fqdn",
    "ovirt_pem_url",
    "ovirt_username",
    "ovirt_password",
    "ovirt_cafile",
    "ovirt_insecure",
    "ovirt_ca_bundle",
];

#[derive(Serialize)]
#[allow(clippy::struct_field_names, reason = "the names are the file's keys")]
struct Written<'a> {
    ovirt_url: &'a str,
    ovirt_fqdn: &'a str,
    ovirt_pem_url: &'a str,
    ovirt_username: &'a str,
    ovirt_password: &'a str,
    ovirt_insecure: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    ovirt_ca_bundle: Option<&'a str>,
}

/// The text with new credentials and everything else kept, or why that cannot be done.
pub(super) fn replace(text: &str, credentials: &Credentials) -> Result<String, &'static str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut kept = String::new();
    let mut ours = false;
    for line in text.split_inclusive('\n') {
        if let Some(key) = top_level_key(line) {
            ours = KEYS.contains(&key);
        } else if line.starts_with('#') || line.trim().is_empty() {
            // Comments and blank lines between keys belong to nobody; inside our block scalars they are indented or ours.
            ours = ours && line.trim().is_empty();
        }
        if !ours {
            kept.push_str(line);
        }
    }
    if !kept.is_empty() && !kept.ends_with('\n') {
        kept.push('\n');
    }
    let new = render(credentials).map_err(|_| "the credentials cannot be written as YAML")?;
    let result = format!("{kept}{new}");
    let mut intended = read(text).map_err(|()| "it is not a YAML mapping")?;
    intended.retain(|key, _| !KEYS.contains(&key.as_str()));
    intended.extend(read(&new).map_err(|()| CANNOT_EDIT)?);
    if read(&result) == Ok(intended) { Ok(result) } else { Err(CANNOT_EDIT) }
}

const CANNOT_EDIT: &str =
    "its layout does not allow changing the credentials and keeping the rest; write one key per line";

fn render(credentials: &Credentials) -> Result<String, serde_saphyr::ser::Error> {
    let Credentials { engine, user, password, trust } = credentials;
    serde_saphyr::to_string(&Written {
        ovirt_url: engine.api().as_str(),
        ovirt_fqdn: &engine.host(),
        ovirt_pem_url: engine.authority().as_str(),
        ovirt_username: user,
        ovirt_password: password.expose_secret(),
        ovirt_insecure: *trust == Trust::Unverified,
        ovirt_ca_bundle: match trust {
            Trust::Only(bundle) => Some(bundle),
            Trust::System | Trust::Unverified => None,
        },
    })
}

/// The key that a line begins, if it begins one at the left margin.
fn top_level_key(line: &str) -> Option<&str> {
    let (key, rest) = line.split_once(':')?;
    let plain = !key.is_empty() && !key.starts_with([' ', '\t', '#', '-', '{', '[']);
    (plain && (rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n'])))
        .then(|| key.trim_end().trim_matches(['"', '\'']))
}

/// The keys and values of a file. The order of keys does not count when two are compared.
fn read(text: &str) -> Result<Map<String, Value>, ()> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let contents: Option<Map<String, Value>> = serde_saphyr::from_str(text).map_err(|_| ())?;
    Ok(contents.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials() -> Credentials {
        Credentials {
            engine: "engine.example.com".parse().unwrap(),
            user: "admin@internal".to_owned(),
            password: "no: # \"quote\" 0123".into(),
            trust: Trust::Only("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_owned()),
        }
    }

    #[test]
    fn writes_what_the_reference_reads() {
        let contents = read(&replace("", &credentials()).unwrap()).unwrap();
        assert_eq!(contents["ovirt_url"], "https://engine.example.com/ovirt-engine/api");
        assert_eq!(contents["ovirt_fqdn"], "engine.example.com");
        assert_eq!(contents["ovirt_username"], "admin@internal");
        assert_eq!(contents["ovirt_password"], "no: # \"quote\" 0123");
        assert_eq!(contents["ovirt_insecure"], false);
        assert_eq!(contents["ovirt_ca_bundle"], "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        let pem_url = contents["ovirt_pem_url"].as_str().unwrap();
        assert!(pem_url.ends_with("/ovirt-engine/services/pki-resource?resource=ca-certificate&format=X509-PEM-CA"));
    }

    #[test]
    fn keeps_comments_and_keys_of_others_as_they_are() {
        let before = "# my engine\r\nother_tool: 0777 # octal\nnested:\n  ovirt_url: mine\n  list: [yes, no]\n\
            ovirt_url: https://old/ovirt-engine/api\novirt_ca_bundle: |-\n  -----BEGIN CERTIFICATE-----\n\n  old\n\
            # about the user\n\"ovirt_username\": old\nlast: 1";
        let after = replace(before, &credentials()).unwrap();
        let kept = "# my engine\r\nother_tool: 0777 # octal\nnested:\n  ovirt_url: mine\n  list: [yes, no]\n# about the user\nlast: 1\n";
        assert!(after.starts_with(kept), "{after}");
        assert!(!after.contains("old"), "{after}");
        assert_eq!(read(&after).unwrap()["ovirt_username"], "admin@internal");
    }

    #[test]
    fn replacing_again_changes_nothing() {
        let once = replace("a: 1\n", &credentials()).unwrap();
        assert_eq!(replace(&once, &credentials()).unwrap(), once);
    }

    #[test]
    fn a_stale_ca_file_does_not_survive() {
        let after = replace("ovirt_cafile: /old/ca.pem\nkeep: 1\n", &credentials()).unwrap();
        assert!(!read(&after).unwrap().contains_key("ovirt_cafile"));
    }

    #[test]
    fn refuses_what_it_would_mangle() {
        for text in ["{ovirt_url: old, other: 1}\n", "- a\n- b\n", "a: [unclosed\n", "a: 1\n---\nb: 2\n", "a: 1\n...\n"]
        {
            assert!(replace(text, &credentials()).is_err(), "{text}");
        }
    }
}
