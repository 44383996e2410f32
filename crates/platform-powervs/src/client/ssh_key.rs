//! SSH keys, which an account has as a whole.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Client, Workspace, session::To};
use crate::Error;

/// An SSH key.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SshKey {
    /// Its name.
    pub name: String,
    /// The public key.
    #[serde(default)]
    pub ssh_key: String,
}

impl Client {
    /// The key with a name.
    pub async fn ssh_key(&self, workspace: &Workspace, name: &str) -> Result<Option<SshKey>, Error> {
        let path = self.keys(Some(name)).await?;
        self.get_existing(&format!("reading SSH key {name}"), To::Power(workspace), &path).await
    }

    /// Makes a key.
    pub async fn create_ssh_key(&self, workspace: &Workspace, name: &str, key: &str) -> Result<(), Error> {
        let (path, body) = (self.keys(None).await?, json!({"name": name, "sshKey": key}));
        let made: Result<Value, Error> =
            self.post(&format!("making SSH key {name}"), To::Power(workspace), &path, &body).await;
        made.map(drop)
    }

    /// Deletes a key.
    pub async fn delete_ssh_key(&self, workspace: &Workspace, name: &str) -> Result<(), Error> {
        let path = self.keys(Some(name)).await?;
        self.delete(&format!("deleting SSH key {name}"), To::Power(workspace), &path).await
    }

    async fn keys(&self, name: Option<&str>) -> Result<String, Error> {
        let account = self.account().await?;
        let below = name.map(|name| format!("/{name}")).unwrap_or_default();
        Ok(format!("pcloud/v1/tenants/{account}/sshkeys{below}"))
    }
}
