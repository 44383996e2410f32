//! The API key, and where the services are: from the environment or from a file, never from the install-config.

use std::path::{Path, PathBuf};

use landfall_config::powervs::ServiceEndpoints;
use landfall_platform::Environment;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::Error;
use crate::{Trust, aws};

/// The variables that hold an API key, in the order in which they are looked at.
const KEYS: [&str; 4] = ["IBMCLOUD_API_KEY", "IC_API_KEY", "BM_API_KEY", "BLUEMIX_API_KEY"];

/// The API key, and what else belongs to an account.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// The key.
    pub api_key: SecretString,
    /// Whose certificates services must have.
    pub trust: Trust,
    /// Where services are that are not where IBM has them. What an install-config says goes before.
    pub endpoints: ServiceEndpoints,
    /// The zone to look in if nothing else says which.
    pub zone: Option<String>,
    /// The resource group to propose.
    pub resource_group: Option<String>,
    /// Reads the private bucket of an image.
    pub hmac: Option<aws::Credentials>,
}

/// The file of the reference installer, and a few fields more.
#[derive(Default, Deserialize)]
struct Document {
    #[serde(default)]
    apikey: Option<SecretString>,
    #[serde(default)]
    zone: Option<String>,
    #[serde(default)]
    resourcegroup: Option<String>,
    #[serde(default)]
    ca_bundle: Option<String>,
    #[serde(default)]
    insecure: bool,
    #[serde(default, rename = "serviceEndpoints")]
    service_endpoints: ServiceEndpoints,
    #[serde(default)]
    hmac_access_key_id: Option<String>,
    #[serde(default)]
    hmac_secret_access_key: Option<SecretString>,
}

impl Credentials {
    /// With nothing but a key.
    pub fn with_key(api_key: SecretString, trust: Trust, endpoints: ServiceEndpoints) -> Self {
        Self { api_key, trust, endpoints, zone: None, resource_group: None, hmac: None }
    }

    /// The file that holds them, unless the environment does.
    pub fn path(environment: &Environment) -> Result<PathBuf, Error> {
        let given = environment.get("POWERVS_AUTH_FILEPATH").map(PathBuf::from);
        given.or_else(|| Some(environment.home()?.join(".powervs/config.json"))).ok_or(Error::NoHome)
    }

    /// The variable of the environment that holds the key, if one does.
    pub fn variable(environment: &Environment) -> Option<&'static str> {
        KEYS.into_iter().find(|name| environment.get(name).is_some_and(|value| value.to_str().is_some()))
    }

    /// Reads them. The environment goes before the file.
    pub fn read(environment: &Environment) -> Result<Self, Error> {
        let held = Self::variable(environment).and_then(|name| environment.get(name)?.to_str());
        Self::read_with(environment, held.map(SecretString::from))
    }

    /// Reads all but the key, which is this one.
    pub fn read_with_key(environment: &Environment, key: SecretString) -> Result<Self, Error> {
        Self::read_with(environment, Some(key))
    }

    fn read_with(environment: &Environment, key: Option<SecretString>) -> Result<Self, Error> {
        let variable = |name: &str| environment.get(name).and_then(|value| value.to_str()).map(str::to_owned);
        let path = Self::path(environment);
        let document = match (&path, &key) {
            (Ok(path), _) => document(path)?.unwrap_or_default(),
            (Err(_), Some(_)) => Document::default(),
            (Err(_), None) => return Err(Error::NoHome),
        };
        let no_key = || Error::NoKey { path: path.unwrap_or_default() };
        let api_key = key.or(document.apikey).ok_or_else(no_key)?;
        let trust = match (document.insecure, document.ca_bundle) {
            (true, _) => Trust::Unverified,
            (false, Some(bundle)) => Trust::Only(bundle),
            (false, None) => Trust::System,
        };
        let id = variable("IBMCLOUD_HMAC_ACCESS_KEY_ID").or(document.hmac_access_key_id);
        let secret = variable("IBMCLOUD_HMAC_SECRET_ACCESS_KEY").map(SecretString::from);
        let hmac = id.zip(secret.or(document.hmac_secret_access_key));
        Ok(Self {
            api_key,
            trust,
            endpoints: document.service_endpoints,
            zone: variable("IBMCLOUD_ZONE").or(document.zone),
            resource_group: variable("IBMCLOUD_RESOURCE_GROUP").or(document.resourcegroup),
            hmac: hmac.map(|(key_id, secret_key)| aws::Credentials { key_id, secret_key, session_token: None }),
        })
    }
}

