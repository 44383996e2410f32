//! The API key, and where the API is: from the environment or from a file, never from the install-config.

use std::{
    path::{Path, PathBuf},
    str::FromStr as _,
};

use landfall_platform::Environment;
use landfall_wire::{EditError, Trust};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::Error;

/// Where the API is if nobody says otherwise.
pub(crate) const API: &str = "https://api.equinix.com/metal/v1";

/// The API key, and where the API is.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// The base of the API's paths.
    pub api: Url,
    /// The key.
    pub key: SecretString,
    /// Whose certificate the API must have.
    pub trust: Trust,
}

#[derive(Default, Deserialize)]
struct Document {
    api_url: Option<String>,
    api_key: Option<SecretString>,
    ca_bundle: Option<String>,
    #[serde(default)]
    insecure: bool,
}

/// The keys that are written into the file; whatever it says about them is replaced.
const KEYS: [&str; 4] = ["api_url", "api_key", "ca_bundle", "insecure"];

#[derive(Serialize)]
struct Written<'a> {
    api_url: &'a str,
    api_key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ca_bundle: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    insecure: bool,
}

impl Credentials {
    /// The file that holds them, unless the environment does.
    pub fn path(environment: &Environment) -> Result<PathBuf, Error> {
        let given = environment.get("PACKET_CONFIG").map(PathBuf::from);
        given.or_else(|| Some(environment.home()?.join(".packet/packet-config.yaml"))).ok_or(Error::NoHome)
    }

    /// The variable of the environment that holds the key, if one does. It goes before the file.
    pub fn variable(environment: &Environment) -> Option<&'static str> {
        ["METAL_AUTH_TOKEN", "PACKET_AUTH_TOKEN"].into_iter().find(|name| environment.get(name).is_some())
    }

    /// Reads them. The environment goes before the file.
    pub fn read(environment: &Environment) -> Result<Self, Error> {
        let variable = |name: &str| environment.get(name).and_then(|value| value.to_str()).map(str::to_owned);
        let key = Self::variable(environment).and_then(variable);
        let path = Self::path(environment);
        let document = match (&path, &key) {
            (Ok(path), _) => Self::document(path)?,
            (Err(_), Some(_)) => None,
            (Err(_), None) => return Err(Error::NoHome),
        };
        let path = path.unwrap_or_default();
        let document = document.unwrap_or_default();
        let key =
            key.map(SecretString::from).or(document.api_key).ok_or_else(|| Error::NoKey { path: path.clone() })?;
        let api = variable("METAL_API_URL").or(document.api_url).unwrap_or_else(|| API.to_owned());
        let api = Url::from_str(&api).map_err(|error| Error::Format { path, reason: format!("api_url: {error}") })?;
        let trust = match (document.insecure, document.ca_bundle) {
            (true, _) => Trust::Unverified,
            (false, Some(bundle)) => Trust::Only(bundle),
            (false, None) => Trust::System,
        };
        Ok(Self { api, key, trust })
    }

    /// Reads them, if there are any.
    pub fn read_if_there(environment: &Environment) -> Result<Option<Self>, Error> {
        match Self::read(environment) {
            Ok(credentials) => Ok(Some(credentials)),
            Err(Error::NoKey { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes them into a file: whole or not at all, readable by the owner only. Keys of others are kept as they are.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let unusable = |reason: &str| Error::Format { path: path.to_owned(), reason: reason.to_owned() };
        let new = serde_saphyr::to_string(&Written {
            api_url: self.api.as_str(),
            api_key: self.key.expose_secret(),
            ca_bundle: match &self.trust {
                Trust::Only(bundle) => Some(bundle),
                Trust::System | Trust::Unverified => None,
            },
            insecure: self.trust == Trust::Unverified,
        });
        let new = new.map_err(|_| unusable("the credentials cannot be written as YAML"))?;
        landfall_wire::replace_keys(path, &KEYS, &new).map_err(|error| match error {
            EditError::File(source) => Error::File { attempt: "writing", path: path.to_owned(), source },
            EditError::Format(reason) => unusable(reason),
        })
    }

    fn document(path: &PathBuf) -> Result<Option<Document>, Error> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(Error::File { attempt: "reading", path: path.clone(), source }),
        };
        // The reason must not quote the file.
        let reason = "it must be YAML with api_key, and if need be api_url, ca_bundle and insecure".to_owned();
        serde_saphyr::from_str(&text).map(Some).map_err(|_| Error::Format { path: path.clone(), reason })
    }
}
