//! The credentials as the file spells them.

use landfall_wire::Trust;
use secrecy::ExposeSecret;
use serde::Serialize;

use super::Credentials;

/// The keys that are written here; whatever the file says about them is replaced.
pub(super) const KEYS: [&str; 8] = [
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

/// The credentials as YAML.
pub(super) fn render(credentials: &Credentials) -> Result<String, serde_saphyr::ser::Error> {
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

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::*;

    #[test]
    fn writes_what_the_reference_reads() {
        let credentials = Credentials {
            engine: "engine.example.com".parse().unwrap(),
            user: "admin@internal".to_owned(),
            password: "no: # \"quote\" 0123".into(),
            trust: Trust::Only("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_owned()),
        };
        let contents: Map<String, Value> = serde_saphyr::from_str(&render(&credentials).unwrap()).unwrap();
        assert_eq!(contents["ovirt_url"], "https://engine.example.com/ovirt-engine/api");
        assert_eq!(contents["ovirt_fqdn"], "engine.example.com");
        assert_eq!(contents["ovirt_username"], "admin@internal");
        assert_eq!(contents["ovirt_password"], "no: # \"quote\" 0123");
        assert_eq!(contents["ovirt_insecure"], false);
        assert_eq!(contents["ovirt_ca_bundle"], "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        let pem_url = contents["ovirt_pem_url"].as_str().unwrap();
        assert!(pem_url.ends_with("/ovirt-engine/services/pki-resource?resource=ca-certificate&format=X509-PEM-CA"));
    }
}
