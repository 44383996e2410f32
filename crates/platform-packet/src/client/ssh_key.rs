//! SSH keys of projects.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Client;
use crate::Error;

/// An SSH key.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SshKey {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub label: String,
    /// The public key.
    pub key: String,
    /// Its tags.
    #[serde(default)]
    pub tags: Vec<String>,
}

impl Client {
    /// The keys of a project.
    pub async fn ssh_keys(&self, project: &str) -> Result<Vec<SshKey>, Error> {
        self.pages("listing SSH keys", &format!("projects/{project}/ssh-keys"), &[], "ssh_keys").await
    }

    /// Adds a key to a project. With the key of a project this succeeds and is answered with 404: whoever calls looks again.
    pub async fn create_ssh_key(&self, project: &str, label: &str, key: &str, tags: &[String]) -> Result<(), Error> {
        let body = json!({"label": label, "key": key, "tags": tags});
        let made: Result<Value, Error> =
            self.post("adding an SSH key", &format!("projects/{project}/ssh-keys"), &body).await;
        match made {
            Err(Error::Fault { fault, .. }) if fault.status == 404 => Ok(()),
            made => made.map(drop),
        }
    }

    /// Deletes a key.
    pub async fn delete_ssh_key(&self, key: &SshKey) -> Result<(), Error> {
        self.delete(&format!("deleting SSH key {}", key.label), &format!("ssh-keys/{}", key.id)).await
    }
}
