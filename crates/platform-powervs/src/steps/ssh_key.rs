//! The SSH key that the platform puts into machines.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Step, StepError};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Mark, Site, client,
    own::{asked, was_asked_for},
};

/// An SSH key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SshKey {
    /// Its name.
    pub name: String,
    /// The public key.
    pub key: String,
}

pub(super) struct Act {
    pub(super) site: Site,
    pub(super) desired: SshKey,
}

#[async_trait]
impl Step for Act {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let workspace = self.site.workspace().await?;
        let SshKey { name, key } = &self.desired;
        match self.site.client.ssh_key(&workspace, name).await? {
            Some(known) if !self.is_own(&known, context.all_recorded().as_ref()) => {
                return Err(Error::Foreign { object: format!("SSH key {name}") }.into());
            }
            Some(_) => {}
            None => {
                context.note(asked()).await?;
                let marked = format!("{} {}", bare(key).join(" "), self.site.mark.tag());
                self.site.client.create_ssh_key(&workspace, name, &marked).await?;
            }
        }
        Ok(Outputs::default().with("name", name.as_str()))
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let Some(workspace) = self.site.workspace_of(context).await? else { return Ok(()) };
        let known = self.site.client.ssh_key(&workspace, &self.desired.name).await?;
        if known.is_some_and(|known| self.is_own(&known, outputs)) {
            self.site.client.delete_ssh_key(&workspace, &self.desired.name).await?;
        }
        Ok(())
    }
}

impl Act {
    /// Returns true if the key with the name is the cluster's: it has the mark or, should the platform have changed the comment, the journal
    /// says that it was made. Another one would open machines to another person.
    fn is_own(&self, known: &client::SshKey, outputs: Option<&Outputs>) -> bool {
        let was_made = was_asked_for(outputs) || outputs.is_some_and(|outputs| outputs.get::<String>("name").is_some());
        // Of a key that was found only the name is known.
        let is_same = self.desired.key.is_empty() || bare(&known.ssh_key) == bare(&self.desired.key);
        is_same && (was_made || is_marked(known, &self.site.mark))
    }
}

/// Returns true if a key carries the cluster's mark. Keys take no tags, so the mark is the key's comment.
pub(crate) fn is_marked(key: &client::SshKey, mark: &Mark) -> bool {
    key.ssh_key.split_whitespace().nth(2) == Some(mark.tag().as_str())
}

/// Returns a public key without its comment.
fn bare(key: &str) -> Vec<&str> {
    key.split_whitespace().take(2).collect()
}
