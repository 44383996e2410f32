//! API keys, as far as they can be asked about themselves.

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::Client;
use crate::Error;

/// What an API key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Whatever its owner may.
    Write,
    /// It may only look.
    ReadOnly,
    /// The API does not tell.
    Unknown,
}

#[derive(Deserialize)]
struct ApiKey {
    token: Option<SecretString>,
    #[serde(default)]
    read_only: bool,
}

impl Client {
    /// What the key of this client may do: a user's is among those of the user, a project's among those of the project.
    pub async fn rights(&self, project: Option<&str>) -> Result<Rights, Error> {
        let of_project = project.map(|id| format!("projects/{id}/api-keys"));
        for path in std::iter::once("user/api-keys".to_owned()).chain(of_project) {
            let keys: Vec<ApiKey> = match self.pages("asking what the API key may do", &path, &[], "api_keys").await {
                Ok(keys) => keys,
                // Whoever may not see keys is told so; that says nothing of what else the key may do.
                Err(Error::Fault { fault, .. }) if fault.is_json && matches!(fault.status, 403 | 404) => continue,
                Err(error) => return Err(error),
            };
            let own = |key: &&ApiKey| key.token.as_ref().is_some_and(|token| self.has_key(token.expose_secret()));
            if let Some(key) = keys.iter().find(own) {
                return Ok(if key.read_only { Rights::ReadOnly } else { Rights::Write });
            }
        }
        Ok(Rights::Unknown)
    }
}