/// Keeps a key in a file that only its owner can read. Whatever else the file says stays.
pub fn store_key(path: &Path, key: &SecretString) -> Result<(), Error> {
    let failed = |source| Error::File { path: path.to_owned(), source };
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.map_err(failed)?,
    };
    // What a user wrote is kept, and what is not understood is not replaced.
    let mut document: serde_json::Map<String, serde_json::Value> = match text.trim() {
        "" => serde_json::Map::new(),
        text => serde_json::from_str(text).map_err(|_| Error::Format { path: path.to_owned() })?,
    };
    document.insert("apikey".to_owned(), key.expose_secret().into());
    let document = serde_json::Value::Object(document);
    // Private even if what was there before is not.
    landfall_durable::write(path, format!("{document}\n"), landfall_durable::Access::Private).map_err(failed)
}

fn document(path: &Path) -> Result<Option<Document>, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::File { path: path.to_owned(), source }),
    };
    // The reason must not quote the file.
    serde_json::from_str(&text).map(Some).map_err(|_| Error::Format { path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Credentials, Error> {
        Credentials::read(&variables.iter().copied().collect())
    }

    #[test]
    fn the_environment_goes_before_the_file() {
        let dir = std::env::temp_dir().join(format!("landfall-ibm-cloud-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join("config.json");
        let text = r#"{"id": "me@example.com", "apikey": "from-file", "zone": "dal10", "resourcegroup": "lab"}"#;
        std::fs::write(&path, text).unwrap();
        let file = ("POWERVS_AUTH_FILEPATH", path.to_str().unwrap());
        assert_eq!(read(&[file]).unwrap().api_key.expose_secret(), "from-file");
        let both = read(&[file, ("IBMCLOUD_API_KEY", "from-environment")]).unwrap();
        assert_eq!((both.api_key.expose_secret(), both.zone.as_deref()), ("from-environment", Some("dal10")));
        std::fs::write(&path, "{\"apikey\": secret-thing").unwrap();
        assert!(!read(&[file]).unwrap_err().to_string().contains("secret-thing"));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_key_that_is_stored_is_for_nobody_else_and_the_rest_of_the_file_stays() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = std::env::temp_dir().join(format!("landfall-ibm-cloud-stored-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join("config.json");
        std::fs::write(&path, r#"{"zone": "dal10"}"#).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        store_key(&path, &"new".into()).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let stored = read(&[("POWERVS_AUTH_FILEPATH", path.to_str().unwrap())]).unwrap();
        assert_eq!((stored.api_key.expose_secret(), stored.zone.as_deref()), ("new", Some("dal10")));
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn what_is_missing_is_said() {
        assert!(matches!(read(&[]), Err(Error::NoHome)));
        let error = read(&[("HOME", "/nowhere")]).unwrap_err().to_string();
        assert!(error.contains("IBMCLOUD_API_KEY") && error.contains("/nowhere/.powervs/config.json"), "{error}");
    }

    #[test]
    fn a_file_that_is_not_understood_is_not_replaced() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.json");
        for text in ["apikey: mine", "[]"] {
            std::fs::write(&path, text).unwrap();
            let error = store_key(&path, &"new".into()).unwrap_err();
            assert!(matches!(error, Error::Format { .. }), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
